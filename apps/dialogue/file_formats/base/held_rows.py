"""Rows that wait for others of their conversation, on disk, so that memory stays flat."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass

from apps.dialogue.file_containers import Note, Row

LARGEST_GROUP = 64 << 20
"""Characters, as JSON, of the rows of one conversation that are read into memory together."""


@dataclass(frozen=True, slots=True)
class HeldGroup:
    """The rows of one name, in the order of the file.

    ``too_large``: only the first ones are here, together more than ``LARGEST_GROUP``.
    """

    format: str
    name: str
    rows: list[Row]
    too_large: bool = False


class HeldRows:
    """Rows by the format and the name of their conversation; groups come by their first row."""

    def __init__(self) -> None:
        self._database: sqlite3.Connection | None = None

    def add(self, row: Row, format_name: str, group: str) -> None:
        self._opened().execute(
            "INSERT INTO held (format, grouped, row) VALUES (?, ?, ?)",
            # A lone surrogate cannot be stored; the name is only compared.
            (format_name, group.encode(errors="backslashreplace"), _written(row)),
        )

    def groups(self) -> Iterator[HeldGroup]:
        """Give the groups in the order of their first rows."""
        if self._database is None:
            return
        names = self._database.execute(
            "SELECT format, grouped FROM held GROUP BY format, grouped ORDER BY min(number)"
        )
        for format_name, group in names:
            yield self._group(format_name, group)

    def close(self) -> None:
        if self._database is not None:
            self._database.close()

    def _group(self, format_name: str, group: bytes) -> HeldGroup:
        rows: list[Row] = []
        size = 0
        found = self._opened().execute(
            "SELECT row FROM held WHERE format = ? AND grouped = ? ORDER BY number",
            (format_name, group),
        )
        with closing(found):
            for (written,) in found:
                size += len(written)
                rows.append(_read(written))
                if size > LARGEST_GROUP:
                    break
        return HeldGroup(format_name, group.decode(), rows, size > LARGEST_GROUP)

    def _opened(self) -> sqlite3.Connection:
        if self._database is None:
            # The empty name is a temporary file of SQLite's own, which goes with the connection.
            # Rows may be read by another thread than the one that began, never by two at once.
            opened = sqlite3.connect("", isolation_level=None, check_same_thread=False)
            opened.execute("PRAGMA journal_mode = OFF")
            opened.execute(
                "CREATE TABLE held "
                "(number INTEGER PRIMARY KEY, format TEXT, grouped BLOB, row TEXT)"
            )
            opened.execute("CREATE INDEX held_groups ON held (format, grouped, number)")
            opened.execute("BEGIN")
            self._database = opened
        return self._database


def _written(row: Row) -> str:
    notes = [asdict(note) for note in row.notes]
    return json.dumps([row.line, row.value, notes, row.source, row.file])


def _read(written: str) -> Row:
    line, value, notes, source, file = json.loads(written)
    return Row(line, value, notes=tuple(Note(**note) for note in notes), source=source, file=file)
