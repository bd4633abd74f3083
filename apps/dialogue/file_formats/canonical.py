"""OpenReward's own tasks: ``{"id", "conversation": [{"role", "blocks"}], ...attributes}``."""

from typing import Any

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.message import parse_conversation

_COLUMNS = ("conversation", "messages")


def recognises(row: dict[str, Any]) -> bool:
    return _column(row) is not None


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    column = _column(row)
    if column is None:
        raise ImportRefused("there is no list 'conversation' of messages with blocks")
    messages = parse_conversation(row[column], column)
    if column != "conversation":
        notes.append(Note("converted", column, "the messages became the conversation"))
    return content_of(row, messages, notes, used=(column,))


def _column(row: dict[str, Any]) -> str | None:
    """Return the key that holds messages with blocks."""
    for column in _COLUMNS:
        messages = row.get(column)
        if isinstance(messages, list) and any(
            isinstance(each, dict) and "blocks" in each for each in messages
        ):
            return column
    return None


FORMAT = RowFormat("canonical", "Turnwright and OpenReward tasks", recognises, read)
