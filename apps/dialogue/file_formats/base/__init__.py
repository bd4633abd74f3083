"""What every file format shares, and the dispatcher that gives each row to one of them."""

from apps.dialogue.candidates import Candidate
from apps.dialogue.file_containers import Note, NoteKind, Row
from apps.dialogue.file_formats.base.reading import read_rows
from apps.dialogue.file_formats.base.row_writing import check_written, row_of
from apps.dialogue.file_formats.base.rows import (
    Loss,
    ReadRow,
    RowFormat,
    TaskContent,
    content_of,
    joined,
    role_letters,
    with_key,
)

__all__ = [
    "Candidate",
    "Loss",
    "Note",
    "NoteKind",
    "ReadRow",
    "Row",
    "RowFormat",
    "TaskContent",
    "check_written",
    "content_of",
    "joined",
    "read_rows",
    "role_letters",
    "row_of",
    "with_key",
]
