"""Parquet: typed columns, compressed, in groups of rows of a size that memory holds.

How values become cells is said in ``table_cells``.
"""

from typing import Any

from apps.dialogue.file_containers.arrow import arrow
from apps.dialogue.file_containers.table_cells import MARKER, to_parquet_row
from apps.dialogue.file_containers.writing.base import Sink
from apps.dialogue.file_containers.writing.held import HeldRows

GROUP_ROWS = 10_000
GROUP_BYTES = 16 << 20
"""A group of rows is written when it has so many rows, or so many bytes as JSON."""


class ParquetWriter:
    """Holds the rows on disk; the file is written when it is closed."""

    def __init__(self, sink: Sink) -> None:
        self._sink = _Counted(sink)
        self._held = HeldRows()

    def write(self, row: dict[str, Any]) -> None:
        self._held.add(row)

    def close(self) -> None:
        columns = self._held.columns()
        pa, parquet = arrow()
        types = {
            "text": pa.string(),
            "whole": pa.int64(),
            "number": pa.float64(),
            "truth": pa.bool_(),
        }
        fields = [(name, types[kind]) for name, kind in columns.items()]
        schema = pa.schema([*fields, (MARKER, pa.string())])
        with parquet.ParquetWriter(self._sink, schema, compression="zstd") as written:
            group: list[dict[str, Any]] = []
            size = 0
            for row, row_size in self._held:
                group.append(to_parquet_row(row, columns))
                size += row_size
                if size >= GROUP_BYTES or len(group) >= GROUP_ROWS:
                    written.write_batch(pa.RecordBatch.from_pylist(group, schema=schema))
                    group, size = [], 0
            if group:
                written.write_batch(pa.RecordBatch.from_pylist(group, schema=schema))
        self._held.close()


class _Counted:
    """The sink as pyarrow wants it: it asks where it is, and closes what it writes to."""

    closed = False

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._written = 0

    def write(self, data: bytes, /) -> int:
        self._sink.write(bytes(data))
        self._written += len(data)
        return len(data)

    def tell(self) -> int:
        return self._written

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False
