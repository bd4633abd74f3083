"""Keys and conversations that a file has twice; remembered on disk, so that memory stays flat."""

import re
import sqlite3
from collections.abc import Sequence

from apps.dialogue.blocks import Block, ImageBlock, ReasoningBlock, TextBlock, ToolCallBlock
from apps.dialogue.blocks.json_values import json_copy
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.base.rows import TaskContent
from apps.dialogue.message import Message

_WHOLE = re.compile(r"^(-?\d+)\.0$")


class SeenRows:
    """What the rows of a file had so far, as hashes of 64 bits that say nothing of the content."""

    def __init__(self) -> None:
        # The empty name is a temporary file of SQLite's own, which goes with the connection.
        self._database = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute(
            "CREATE TABLE seen (hash INTEGER PRIMARY KEY, line INTEGER, file TEXT) WITHOUT ROWID"
        )
        self._database.execute("BEGIN")

    def close(self) -> None:
        self._database.close()

    def notes_for(self, task: TaskContent, line: int, file: str) -> list[Note]:
        """Return what an earlier row has in common with this one, and remember this one."""
        notes: list[Note] = []
        if task.key is not None:
            # 7, "7" and 7.0 are one key to many programs.
            key = task.key.removesuffix(".0") if _WHOLE.match(task.key) else task.key
            before = self._before(hash(("key", key)), line, file)
            if before:
                said = f"the key {task.key!r} is also that of {before}"
                notes.append(Note("kept", "key", said, "id_collision"))
        said_before = self._before(hash(("said", _fingerprint(task))), line, file)
        if said_before:
            said = f"the conversation is the same as on {said_before}"
            notes.append(Note("kept", "", said, "duplicates"))
        return notes

    def _before(self, number: int, line: int, file: str) -> str:
        """Return where the hash was seen first, or nothing if it is new."""
        added = self._database.execute(
            "INSERT OR IGNORE INTO seen VALUES (?, ?, ?)", (number, line, file)
        )
        if added.rowcount:
            return ""
        found = self._database.execute("SELECT line, file FROM seen WHERE hash = ?", (number,))
        first_line, first_file = found.fetchone()
        return f"line {first_line}" + (f" of {first_file}" if first_file != file else "")


def _fingerprint(task: TaskContent) -> tuple[object, ...]:
    """Return what is said in a task, whatever its white space and the details beside it."""
    return (
        _said(task.messages),
        *((candidate.verdict, _said(candidate.messages)) for candidate in task.candidates),
    )


def _said(messages: Sequence[Message]) -> tuple[object, ...]:
    return tuple(
        [(message.role, *[_content(block) for block in message.blocks]) for message in messages]
    )


def _content(block: Block) -> object:
    match block:
        case TextBlock() | ReasoningBlock():
            return block.type, " ".join(block.text.split())
        case ToolCallBlock():
            return "call", block.name, repr(json_copy(block.input))
        case ImageBlock():
            return "image", block.data
        case _:
            return "result", block.is_error, *[_content(each) for each in block.blocks]
