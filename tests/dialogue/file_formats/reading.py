"""Rows read from JSON, as the tests of single formats need them."""

import io
import json
from collections.abc import Sequence
from typing import Any

from apps.dialogue.file_formats import ReadRow, TaskContent, read_tasks
from apps.dialogue.message import Message


def read_all(rows: Sequence[Any], *, format: str = "auto") -> list[ReadRow]:  # noqa: A002
    data = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    return list(read_tasks(io.BytesIO(data), format=format))


def read_one(row: Any, *, format: str = "auto") -> ReadRow:  # noqa: A002
    (read,) = read_all([row], format=format)
    return read


def task_of(row: Any) -> TaskContent:
    read = read_one(row)
    assert read.task is not None, read.notes
    return read.task


def said(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in messages]


def sides(row: Any) -> dict[str, list[tuple[str, str]]]:
    return {each.verdict: said(each.messages) for each in task_of(row).candidates}


def codes(row: Any) -> set[str]:
    return {note.code for note in read_one(row).notes if note.code}
