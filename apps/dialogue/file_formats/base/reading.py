"""Rows become tasks: each is recognised by its own shape and read by its format."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import DialogueError, ImportRefused
from apps.dialogue.file_containers import Note, Row
from apps.dialogue.file_formats.base.held_rows import LARGEST_GROUP, HeldGroup, HeldRows
from apps.dialogue.file_formats.base.rows import ReadRow, RowFormat, role_letters

_MOST_LINES_NAMED = 20


def read_rows(
    rows: Iterable[Row], formats: Mapping[str, RowFormat], forced: str | None = None
) -> Iterator[ReadRow]:
    """Read rows in their order; a row that cannot become a task comes back with its reason.

    Conversations that are spread over several rows come at the end, in the order of their first
    rows. ``forced`` is the name of the format that every row is held to.
    """
    reader = _Reader(formats, forced)
    try:
        for row in rows:
            yield from reader.read(row)
        yield from reader.joined()
    finally:
        reader.close()


class _Reader:
    def __init__(self, formats: Mapping[str, RowFormat], forced: str | None) -> None:
        self._formats = formats
        self._forced = forced
        self._held = HeldRows()

    def close(self) -> None:
        self._held.close()

    def read(self, row: Row) -> Iterator[ReadRow]:
        """Read a row: none, one or several conversations."""
        if row.fault:
            yield _refused(row, None, ImportRefused(row.fault, code=row.fault_code))
            return
        if not isinstance(row.value, dict):
            fault = f"a row must be an object, not {kind_of(row.value)}"
            yield _refused(row, None, ImportRefused(fault, code="bad_row"))
            return
        found = self._formats[self._forced] if self._forced else self._recognised(row.value)
        if found.expand is None:
            yield from self._taken(row, found)
            return
        try:
            for each in found.expand(row):
                yield from self._taken(each, found)
        except (DialogueError, RecursionError) as error:
            yield _refused(row, found, error)

    def joined(self) -> Iterator[ReadRow]:
        """Read the conversations whose rows were held until the end of the file."""
        for group in self._held.groups():
            found = self._formats[group.format]
            if group.too_large:
                yield _refused(group.rows[0], found, _too_large(group))
                continue
            try:
                rows = list(found.join(group.rows) if found.join else group.rows)
            except (DialogueError, RecursionError) as error:
                yield _refused(_with_lines(group.rows[0], group.rows), found, error)
                continue
            for row in _with_notes(rows, group.rows):
                yield _read(_with_lines(row, group.rows), found)

    def _taken(self, row: Row, found: RowFormat) -> Iterator[ReadRow]:
        """Read a row that is one conversation, or hold it if it is a part of one."""
        if row.fault or found.group is None:
            yield _read(row, found)
            return
        try:
            self._held.add(row, found.name, found.group(row.value))
        except (DialogueError, RecursionError) as error:
            yield _refused(row, found, error)

    def _recognised(self, row: dict[str, Any]) -> RowFormat:
        return next(each for each in self._formats.values() if each.recognises(row))


def _read(row: Row, found: RowFormat) -> ReadRow:
    if row.fault:
        return _refused(row, found, ImportRefused(row.fault, code=row.fault_code))
    notes = list(row.notes)
    try:
        task = found.read(row.value, notes)
        letters = role_letters(task.messages)
    except (DialogueError, RecursionError) as error:
        return _refused(replace(row, notes=tuple(notes)), found, error)
    return ReadRow(row.line, found.name, task, tuple(notes), letters, row.file)


def _refused(row: Row, found: RowFormat | None, error: DialogueError | RecursionError) -> ReadRow:
    """Return a row without a task, and with the reason as its last note."""
    match error:
        case ImportRefused():
            note = Note("refused", error.place, error.message, error.code)
        case DialogueError():
            note = Note("refused", error.place, error.message)
        case _:
            note = Note("refused", "", "is nested too deeply", "too_deep")
    roles = error.roles if isinstance(error, ImportRefused) else ""
    return ReadRow(
        row.line, found.name if found else None, None, (*row.notes, note), roles, row.file
    )


def _too_large(group: HeldGroup) -> ImportRefused:
    limit = f"{LARGEST_GROUP >> 20} MiB"
    return ImportRefused(
        f"the rows of one conversation ({group.name or 'of no name'}) are more than {limit}",
        code="too_long",
    )


def _with_notes(rows: list[Row], group: list[Row]) -> list[Row]:
    """Put the notes of the group's rows on the first row made of them, unless they are kept."""
    kept = {note for row in rows for note in row.notes}
    lost = dict.fromkeys(note for row in group for note in row.notes if note not in kept)
    if not lost or not rows:
        return rows
    return [replace(rows[0], notes=(*lost, *rows[0].notes)), *rows[1:]]


def _with_lines(row: Row, group: list[Row]) -> Row:
    """Return a row with a note that says which lines it was made of, if there are several."""
    if len(group) == 1:
        return row
    named = ", ".join(str(each.line) for each in group[:_MOST_LINES_NAMED])
    more = len(group) - _MOST_LINES_NAMED
    listed = f"{named} and {more} more" if more > 0 else named
    note = Note("converted", "", f"the rows on lines {listed} are one conversation", "joined_rows")
    return replace(row, notes=(*row.notes, note))
