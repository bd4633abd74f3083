"""OpenReward's own tasks: ``{"id", "conversation": [{"role", "blocks"}], ...attributes}``.

``tools``, ``tags`` and ``candidates`` stand beside the attributes; nothing of a task is lost.
"""

from dataclasses import replace
from typing import Any

from apps.dialogue.blocks.json_values import json_copy
from apps.dialogue.candidates import parse_candidates
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import (
    Loss,
    Note,
    RowFormat,
    TaskContent,
    content_of,
    row_of,
)
from apps.dialogue.message import conversation_to_wire, parse_conversation

_COLUMNS = ("conversation", "messages")


def recognises(row: dict[str, Any]) -> bool:
    return _column(row) is not None


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    column = _column(row)
    if column is None:
        fault = "there is no list 'conversation' of messages with blocks"
        raise ImportRefused(fault, code="missing_messages")
    messages = parse_conversation(row[column], column)
    if column != "conversation":
        notes.append(Note("converted", column, "the messages became the conversation"))
    if not messages:
        reason = "the task has no message yet: it stays a draft"
        notes.append(Note("kept", column, reason, "empty_conversation"))
    if not _holds_candidates(row):
        return content_of(row, messages, notes, used=(column,), may_be_empty=True)
    candidates = parse_candidates(row["candidates"])
    notes.append(Note("kept", "candidates", f"kept with the task ({len(candidates)})"))
    used = (column, "candidates")
    content = content_of(row, messages, notes, used=used, may_be_empty=True)
    return replace(content, candidates=candidates)


def write(task: TaskContent, losses: list[Loss]) -> list[dict[str, Any]]:
    """Write everything; only an attribute with a name of the format's own would be lost."""
    own: dict[str, Any] = {"conversation": conversation_to_wire(task.messages)}
    if task.tools:
        own["tools"] = json_copy(task.tools)
    if task.candidates:
        own["candidates"] = [each.to_wire() for each in task.candidates]
    reserved = ("candidates",) if _holds_candidates(task.attributes) else ()
    return [row_of(task, own, losses, reserved=reserved, candidates=True)]


def _column(row: dict[str, Any]) -> str | None:
    """Return the key that holds messages with blocks."""
    for column in _COLUMNS:
        messages = row.get(column)
        if isinstance(messages, list) and any(
            isinstance(each, dict) and "blocks" in each for each in messages
        ):
            return column
    # A draft that nobody has written in yet, as exports have it.
    return (
        "conversation" if isinstance(row.get("id"), str) and row.get("conversation") == [] else None
    )


def _holds_candidates(row: dict[str, Any]) -> bool:
    given = row.get("candidates")
    return (
        isinstance(given, list)
        and bool(given)
        and all(isinstance(each, dict) and "messages" in each for each in given)
    )


FORMAT = RowFormat("openreward", "Turnwright and OpenReward tasks", recognises, read, write)
