"""The files people bring: recognised row by row, read without dropping or guessing anything.

A new format is one module here and one entry in ``FORMATS``, the most specific first.
"""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Final

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import DialogueError, ImportRefused
from apps.dialogue.file_formats import attribute_rows, canonical, mt_bench, openai_chat
from apps.dialogue.file_formats.base import (
    JsonRow,
    Note,
    ReadRow,
    RowFormat,
    TaskContent,
    json_rows,
)

FORMATS: Final[dict[str, RowFormat]] = {
    each.name: each
    for each in (
        canonical.FORMAT,
        openai_chat.FORMAT,
        mt_bench.FORMAT,
        attribute_rows.FORMAT,
    )
}

AUTO = "auto"


def read_tasks(
    stream: BinaryIO | Iterable[bytes],
    *,
    format: str = AUTO,  # noqa: A002 - the word of the command line
    file_name: str = "",
) -> Iterator[ReadRow]:
    """Read JSON Lines, a JSON array or JSON objects one after another, as they stream in.

    ``stream`` gives bytes in pieces of any size. A row that cannot become a task comes back with a
    ``refused`` note and the rows after it go on. Raises ``ImportRefused`` at once for an unknown
    ``format``.
    """
    if format != AUTO and format not in FORMATS:
        known = ", ".join([AUTO, *FORMATS])
        raise ImportRefused(f"unknown format {format!r}; there are {known}", place="format")
    forced = FORMATS.get(format)
    return (_read_row(row, forced) for row in json_rows(stream, file_name))


def _read_row(row: JsonRow, forced: RowFormat | None) -> ReadRow:
    notes = list(row.notes)
    if row.fault:
        notes.append(Note("refused", "", row.fault, row.fault_code))
        return ReadRow(row.line, None, None, tuple(notes))
    if not isinstance(row.value, dict):
        fault = f"a row must be an object, not {kind_of(row.value)}"
        notes.append(Note("refused", "", fault, "bad_row"))
        return ReadRow(row.line, None, None, tuple(notes))
    found = forced or _recognised(row.value)
    try:
        task = found.read(row.value, notes)
    except DialogueError as error:
        notes.append(Note("refused", error.place, error.message))
        return ReadRow(row.line, found.name, None, tuple(notes))
    return ReadRow(row.line, found.name, task, tuple(notes))


def _recognised(row: dict[str, Any]) -> RowFormat:
    return next(each for each in FORMATS.values() if each.recognises(row))


__all__ = [
    "AUTO",
    "FORMATS",
    "Note",
    "ReadRow",
    "RowFormat",
    "TaskContent",
    "read_tasks",
]
