"""Bytes of a file become rows: JSON in its many ways, and what else holds rows."""

from apps.dialogue.file_containers.cleaning import cleaned
from apps.dialogue.file_containers.file_rows import file_rows
from apps.dialogue.file_containers.rows import Note, NoteKind, Row, Source

__all__ = ["Note", "NoteKind", "Row", "Source", "cleaned", "file_rows"]
