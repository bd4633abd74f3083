"""Rows of a plain dataset: every key an attribute, and a question somewhere among them.

LatticeFlow's dataset rows are of this shape; a conversation of more than a question stands under
``conversation_trace``, from where its ``load_trace`` takes it.
"""

from collections.abc import Mapping
from typing import Any

from apps.dialogue.blocks import TextBlock
from apps.dialogue.blocks.json_values import json_copy
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import (
    Loss,
    Note,
    RowFormat,
    TaskContent,
    check_written,
    content_of,
    joined,
    row_of,
)
from apps.dialogue.file_formats.turns import (
    TRACE_COLUMN,
    read_trace_column,
    trace_items,
    write_trace,
)
from apps.dialogue.message import parse_message

QUESTION_COLUMNS = ("question", "prompt", "input")

_MARK = "conversation_of"
"""Tells a trace that is a task's conversation from one that is a column of the task."""


def recognises(row: dict[str, Any]) -> bool:
    return True


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    """Read the trace of a row, or else its question; the column stays an attribute as well.

    Only a trace that ``write`` made of a conversation is no attribute.
    """
    recorded = read_trace_column(row, notes)
    if recorded is not None:
        return content_of(row, recorded, notes, used=_written_column(row))
    column = _question_column(row)
    if column is None:
        raise ImportRefused(
            "the row has no conversation: it needs 'conversation' (messages with role and blocks), "
            "'messages' (messages with role and content), 'question_id' with 'turns', a trace "
            f"under '{TRACE_COLUMN}', or a text under {joined(QUESTION_COLUMNS)}",
            code="needs_column_mapping",
        )
    wire = {"role": "user", "blocks": [{"type": "text", "text": row[column]}]}
    message = parse_message(wire, column)
    notes.append(Note("converted", column, "the text became a user message"))
    return content_of(row, [message], notes)


def write(task: TaskContent, losses: list[Loss]) -> list[dict[str, Any]]:
    """Write the attributes, and the conversation beside them if it is not there already.

    A column ``question`` that is written here comes back as an attribute too, for templates that
    ask for it: the task gains that and loses nothing, so it is no loss. Written again it is the
    same row.
    """
    own: dict[str, Any] = {}
    question = _only_question(task)
    if not _is_there(task, question):
        if question is None or not _can_be_asked(task.attributes):
            metadata = {"extra": {_MARK: task.key}}
            own[TRACE_COLUMN] = write_trace(task.messages, losses, metadata)
        else:
            own["question"] = question
    if task.tools:
        own["tools"] = json_copy(task.tools)
    row = row_of(task, own, losses)
    check_written(task, row, read, losses)
    return [row]


def _question_column(row: Mapping[str, Any]) -> str | None:
    # Where there is an instruction (Alpaca), the input is only a part of what was asked.
    columns = QUESTION_COLUMNS[:2] if "instruction" in row else QUESTION_COLUMNS
    for column in columns:
        if isinstance(row.get(column), str) and row[column].strip():
            return column
    return None


def _written_column(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the trace's column if it was made by ``write`` and was no attribute before."""
    trace = row.get(TRACE_COLUMN)
    metadata = trace.get("metadata") if isinstance(trace, dict) else None
    extra = metadata.get("extra") if isinstance(metadata, dict) else None
    return (TRACE_COLUMN,) if isinstance(extra, dict) and _MARK in extra else ()


def _only_question(task: TaskContent) -> str | None:
    """Return the text of a conversation that is one question; None if it is more than that."""
    match task.messages:
        case (message,) if message.role == "user" and message.detail is None:
            match message.blocks:
                case (TextBlock(detail=None) as only,) if only.text.strip():
                    return only.text
    return None


def _is_there(task: TaskContent, question: str | None) -> bool:
    """Whether the attributes, read as a row, give the conversation."""
    items = trace_items(task.attributes.get(TRACE_COLUMN))
    if items is None:
        column = _question_column(task.attributes)
        return column is not None and task.attributes[column] == question
    told: list[Loss] = []
    check_written(task, dict(task.attributes), read, told)
    return not told


def _can_be_asked(attributes: Mapping[str, Any]) -> bool:
    """Whether a column ``question`` would be free, and be what is read."""
    return "question" not in attributes and trace_items(attributes.get(TRACE_COLUMN)) is None


FORMAT = RowFormat("attribute_rows", "Dataset rows (LatticeFlow)", recognises, read, write)
