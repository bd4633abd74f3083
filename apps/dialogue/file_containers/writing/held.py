"""Rows on disk until all are there: a table begins with the names of all its columns."""

import json
from collections.abc import Iterator, Mapping, Sequence
from tempfile import TemporaryFile
from typing import Any

from pydantic_core import to_json

from apps.dialogue.file_containers.table_cells import Columns, Kind

FIRST_COLUMNS: Sequence[str] = ("id", "conversation")
"""A table has these even if it has no rows."""


class HeldRows:
    """Rows in a temporary file, which `close` removes, and the columns they need."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._columns = Columns(FIRST_COLUMNS)

    def add(self, row: dict[str, Any]) -> None:
        self._columns.look_at(row)
        self._file.write(to_json(row) + b"\n")

    def columns(self) -> Mapping[str, Kind]:
        return self._columns.kinds()

    def __iter__(self) -> Iterator[tuple[dict[str, Any], int]]:
        """Every row in its order, and its size in bytes."""
        self._file.seek(0)
        for line in self._file:
            yield json.loads(line), len(line)

    def close(self) -> None:
        self._file.close()
