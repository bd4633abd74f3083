"""Conversations as lists of texts in turn: ``{"id", "data": [asked, answered, asked, ...]}``.

UltraChat has them so; the user begins. Elsewhere the list is called dialog or utterances.
"""

from typing import Any, Final

from apps.dialogue.blocks import Role
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import text_turn, with_tools

_COLUMNS: Final = ("dialog", "dialogue", "conversation", "conversations", "utterances")
_RAW: Final = "data"
"""UltraChat's own name; it says too little to stand for turns where more is beside it."""

_BESIDE: Final = frozenset({"id", "key", "topic", "source", "category", "split", "tags"})
_ROLES: Final[tuple[Role, Role]] = ("user", "assistant")


def recognises(row: dict[str, Any]) -> bool:
    return _column(row) is not None


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    column = _column(row)
    if column is None:
        raise ImportRefused("there is no list of texts in turn", place=_RAW)
    messages = []
    for index, text in enumerate(row[column]):
        place = f"{column}[{index}]"
        messages.append(text_turn(_ROLES[index % 2], text, notes, place))
        if not text.strip():
            notes.append(Note("kept", place, "the turn is empty", "empty_turn"))
    reason = (
        f"texts became turns of the user and the assistant, one after the other ({len(messages)})"
    )
    notes.append(Note("converted", column, reason, "alternating_turns"))
    return content_of(with_tools(row, notes), messages, notes, used=(column,))


def _column(row: dict[str, Any]) -> str | None:
    found = next((name for name in _COLUMNS if _are_texts(row.get(name))), None)
    if found is None and _are_texts(row.get(_RAW)) and set(row) - {_RAW} <= _BESIDE:
        return _RAW
    return found


def _are_texts(value: object) -> bool:
    return (
        isinstance(value, list) and len(value) > 1 and all(isinstance(each, str) for each in value)
    )


FORMAT = RowFormat("ultrachat", "Texts in turn (UltraChat)", recognises, read)
