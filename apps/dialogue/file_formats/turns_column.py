"""Turns under a name of the file's own: ``{"dialog": [{"role", "content"}], ...}``.

The last resort for rows that no format knows by its name, if one column alone holds turns.
"""

from typing import Any

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import (
    Note,
    RowFormat,
    TaskContent,
    content_of,
    joined,
    read_turns,
    with_tools,
)

_SPEAKERS = ("role", "from")
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
    messages = read_turns(row[column], notes, place=column)
    notes.append(Note("converted", column, "the turns became the conversation"))
    return content_of(with_tools(row, notes), messages, notes, used=(column,))


def _columns(row: dict[str, Any]) -> list[str]:
    return [name for name, value in row.items() if name != "tools" and _holds_turns(value)]


def _holds_turns(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(turn, dict)
            and any(isinstance(turn.get(key), str) for key in _SPEAKERS)
            and any(key in turn for key in _TEXTS)
            for turn in value
        )
    )


FORMAT = RowFormat("turns_column", "Turns in a column of any name", recognises, read)
