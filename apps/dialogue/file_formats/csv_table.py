"""Rows of a table that are of no other format: columns are attributes, one is the question.

A row of a table that holds a conversation in a cell (``messages`` as JSON) is read by the format of
that conversation; it is called a row of a table all the same.
"""

from typing import Any

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.base.reading import TABLE
from apps.dialogue.file_formats.turns.text_turns import question_column, text_turn
from apps.dialogue.file_formats.turns.trace_columns import read_trace_column

_MOST_NAMED = 30


def recognises(row: dict[str, Any]) -> bool:
    """No keys alone make a table: the container tells it."""
    return False


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    recorded = read_trace_column(row, notes)
    if recorded is not None:
        return content_of(row, recorded, notes)
    column = question_column(row)
    if column is None:
        named = ", ".join([repr(name) for name in row][:_MOST_NAMED])
        more = f" and {len(row) - _MOST_NAMED} more" if len(row) > _MOST_NAMED else ""
        raise ImportRefused(
            f"no column is known to hold a conversation; map the columns, which are {named}{more}",
            code="needs_column_mapping",
        )
    message = text_turn("user", row[column], notes, column)
    notes.append(Note("converted", column, "the text became a user message"))
    return content_of(row, [message], notes)


FORMAT = RowFormat(TABLE, "CSV and other tables", recognises, read)
