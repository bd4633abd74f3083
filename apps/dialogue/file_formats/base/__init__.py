"""What the file formats share; a format imports this and no other format."""

from apps.dialogue.candidates import Candidate
from apps.dialogue.file_containers import Note, NoteKind, Row
from apps.dialogue.file_formats.base.chat_turns import read_turns
from apps.dialogue.file_formats.base.reading import read_rows
from apps.dialogue.file_formats.base.rows import (
    Loss,
    ReadRow,
    RowFormat,
    TaskContent,
    content_of,
    joined,
    role_letters,
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
    "content_of",
    "joined",
    "read_rows",
    "read_turns",
    "role_letters",
]
