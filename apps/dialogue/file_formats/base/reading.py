"""Rows become tasks: each is recognised by its own shape and read by its format."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import DialogueError, ImportRefused
from apps.dialogue.file_containers import Note, Row
from apps.dialogue.file_formats.base.rows import ReadRow, RowFormat, role_letters


def read_rows(
    rows: Iterable[Row], formats: Mapping[str, RowFormat], forced: str | None = None
) -> Iterator[ReadRow]:
    """Read rows in their order; a row that cannot become a task comes back with its reason."""
    for row in rows:
        yield _read_row(row, formats, forced)


def _read_row(row: Row, formats: Mapping[str, RowFormat], forced: str | None) -> ReadRow:
    notes = list(row.notes)
    if row.fault:
        notes.append(Note("refused", "", row.fault, row.fault_code))
        return ReadRow(row.line, None, None, tuple(notes), file=row.file)
    if not isinstance(row.value, dict):
        fault = f"a row must be an object, not {kind_of(row.value)}"
        notes.append(Note("refused", "", fault, "bad_row"))
        return ReadRow(row.line, None, None, tuple(notes), file=row.file)
    found = formats[forced] if forced else _recognised(row.value, formats)
    try:
        task = found.read(row.value, notes)
    except DialogueError as error:
        known = error if isinstance(error, ImportRefused) else None
        roles, code = (known.roles, known.code) if known else ("", "")
        notes.append(Note("refused", error.place, error.message, code))
        return ReadRow(row.line, found.name, None, tuple(notes), roles, row.file)
    letters = role_letters(task.messages)
    return ReadRow(row.line, found.name, task, tuple(notes), letters, row.file)


def _recognised(row: dict[str, Any], formats: Mapping[str, RowFormat]) -> RowFormat:
    return next(each for each in formats.values() if each.recognises(row))
