"""The forms of an import: a file or a pasted text, where its rows go, how they are read."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from django import forms

from apps.accounts.errors import Invalid
from apps.dialogue.errors import DialogueError
from apps.dialogue.file_formats import AUTO, FORMATS
from apps.dialogue.solver.documents import read_document

LARGEST_FILE = 4 * 2**30
PASTED = "pasted text"

ROLES: Final = ("system", "user", "assistant", "tool")
COLUMN_USES: Final = {
    "attribute": "Attribute",
    "key": "Key of the task",
    "system": "System message",
    "user": "User message",
    "assistant": "Assistant message",
    "conversation": "List of turns",
    "chosen": "Chosen answer",
    "rejected": "Rejected answer",
    "tools": "Tools",
    "tags": "Tags",
    "nothing": "Leave out",
}
"""What a column can be used as, in a mapping that is chosen column by column."""

_format_choices = [(AUTO, "Recognise each row")] + [
    (name, each.title) for name, each in FORMATS.items()
]


def _split_field() -> forms.CharField:
    return forms.CharField(
        max_length=64,
        initial="train",
        help_text="A new name makes a new split.",
        widget=forms.TextInput(attrs={"list": "splits", "autocomplete": "off"}),
    )


class ReadingForm(forms.Form):
    """Where the rows go and how they are read; also to read a held file again."""

    split = _split_field()
    format = forms.ChoiceField(choices=_format_choices)
    update = forms.BooleanField(
        required=False,
        label="Save rows whose key is there with other content as new revisions",
    )


class ImportForm(ReadingForm):
    file = forms.FileField(required=False, label="File")
    text = forms.CharField(required=False, strip=False, label="Or paste it here")
    field_order = ("file", "text", "split", "format", "update")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        file, text = cleaned.get("file"), cleaned.get("text", "")
        if file and text.strip():
            self.add_error("text", "There is a file too: send one of the two.")
        elif not file and not text.strip() and "file" not in self.errors:
            self.add_error("file", "Choose a file, or paste something.")
        elif file and file.size > LARGEST_FILE:
            self.add_error("file", f"This file has more than {LARGEST_FILE >> 30} GB.")
        return cleaned

    def pieces(self) -> Iterable[bytes]:
        file = self.cleaned_data["file"]
        return file.chunks() if file else [self.cleaned_data["text"].encode()]

    def source(self) -> str:
        file = self.cleaned_data["file"]
        return str(file.name) if file else PASTED


def read_roles(sent: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """The corrections of roles with the one that was ``sent`` added.

    ``turn`` is ``#row:index`` and ``speaker`` a name; one of the two has the ``role``.
    """
    role = str(sent.get("role", ""))
    if role not in ROLES:
        raise Invalid(f"{role[:60]!a} is not one of {', '.join(ROLES)}.", place="role")
    changed = {kind: dict(known.get(kind, {})) for kind in ("speakers", "turns")}
    if speaker := str(sent.get("speaker", "")):
        changed["speakers"][speaker] = role
    elif turn := str(sent.get("turn", "")):
        changed["turns"][turn] = role
    else:
        raise Invalid("Which turn, or whose turns, is not said.", place="turn")
    return changed


def read_mapping(sent: Mapping[str, Any], columns: Iterable[str]) -> dict[str, Any] | None:
    """The mapping that was sent: as YAML text, or column by column; None takes it away."""
    if sent.get("how") == "none":
        return None
    if sent.get("how") == "yaml":
        return _read_yaml(str(sent.get("yaml", "")))
    return mapping_of({name: str(sent.get(f"use-{i}", "")) for i, name in enumerate(columns)})


def _read_yaml(text: str) -> dict[str, Any]:
    try:
        value = read_document(text)
    except DialogueError as error:
        fault = " ".join(str(error).split())
        raise Invalid(f"This is not YAML: {fault[:300]}", place="yaml") from None
    if not isinstance(value, dict):
        raise Invalid("A mapping is an object with the key conversation.", place="yaml")
    return value


def mapping_of(uses: Mapping[str, str]) -> dict[str, Any]:
    """A column mapping from what each column is used as (`COLUMN_USES`)."""
    used: dict[str, list[str]] = {}
    for column, use in uses.items():
        if use not in COLUMN_USES:
            raise Invalid(f"{use[:60]!a} is not a use of a column.", place="mapping")
        used.setdefault(use, []).append(expression_for(column))
    mapping: dict[str, Any] = {name: used[name][0] for name in ("key", "tools") if name in used}
    for name in ("key", "tools", "conversation"):
        if len(used.get(name, ())) > 1:
            raise Invalid(f"Two columns are used as {COLUMN_USES[name].lower()}.", place="mapping")
    mapping |= {name: used[name] for name in ("chosen", "rejected", "tags") if name in used}
    turns = [
        {"role": role, "content": each, "when": each}
        for role in ("system", "user", "assistant")
        for each in used.get(role, ())
    ]
    if "conversation" in used and turns:
        raise Invalid(
            "A list of turns is the whole conversation: no other column can be a message.",
            place="mapping",
        )
    if "conversation" in used:
        mapping["conversation"] = used["conversation"][0]
    elif turns:
        mapping["conversation"] = turns
    if "nothing" in used:
        mapping["attributes"] = [column for column, use in uses.items() if use == "attribute"]
    return mapping


def expression_for(column: str) -> str:
    """The expression that gives a column's value, whatever its name."""
    is_plain = column.isidentifier() and column.isascii() and column not in _NOT_NAMES
    return column if is_plain else f"row[{json.dumps(column, ensure_ascii=False)}]"


_NOT_NAMES = frozenset(
    "row turn index and or not in is if else true false none True False None loop".split()  # noqa: SIM905
)
