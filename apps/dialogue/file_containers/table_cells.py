"""Rows of JSON values as rows of a table, and back again exactly.

A table has flat cells. A text stays as it is, other values become JSON text, and one more column,
``turnwright``, says of each row how to undo that:

``table``  ``csv`` or ``parquet``
``json``   the columns whose cells are JSON text (a null stands for null)
``whole``  the columns of decimals where this row has a whole number
``more``   attributes whose names cannot be columns, with their values
``order``  the keys of the row, where their order is not that of the columns

Without that column a table is read as a stranger's. In CSV a spreadsheet takes a text that begins
with ``=`` and its like for a formula and may do harm; such texts, and names of columns, get a ``'``
in front, and those that begin with a ``'`` before such a character get one more.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, Final, Literal

from pydantic_core import to_json

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused

MARKER: Final = "turnwright"
"""The column that tells how a row became cells."""

MOST_COLUMNS = 1000
"""Where the keys of attributes are data, a table would grow as wide as it is long."""

Kind = Literal["text", "whole", "number", "truth"]
Table = Literal["csv", "parquet"]

_LONGEST_NAME = 200
_LARGEST_WHOLE = 2**63
_LARGEST_EXACT = 2**53
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
# What readers of CSV split or strip, and what is not seen: those texts are better off as JSON.
_FRAGILE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029\ufeff]")
_PARTS: Final = ("table", "json", "whole", "more", "order")


class Columns:
    """The columns of a table, found by looking at every row before the first one is written."""

    def __init__(self, first: Sequence[str] = ()) -> None:
        self._kinds: dict[str, set[str]] = {name: set() for name in first}

    def look_at(self, row: Mapping[str, Any]) -> None:
        for name, value in row.items():
            kinds = self._kinds.get(name)
            if kinds is None:
                if len(self._kinds) >= MOST_COLUMNS or not _can_be_a_column(name):
                    continue
                kinds = self._kinds[name] = set()
            kinds.add(_kind_of_value(value))

    def kinds(self) -> dict[str, Kind]:
        """The columns in the order in which they were met, with what all their values are."""
        return {name: _kind_of_column(kinds) for name, kinds in self._kinds.items()}


def to_csv_row(row: Mapping[str, Any], columns: Mapping[str, Kind]) -> dict[str, str]:
    """The texts of a row by the names in the file's first line, `MARKER` among them."""
    marker = _Marker("csv")
    cells: dict[str, str] = {}
    for name in columns:
        value = row.get(name)
        if isinstance(value, str) and _is_plain(value):
            cells[guarded(name)] = guarded(value)
        elif name in row:
            cells[guarded(name)] = _json(value)
            marker.json.append(name)
    cells[MARKER] = marker.text(row, columns)
    return cells


def to_parquet_row(row: Mapping[str, Any], columns: Mapping[str, Kind]) -> dict[str, Any]:
    """The values of a row, each of its column's kind or null, `MARKER` among them."""
    marker = _Marker("parquet")
    cells: dict[str, Any] = {}
    for name, kind in columns.items():
        value = row.get(name)
        if value is None:
            if name in row:
                marker.json.append(name)
        elif kind != "text" or isinstance(value, str):
            cells[name] = float(value) if kind == "number" else value
            if kind == "number" and isinstance(value, int):
                marker.whole.append(name)
        else:
            cells[name] = _json(value)
            marker.json.append(name)
    cells[MARKER] = marker.text(row, columns)
    return cells


def from_table_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row that `to_csv_row` or `to_parquet_row` made these cells of.

    Columns added since are kept, columns taken away are missing. Raises ``ImportRefused`` (code
    ``bad_table_row``) naming the column.
    """
    marker = _read_marker(row.get(MARKER))
    is_csv = marker.table == "csv"
    found: dict[str, Any] = {}
    for column, cell in row.items():
        if column == MARKER:
            continue
        name = unguarded(column) if is_csv else column
        if name in marker.json:
            found[name] = _parsed(cell, name)
        elif not _is_missing(cell, is_csv=is_csv):
            found[name] = _native(cell, is_csv=is_csv, whole=name in marker.whole)
    found.update(marker.more)
    ordered = {name: found[name] for name in marker.order if name in found}
    return {**ordered, **found}


def guarded(text: str) -> str:
    """A text that no spreadsheet takes for a formula; `unguarded` gives the text back."""
    return f"'{text}" if _FORMULA.match(text) else text


def unguarded(text: str) -> str:
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


@dataclass(slots=True)
class _Marker:
    table: Table
    json: list[str]
    whole: list[str]
    more: dict[str, Any]
    order: list[str]

    def __init__(self, table: Table) -> None:
        self.table = table
        self.json, self.whole, self.more, self.order = [], [], {}, []

    def text(self, row: Mapping[str, Any], columns: Mapping[str, Kind]) -> str:
        self.more = {name: value for name, value in row.items() if name not in columns}
        if list(row) != [*(name for name in columns if name in row), *self.more]:
            self.order = list(row)
        said = {name: getattr(self, name) for name in _PARTS if getattr(self, name)}
        return _json(said)


def _read_marker(cell: object) -> _Marker:
    wire = _parsed(cell, MARKER)
    if not isinstance(wire, dict) or wire.get("table") not in ("csv", "parquet"):
        raise _refused("does not say how the row became cells", MARKER)
    marker = _Marker(wire["table"])
    for name, kind in (("json", list), ("whole", list), ("more", dict), ("order", list)):
        value = wire.get(name, kind())
        if not isinstance(value, kind) or not all(isinstance(each, str) for each in value):
            raise _refused(f"has {kind_of(value)} under {name!r}", MARKER)
        setattr(marker, name, value)
    return marker


def _parsed(cell: object, name: str) -> Any:
    if cell is None:
        return None
    if not isinstance(cell, str):
        raise _refused(f"must be JSON text, not {kind_of(cell)}", name)
    try:
        return json.loads(cell)
    except RecursionError:
        raise _refused("is nested too deeply", name) from None
    except ValueError as error:
        raise _refused(f"is not JSON: {error}", name) from None


def _refused(message: str, column: str) -> ImportRefused:
    return ImportRefused(message, place=column, code="bad_table_row")


def _is_missing(cell: object, *, is_csv: bool) -> bool:
    # A tool that read the table and wrote it again may have put NaN where nothing was.
    return cell is None or (is_csv and cell == "") or (isinstance(cell, float) and isnan(cell))


def _native(cell: Any, *, is_csv: bool, whole: bool) -> Any:
    if isinstance(cell, str):
        return unguarded(cell) if is_csv else cell
    return int(cell) if whole and isinstance(cell, float) else cell


def _can_be_a_column(name: str) -> bool:
    fits = 0 < len(name) <= _LONGEST_NAME and name != MARKER
    return fits and name.isprintable() and name == name.strip()


def _is_plain(text: str) -> bool:
    return text == text.strip() != "" and not _FRAGILE.search(text)


def _kind_of_value(value: object) -> str:
    match value:
        case None:
            return "null"
        case str():
            return "text"
        case bool():
            return "truth"
        case int() if -_LARGEST_EXACT <= value <= _LARGEST_EXACT:
            return "exact"
        case int() if -_LARGEST_WHOLE <= value < _LARGEST_WHOLE:
            return "whole"
        case float():
            return "number"
        case _:
            return "json"


def _kind_of_column(kinds: set[str]) -> Kind:
    """The one kind that holds all values as they are; text where there is none."""
    values = kinds - {"null"}
    if values == {"truth"}:
        return "truth"
    if values and values <= {"exact", "whole"}:
        return "whole"
    if values and values <= {"exact", "number"}:
        return "number"
    return "text"


def _json(value: object) -> str:
    """Compact JSON text; what a reader of CSV might take for the end of a line is escaped."""
    written = to_json(value).decode()
    if _FRAGILE.search(written):
        return _FRAGILE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)
    return written
