"""Turns under a name of the file's own: ``{"dialog": [{"role", "content"}], ...}``.

The last resort for rows that no format knows by its name, if one column alone holds turns. Turns
may say by name who speaks: ``{"dialogue": [{"speaker", "text"}]}``.
"""

from collections.abc import Sequence
from typing import Any

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of, joined
from apps.dialogue.file_formats.turns import PlacedTurn, read_placed_turns, read_turns, with_tools
from apps.dialogue.file_formats.turns.speaker_names import known_role, roles_of_names
from apps.dialogue.message import Message

_SPEAKERS = ("role", "from")
_NAMES = ("speaker", "author", "sender")
_TEXTS = ("content", "value", "text", "tool_calls")


def recognises(row: dict[str, Any]) -> bool:
    return bool(_columns(row))


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    columns = _columns(row)
    if not columns:
        fault = "no column holds a list of turns with role and content"
        raise ImportRefused(fault, code="missing_messages")
    if len(columns) > 1:
        fault = (
            f"more than one column holds turns: say which is the conversation, {joined(columns)}"
        )
        raise ImportRefused(fault, code="needs_column_mapping")
    (column,) = columns
    messages = _read(row[column], column, notes)
    notes.append(Note("converted", column, "the turns became the conversation"))
    return content_of(with_tools(row, notes), messages, notes, used=(column,))


def _read(turns: list[dict[str, Any]], column: str, notes: list[Note]) -> tuple[Message, ...]:
    named = [turn for turn in turns if _key_of(turn, _SPEAKERS) is None]
    if not named:
        return read_turns(turns, notes, place=column)
    keys = [_key_of(turn, (*_SPEAKERS, *_NAMES)) or "" for turn in turns]
    roles = roles_of_names(turn[key] for turn, key in zip(turns, keys, strict=True))
    guessed = [f"{name!r} became {role}" for name, role in roles.items() if not known_role(name)]
    if guessed:
        fault = f"speakers by name: {', '.join(guessed[:20])}"
        notes.append(Note("converted", column, fault, "speaker_names"))
    placed = []
    for index, (turn, key) in enumerate(zip(turns, keys, strict=True)):
        rest = {name: value for name, value in turn.items() if name != key}
        told = {} if known_role(turn[key]) else {"speaker": turn[key]}
        placed.append(PlacedTurn(f"{column}[{index}]", {**rest, **told, "role": roles[turn[key]]}))
    return read_placed_turns(placed, notes)


def _key_of(turn: dict[str, Any], keys: Sequence[str]) -> str | None:
    return next((key for key in keys if isinstance(turn.get(key), str)), None)


def _columns(row: dict[str, Any]) -> list[str]:
    return [name for name, value in row.items() if name != "tools" and _holds_turns(value)]


def _holds_turns(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(turn, dict)
            and _key_of(turn, (*_SPEAKERS, *_NAMES)) is not None
            and any(key in turn for key in _TEXTS)
            for turn in value
        )
    )


FORMAT = RowFormat("turns_column", "Turns in a column of any name", recognises, read)
