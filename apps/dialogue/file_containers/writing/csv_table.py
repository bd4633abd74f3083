"""CSV: a line of names, then one row each; UTF-8, quoted where need be, lines end in a line feed.

How values become cells is said in ``table_cells``.
"""

import csv
from typing import Any

from apps.dialogue.file_containers.table_cells import MARKER, guarded, to_csv_row
from apps.dialogue.file_containers.writing.base import Sink
from apps.dialogue.file_containers.writing.held import HeldRows


class CsvWriter:
    """Holds the rows on disk; the file is written when it is closed."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._held = HeldRows()

    def write(self, row: dict[str, Any]) -> None:
        self._held.add(row)

    def close(self) -> None:
        columns = self._held.columns()
        names = [*map(guarded, columns), MARKER]
        written = csv.DictWriter(_Utf8(self._sink), names, restval="", lineterminator="\n")
        written.writeheader()
        for row, _ in self._held:
            written.writerow(to_csv_row(row, columns))
        self._held.close()


class _Utf8:
    """The sink as the csv module wants it: texts in."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def write(self, text: str) -> None:
        self._sink.write(text.encode())
