"""What the file formats share; a format imports this and no other format."""

from apps.dialogue.candidates import Candidate
from apps.dialogue.file_containers import Note, NoteKind, Row
from apps.dialogue.file_formats.base.chat_turns import read_turns
from apps.dialogue.file_formats.base.message_trees import MessageTree, make_tree
from apps.dialogue.file_formats.base.placed_turns import (
    PlacedTurn,
    call_part,
    decoded,
    read_placed_turns,
    reasoning_part,
    result_turn,
    text_part,
)
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
    "MessageTree",
    "Note",
    "NoteKind",
    "PlacedTurn",
    "ReadRow",
    "Row",
    "RowFormat",
    "TaskContent",
    "call_part",
    "content_of",
    "decoded",
    "joined",
    "make_tree",
    "read_placed_turns",
    "read_rows",
    "read_turns",
    "reasoning_part",
    "result_turn",
    "role_letters",
    "text_part",
]
