"""An import as its page shows it: the conversation of a row, who speaks, columns to be mapped."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import yaml

from apps.dialogue.column_mapping import parse_mapping, suggest
from apps.dialogue.errors import DialogueError
from apps.dialogue.message import Message
from apps.studio.forms.importing import COLUMN_USES, expression_for
from apps.studio.reading import ShownMessage, show_conversation

LONGEST_VALUE = 120
VALUES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class ProposedTurn:
    """A turn whose role can be corrected: ``turn`` is ``#row:index``, ``role`` what it is now."""

    shown: ShownMessage
    turn: str
    role: str
    speaker: str


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the file, its first values and what a mapping uses it as."""

    name: str
    values: list[str]
    use: str


def proposed_turns(row: int, messages: Sequence[Message]) -> list[ProposedTurn]:
    """The turns of the row of that number; a speaker stands beside the turn, not in its detail."""
    shown = show_conversation(messages, prefix="proposed")
    return [
        _turn(message, each, f"#{row}:{index}")
        for index, (message, each) in enumerate(zip(messages, shown, strict=True))
    ]


def _turn(message: Message, shown: ShownMessage, turn: str) -> ProposedTurn:
    speaker = _speaker(message)
    if speaker and message.detail == {"speaker": speaker}:
        shown = replace(shown, detail="")
    return ProposedTurn(shown, turn, _role(message), speaker)


def _role(message: Message) -> str:
    is_tool = message.role == "user" and any(b.type == "tool_result" for b in message.blocks)
    return "tool" if is_tool else message.role


def _speaker(message: Message) -> str:
    name = (message.detail or {}).get("speaker")
    return name if isinstance(name, str) else ""


def columns_of(
    rows: Sequence[Mapping[str, Any]], mapping: Mapping[str, Any] | None
) -> list[Column]:
    """Every column of the first rows, in their order, with what ``mapping`` uses it as."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    uses = _uses(mapping or {})
    return [
        Column(name, _values(rows, name), uses.get(expression_for(name), "attribute"))
        for name in names
    ]


def _values(rows: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    values = [_short(row[name]) for row in rows if row.get(name) not in (None, "")]
    return list(dict.fromkeys(values))[:VALUES_SHOWN]


def _short(value: object) -> str:
    text = (
        value
        if isinstance(value, str)
        else yaml.safe_dump(
            value, default_flow_style=True, allow_unicode=True, width=10**6, sort_keys=False
        )
        .removesuffix("\n...\n")
        .strip()
    )
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def _uses(mapping: Mapping[str, Any]) -> dict[str, str]:
    """The use of each expression in a mapping that was chosen column by column."""
    uses: dict[str, str] = {}
    for use in ("key", "tools", "conversation", "chosen", "rejected", "tags"):
        found = mapping.get(use)
        for source in found if isinstance(found, list) else [found]:
            if isinstance(source, str):
                uses[source] = use
            elif isinstance(source, dict) and source.get("role") in COLUMN_USES:
                uses[str(source.get("content"))] = source["role"]
    return uses


def suggested_mapping(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """A mapping to begin with; None where no column looks like something that was said."""
    try:
        return suggest(rows).to_data() if rows else None
    except DialogueError:
        return None


def mapping_text(mapping: Mapping[str, Any] | None) -> str:
    """A mapping as YAML to be edited; as it is if it does not hold."""
    if not mapping:
        return ""
    with suppress(DialogueError):  # shown as it was sent: the page says what is wrong with it
        mapping = parse_mapping(dict(mapping)).to_data()
    return yaml.safe_dump(dict(mapping), allow_unicode=True, sort_keys=False, width=88)
