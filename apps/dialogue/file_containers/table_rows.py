"""Rows of a table written as text: CSV and its kin with tabs, semicolons or bars.

A cell that begins like a formula may have an apostrophe in front, so that a spreadsheet takes it
for text; that apostrophe is taken off again. A table that Turnwright
wrote says itself how its rows became cells (``table_cells``).
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers.byte_stream import LONGEST_LINE, PIECE, Unreadable, lines_of
from apps.dialogue.file_containers.cleaning import cleaned
from apps.dialogue.file_containers.foreign_encoding import foreign_encoding
from apps.dialogue.file_containers.rows import Note, Row
from apps.dialogue.file_containers.table_cells import MARKER, from_table_row, unguarded

# The limit is the whole process's and the default is 128 KiB, less than a long conversation.
csv.field_size_limit(LONGEST_LINE)

DELIMITERS: Final = (",", "\t", ";", "|")
_SAMPLE_RECORDS = 20
_LOOKED_AT = 8 << 20
"""Bytes in which another encoding is looked for; behind them each row is refused by itself."""

_SEPARATOR = re.compile(rb"(?i)sep=([,;\t|])\r?\n")
"""A first line by which Excel knows the delimiter; it is no record."""

_FORMULA = re.compile(r"[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?%?")
_COLUMN = re.compile(r"[^\s.,:;!?][^.,:;!?\n]{0,59}")
"""What names a column and begins no sentence."""

_KNOWN = frozenset((
    "id", "role", "from", "speaker", "content", "text", "message", "messages", "conversation",
    "conversations", "conversation_id", "prompt", "completion", "question", "answer", "input",
    "output", "instruction", "response", "chosen", "rejected", "turns", "question_id", MARKER,
))  # fmt: skip
_ROLES = frozenset(("system", "user", "assistant", "human", "gpt", "bot", "tool", "ai"))


def table_rows(pieces: Iterator[bytes], delimiter: str = "") -> Iterator[Row]:
    """Read a table whose first record names the columns; each row is an object of texts.

    The delimiter is told from the first records unless it is given. A row with too few or too many
    cells is noted; one that cannot be parsed is a fault, and so is the whole of a table in another
    encoding. Raises ``Unreadable``.
    """
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= _LOOKED_AT:
            break
    head, ended = b"".join(held), size < _LOOKED_AT
    if fault := foreign_encoding(head, ended=ended):
        yield Row(fault.line, fault=fault.message, fault_code="bad_encoding")
        return
    if b"\r" in head and b"\n" not in head:  # a table of old Macintosh programs
        head, pieces = head.replace(b"\r", b"\n"), (each.replace(b"\r", b"\n") for each in pieces)
    said = _SEPARATOR.match(head)
    delimiter = said[1].decode() if said else delimiter
    delimiter = delimiter or sniffed_delimiter(head[:PIECE].decode(errors="replace"))
    records = _records(_Lines(_chained(head, pieces)), delimiter)
    if said:
        next(records, None)
    first = next(records, None)
    if first is None:
        return
    if first.fault or first.cells is None:
        yield Row(first.line, fault=first.fault, fault_code="bad_csv")
        return
    table = _Table(first.cells)
    if table.without_header:
        yield table.row(first)
    for record in records:
        yield table.row(record)


def sniffed_delimiter(sample: str) -> str:
    """Return the delimiter that parts the first records most evenly, mostly the comma."""
    best, most = ",", (0.0, 1)
    for delimiter in DELIMITERS:
        try:
            records = csv.reader(sample.splitlines(keepends=True), delimiter=delimiter)
            widths = [len(cells) for _, cells in zip(range(_SAMPLE_RECORDS), records, strict=False)]
        except csv.Error:
            continue
        widths = [width for width in widths if width]
        if not widths or widths[0] < 2:
            continue
        even = sum(width == widths[0] for width in widths) / len(widths)
        if (even, widths[0]) > most:
            best, most = delimiter, (even, widths[0])
    return best


@dataclass(frozen=True, slots=True)
class _Record:
    line: int
    cells: list[str] | None
    fault: str = ""
    code: str = "bad_csv"


class _Lines:
    """Lines for the reader of CSV; bytes that are no UTF-8 are carried along as surrogates."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._lines = lines_of(pieces)

    def __iter__(self) -> Iterator[str]:
        for raw in self._lines:
            if raw is None:
                raise Unreadable(f"a line is longer than {LONGEST_LINE >> 20} MiB")
            yield raw.decode(errors="surrogateescape") + "\n"


def _chained(head: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from pieces


def _records(lines: Iterable[str], delimiter: str) -> Iterator[_Record]:
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield _Record(line, None, _csv_fault(error))
            continue
        if not any(cells):
            continue
        if fault := _encoding_fault(cells):
            yield _Record(line, None, fault, "bad_encoding")
        else:
            yield _Record(line, cells)


def _csv_fault(error: csv.Error) -> str:
    if "unexpected end of data" in str(error):
        return "a cell in quotation marks begins here and has no end"
    return f"the row is not CSV: {error}"


def _encoding_fault(cells: Sequence[str]) -> str:
    for index, cell in enumerate(cells, start=1):
        if not cell.isascii():
            try:
                cell.encode()
            except UnicodeEncodeError as error:
                where = f"cell {index} is not UTF-8 at its character {error.start + 1}"
                return f"{where}: save the table as UTF-8"
    return ""


class _Table:
    """The names of the columns, and rows made with them."""

    def __init__(self, header: Sequence[str]) -> None:
        self.without_header = _is_turn(header)
        self._notes: list[Note] = []
        if self.without_header:
            said = "the table has no names of columns: the first is the role, the second the text"
            self._notes.append(Note("invented", "", said, "no_header"))
            self._names = ["role", "content"]
        else:
            self._names = self._named(header)

    def row(self, record: _Record) -> Row:
        if record.cells is None:
            return Row(record.line, fault=record.fault, fault_code=record.code)
        cells, names = record.cells, self._names
        notes, self._notes = self._notes, []
        if len(cells) < len(names):
            said = f"the row has {len(cells)} cells for {len(names)} columns"
            notes.append(Note("kept", "", said, "short_row"))
        if len(cells) > len(names):
            names = [*names, *(f"column_{n + 1}" for n in range(len(names), len(cells)))]
            said = f"the row has {len(cells)} cells for {len(self._names)} columns"
            notes.append(Note("kept", "", said, "long_row"))
        given = dict(zip(names, cells, strict=False))
        if MARKER in given:
            return written_here(Row(record.line, given, notes=tuple(notes), source="table"))
        value = {name: _cell(name, cell, notes) for name, cell in given.items()}
        value, changes = cleaned(value)
        return Row(record.line, value, notes=(*notes, *changes), source="table")

    def _usual(self, name: str, times: Counter[str]) -> str:
        """Return a well-known name as it is usually written, in small letters."""
        small = name.lower()
        if name == small or small not in _KNOWN or small in times:
            return name
        self._notes.append(Note("converted", small, f"the column {name!r}", "column_name"))
        times[small] += 1
        return small

    def _named(self, header: Sequence[str]) -> list[str]:
        names: list[str] = []
        times = Counter(cell.strip() for cell in header)
        for number, cell in enumerate(header, start=1):
            name = self._usual(cell.strip(), times)
            if not name or (times[name] > 1 and name in names):
                made = f"{name}_{number}" if name else f"column_{number}"
                said = (
                    f"column {number} is named {name!r}" if name else f"column {number} has no name"
                )
                self._notes.append(Note("invented", made, said, "column_name"))
                name = made
            names.append(name)
        return names


def written_here(row: Row) -> Row:
    """Return a row of a table that Turnwright wrote, as it was before it became cells.

    It is JSON again: its texts are texts, whatever they look like.
    """
    try:
        value, notes = cleaned(from_table_row(row.value))
    except ImportRefused as error:
        return replace(row, fault=str(error), fault_code=error.code)
    except RecursionError:
        return replace(row, fault="the row is nested too deeply", fault_code="too_deep")
    return replace(row, value=value, notes=(*row.notes, *notes), source="json")


def _is_turn(header: Sequence[str]) -> bool:
    """Whether the first record is a turn and no header: a role, and what was said."""
    return len(header) == 2 and header[0].strip().lower() in _ROLES and header[1].strip() != ""


def _cell(name: str, cell: str, notes: list[Note]) -> str:
    text = unguarded(cell)
    if text != cell:
        said = "the apostrophe that kept it from being a formula was taken off"
        notes.append(Note("converted", name, said, "formula_like"))
        return text
    if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        said = "the text begins like a formula of a spreadsheet; it is kept as text"
        notes.append(Note("kept", name, said, "formula_like"))
    return cell


def looks_like_a_table(head: str) -> bool:
    """Whether a text without a file's name to it begins like a table.

    Its first line names columns. One of them is well known, or the records below are as wide as
    that line, and nothing in it reads like a sentence.
    """
    records = _sample(head, sniffed_delimiter(head))
    if not records:
        return False
    names = [cell.strip().lower() for cell in records[0]]
    if len(names) < 2 or "" in names:
        return False
    return not _KNOWN.isdisjoint(names) or _is_regular(records)


def _sample(sample: str, delimiter: str) -> list[list[str]]:
    try:
        records = csv.reader(sample.splitlines(keepends=True), delimiter=delimiter, strict=True)
        return [cells for cells, _ in zip(records, range(_SAMPLE_RECORDS), strict=False) if cells]
    except csv.Error:
        return []


def _is_regular(records: Sequence[Sequence[str]]) -> bool:
    header = records[0]
    return (
        len(records) > 1
        and len({*header}) == len(header)
        and all(len(cells) == len(header) for cells in records)
        and all(_COLUMN.fullmatch(name) for name in header)
        and not any(_NUMBER.fullmatch(name) for name in header)
        and not any(cell.startswith(" ") for cells in records for cell in cells)
    )
