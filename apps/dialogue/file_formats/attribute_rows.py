"""Rows of a plain dataset: every key an attribute, and a question somewhere among them."""

from typing import Any

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of, joined
from apps.dialogue.message import parse_message

QUESTION_COLUMNS = ("question", "prompt", "input")


def recognises(row: dict[str, Any]) -> bool:
    return True


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    column = _question_column(row)
    wire = {"role": "user", "blocks": [{"type": "text", "text": row[column]}]}
    message = parse_message(wire, column)
    notes.append(Note("converted", column, "the text became a user message"))
    return content_of(row, [message], notes)


def _question_column(row: dict[str, Any]) -> str:
    # Where there is an instruction (Alpaca), the input is only a part of what was asked.
    columns = QUESTION_COLUMNS[:2] if "instruction" in row else QUESTION_COLUMNS
    for column in columns:
        if isinstance(row.get(column), str) and row[column].strip():
            return column
    raise ImportRefused(
        "the row has no conversation: it needs 'conversation' (messages with role and blocks), "
        "'messages' (messages with role and content), 'question_id' with 'turns', or a text "
        f"under {joined(QUESTION_COLUMNS)}"
    )


FORMAT = RowFormat("attribute_rows", "Dataset rows", recognises, read)
