"""Rows of a Parquet file, a few hundred at a time, or one where they may be large."""

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any, BinaryIO, Final

from apps.dialogue.file_containers.arrow import arrow
from apps.dialogue.file_containers.byte_stream import (
    LARGEST_RATIO,
    LONGEST_LINE,
    Unreadable,
    spooled,
)
from apps.dialogue.file_containers.cleaning import cleaned
from apps.dialogue.file_containers.parquet_cells import Cells, distinct_names, size_of
from apps.dialogue.file_containers.rows import Note, Row
from apps.dialogue.file_containers.table_cells import MARKER
from apps.dialogue.file_containers.table_rows import written_here

_BATCH: Final = 200
"""Rows that are in memory as Python values together."""

_BATCH_BYTES: Final = 16 << 20
"""Bytes that those rows have as a rule."""

_FREE: Final = 64 << 20
"""Bytes, or values, of a file that may grow as they like."""

_MOST_VALUES: Final = 64 << 20
"""Values of the lists in one group of rows; they could all be in one row."""


def parquet_rows(pieces: Iterator[bytes]) -> Iterator[Row]:
    """Read the rows of a Parquet file; ``line`` is the number of the row, from 1.

    Moments become ISO 8601 texts, decimals texts and bytes base64, each noted. Columns of the same
    name get the number of the column behind it. A row that is too large is a fault. Raises
    ``Unreadable``, also for a file that would grow beyond all measure.
    """
    arrow_, parquet = arrow()
    with closing(spooled(pieces)) as held:
        number = 0
        try:
            for batch, notes in _batches(parquet, held):
                for row in _rows(batch, number):
                    yield _noted(row, notes) if number == 0 else row
                    number = row.line
        except (arrow_.ArrowException, OSError, ValueError, OverflowError) as error:
            if isinstance(error, Unreadable):
                raise
            # Messages of Arrow may go on for lines; the first says what is wrong.
            first = str(error).partition("\n")[0]
            code = "bad_archive" if number else "not_data"
            raise Unreadable(f"the Parquet file cannot be read: {first}", code) from None


def _batches(parquet: Any, held: BinaryIO) -> Iterator[tuple[Any, list[Note]]]:
    """Give the rows in batches that fit into memory, with names that differ."""
    plain = parquet.ParquetFile(held, memory_map=False, buffer_size=1 << 20, pre_buffer=False)
    metadata = plain.metadata
    _check_growth(metadata, os.fstat(held.fileno()).st_size)
    # A text that many rows share stays one text: written out, a few bytes could fill the memory.
    opened = parquet.ParquetFile(
        held,
        metadata=metadata,
        read_dictionary=_texts(plain.schema),
        memory_map=False,
        buffer_size=1 << 20,
        pre_buffer=False,
    )
    names, notes = distinct_names([field.name for field in opened.schema_arrow])
    for group in range(metadata.num_row_groups):
        size = _batch_size(metadata.row_group(group), opened.schema)
        # No threads: a group of rows may be as large as the file.
        chosen = opened.iter_batches(batch_size=size, row_groups=[group], use_threads=False)
        for batch in chosen:
            yield batch.rename_columns(names), notes


def _texts(schema: Any) -> list[str]:
    leaves = [schema.column(index) for index in range(len(schema))]
    return [
        leaf.path
        for leaf in leaves
        if leaf.physical_type == "BYTE_ARRAY" and leaf.logical_type.type != "DECIMAL"
    ]


def _check_growth(metadata: Any, packed: int) -> None:
    """Refuse a file that says of itself that it grows out of all proportion."""
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    size = sum(group.total_byte_size for group in groups)
    values = 0
    for group in groups:
        for index in range(group.num_columns):
            column = group.column(index)
            count = column.num_values
            values += count
            # Where lists begin takes a bit a value, unless one list holds nearly all of them.
            is_one_list = count > _MOST_VALUES // 4 and count > 64 * column.total_uncompressed_size
            in_lists = metadata.schema.column(index).max_repetition_level > 0
            if in_lists and (is_one_list or count > _MOST_VALUES):
                fault = f"a group of rows holds {count} values in lists: write smaller groups"
                raise Unreadable(fault, "bad_archive")
    if max(size, values) > max(_FREE, LARGEST_RATIO * packed):
        fault = f"the Parquet file grows more than {LARGEST_RATIO} times: it may be a bomb"
        raise Unreadable(fault, "bad_archive")


def _batch_size(group: Any, schema: Any) -> int:
    """Return how many rows of a group are taken at once, by their mean size."""
    size = int(group.total_byte_size)
    for index in range(group.num_columns):
        # A value of fixed length may be repeated without taking room in the file.
        length = max(int(schema.column(index).length or 0), 0)
        size += length * int(group.column(index).num_values)
    mean = size // max(int(group.num_rows), 1)
    return max(1, min(_BATCH, _BATCH_BYTES // max(mean, 1)))


def _rows(batch: Any, number: int) -> Iterator[Row]:
    arrow_, _ = arrow()
    if _size(batch) <= LONGEST_LINE:
        try:
            values = batch.to_pylist()
        except (arrow_.ArrowException, ValueError, OverflowError, KeyError, OSError):
            values = None  # one of them has no equal in Python
        if values is not None:
            for value in values:
                number += 1
                yield _row(number, value)
            return
    for index in range(batch.num_rows):
        number += 1
        single = batch.slice(index, 1)
        if _size(single) > LONGEST_LINE:
            fault = f"the row is larger than {LONGEST_LINE >> 20} MiB"
            yield Row(number, fault=fault, fault_code="too_long")
        else:
            yield _row(number, single)


def _size(batch: Any) -> int:
    return sum(size_of(column) for column in batch.columns)


def _row(number: int, read: Any) -> Row:
    """Make a row of its values in Python, or of a batch that holds it alone."""
    cells = Cells()
    try:
        if isinstance(read, dict):
            value = cells.value(read, "")
        else:
            columns = zip(read.schema.names, read.columns, strict=True)
            value = {name: cells.scalar(column[0], name) for name, column in columns}
        made, changes = cleaned(value)
    except RecursionError:
        return Row(number, fault="the row is nested too deeply", fault_code="too_deep")
    row = Row(number, made, notes=(*cells.notes(), *changes))
    return written_here(row) if isinstance(made.get(MARKER), str) else row


def _noted(row: Row, notes: list[Note]) -> Row:
    return replace(row, notes=(*notes, *row.notes)) if notes else row
