"""What the file formats share; a format imports this and no other format."""

from apps.dialogue.file_formats.base.json_rows import json_rows
from apps.dialogue.file_formats.base.json_text import JsonRow
from apps.dialogue.file_formats.base.rows import (
    Note,
    NoteKind,
    ReadRow,
    RowFormat,
    TaskContent,
    content_of,
    joined,
)

__all__ = [
    "JsonRow",
    "Note",
    "NoteKind",
    "ReadRow",
    "RowFormat",
    "TaskContent",
    "content_of",
    "joined",
    "json_rows",
]
