"""Rows become tasks: each is recognised by its own shape and read by its format."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Final

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import DialogueError, ImportRefused
from apps.dialogue.file_containers import Note, Row
from apps.dialogue.file_formats.base.held_rows import LARGEST_GROUP, HeldGroup, HeldRows
from apps.dialogue.file_formats.base.remarks import remarks_on
from apps.dialogue.file_formats.base.role_changes import RoleChanges, with_changed_roles
from apps.dialogue.file_formats.base.rows import ReadRow, RowFormat, TaskContent, role_letters
from apps.dialogue.file_formats.base.seen_rows import SeenRows
from apps.dialogue.file_formats.base.table_values import with_conversations, with_table_values

TABLE: Final = "csv_table"
"""The name of the format of a table's rows, whatever reads them."""

TURNS_TABLE: Final = "csv_long"
"""The format of tables with one row a turn; its rows go by its own name."""

TEXT: Final = "transcript"
ANY: Final = "attribute_rows"
"""The format that takes any row; more fitting ones are asked for tables and texts."""

_MOST_LINES_NAMED = 20

Reader = Callable[[dict[str, Any], list[Note]], TaskContent]
"""Makes a row's task and appends to the notes; raises a ``DialogueError`` for no task."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person said about a file.

    ``format`` is the name of the one that every row is held to. With a ``reader``, which is made of
    a column mapping, no row is recognised: each goes through it. ``roles`` were changed in a
    preview.
    """

    format: str | None = None
    reader: Reader | None = None
    roles: RoleChanges = field(default_factory=RoleChanges)


def read_rows(
    rows: Iterable[Row], formats: Mapping[str, RowFormat], wishes: Wishes | None = None
) -> Iterator[ReadRow]:
    """Read rows in their order; a row that cannot become a task comes back with its reason.

    Conversations that are spread over several rows come at the end, in the order of their first
    rows. The notes say what is noteworthy in a conversation, and what it has in common with others.
    """
    wishes = wishes or Wishes()
    with closing(_Reader(formats, wishes)) as reader, closing(SeenRows()) as seen:
        for number, row in enumerate(reader.rows(rows)):
            yield _remarked(row, number, wishes.roles, seen)


def _remarked(row: ReadRow, number: int, roles: RoleChanges, seen: SeenRows) -> ReadRow:
    if roles.speakers or roles.turns:
        row = with_changed_roles(row, roles, number)
    if row.task is None:
        return row
    notes = remarks_on(row.task, {note.code for note in row.notes})
    notes += seen.notes_for(row.task, row.line, row.file)
    return replace(row, notes=(*row.notes, *notes)) if notes else row


class _Reader:
    def __init__(self, formats: Mapping[str, RowFormat], wishes: Wishes) -> None:
        self._formats = formats
        self._wishes = wishes
        self._held = HeldRows()

    def close(self) -> None:
        self._held.close()

    def rows(self, rows: Iterable[Row]) -> Iterator[ReadRow]:
        for row in rows:
            yield from self.read(row)
        yield from self.joined()

    def read(self, row: Row) -> Iterator[ReadRow]:
        """Read a row: none, one or several conversations."""
        if row.fault:
            yield _refused(row, None, ImportRefused(row.fault, code=row.fault_code))
            return
        row = self._with_values(row)
        if not isinstance(row.value, dict):
            fault = f"a row must be an object, not {kind_of(row.value)}"
            yield _refused(row, None, ImportRefused(fault, code="bad_row"))
        elif not row.value:
            yield _refused(row, None, ImportRefused("the row is empty", code="bad_row"))
        elif self._wishes.reader is not None:
            yield _read_with(row, None, self._wishes.reader)
        else:
            yield from self._read_as(row, self._format_of(row))

    def _with_values(self, row: Row) -> Row:
        """Return a row with the values that its cells are written for."""
        if row.source == "text":
            return replace(row, value={"text": row.value})
        if isinstance(row.value, dict):
            if self._wishes.format == TABLE:
                row = replace(row, source="table")
            return with_table_values(row) if row.source == "table" else with_conversations(row)
        return row

    def _format_of(self, row: Row) -> RowFormat:
        forced = self._wishes.format
        if forced and not (forced == TABLE and row.source == "table"):
            return self._formats[forced]
        found = self._recognised(row.value)
        if row.source == "text" and self._is_transcript(row.value):
            return self._formats[TEXT]
        if found.name == ANY and row.source != "json":
            return self._formats.get(TEXT if row.source == "text" else TABLE, found)
        return found

    def _is_transcript(self, value: dict[str, Any]) -> bool:
        """Whether a text begins with a heading that names a speaker; data sets have them too."""
        text = value.get("text")
        begins = isinstance(text, str) and text.lstrip().startswith("#")
        return begins and TEXT in self._formats and self._formats[TEXT].recognises(value)

    def _recognised(self, value: dict[str, Any]) -> RowFormat:
        for each in self._formats.values():
            if each.recognises(value):
                return each
        raise ImportRefused("the row is of no known format")

    def _read_as(self, row: Row, found: RowFormat) -> Iterator[ReadRow]:
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
                yield _refused(with_lines(group.rows[0], group.rows), found, error)
                continue
            for row in _with_notes(rows, group.rows):
                yield _read(with_lines(row, group.rows, len(rows)), found)

    def _taken(self, row: Row, found: RowFormat) -> Iterator[ReadRow]:
        """Read a row that is one conversation, or hold it if it is a part of one."""
        if row.fault or found.group is None:
            yield _read(row, found)
            return
        try:
            self._held.add(row, found.name, found.group(row.value))
        except (DialogueError, RecursionError) as error:
            yield _refused(row, found, error)


def _read(row: Row, found: RowFormat) -> ReadRow:
    if row.fault:
        return _refused(row, found, ImportRefused(row.fault, code=row.fault_code))
    return _read_with(row, found, found.read)


def _read_with(row: Row, found: RowFormat | None, read: Reader) -> ReadRow:
    notes = list(row.notes)
    try:
        task = read(row.value, notes)
        letters = role_letters(task.messages)
    except (DialogueError, RecursionError) as error:
        return _refused(replace(row, notes=tuple(notes)), found, error)
    return ReadRow(row.line, _name(row, found), task, tuple(notes), letters, row.file)


def _name(row: Row, found: RowFormat | None) -> str | None:
    """Return the format's name; that of a table's rows is its own, but where turns are rows."""
    if row.source == "table" and (found is None or found.name != TURNS_TABLE):
        return TABLE
    return found.name if found else None


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
    name = _name(row, found) if found else None
    return ReadRow(row.line, name, None, (*row.notes, note), roles, row.file)


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


def with_lines(row: Row, group: Sequence[Row], count: int = 1) -> Row:
    """Return a row with a note that says which lines it was made of, unless it has one."""
    if len(group) == 1 or any(note.code == "joined_rows" for note in row.notes):
        return row
    named = ", ".join(str(each.line) for each in group[:_MOST_LINES_NAMED])
    more = len(group) - _MOST_LINES_NAMED
    listed = f"{named} and {more} more" if more > 0 else named
    what = "one conversation" if count == 1 else f"{count} conversations, this is one of them"
    note = Note("converted", "", f"the rows on lines {listed} are {what}", "joined_rows")
    return replace(row, notes=(*row.notes, note))
