"""Turns of ``{"role", "text"}``, as tutorials of OpenReward have them."""

from typing import Any

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import read_turns

_COLUMNS = ("conversation", "messages", "turns")


def recognises(row: dict[str, Any]) -> bool:
    return _column(row) is not None


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    column = _column(row)
    if column is None:
        fault = "there is no list 'conversation' of turns with role and text"
        raise ImportRefused(fault, code="missing_messages")
    messages = read_turns(row[column], notes, place=column)
    return content_of(row, messages, notes, used=(column,))


def _column(row: dict[str, Any]) -> str | None:
    """Return the key that holds turns which have a text and no content."""
    for column in _COLUMNS:
        turns = row.get(column)
        if (
            isinstance(turns, list)
            and turns
            and all(isinstance(each, dict) and "content" not in each for each in turns)
            and any("role" in each and "text" in each for each in turns)
        ):
            return column
    return None


FORMAT = RowFormat("role_text", "Turns of role and text", recognises, read)
