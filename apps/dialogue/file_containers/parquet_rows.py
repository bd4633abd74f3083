"""Rows of a Parquet file, a few hundred at a time."""

import base64
import datetime as dt
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from typing import Any

from apps.dialogue.file_containers.arrow import arrow
from apps.dialogue.file_containers.byte_stream import Unreadable, spooled
from apps.dialogue.file_containers.cleaning import cleaned
from apps.dialogue.file_containers.rows import Note, Row
from apps.dialogue.file_containers.table_cells import MARKER
from apps.dialogue.file_containers.table_rows import written_here

_BATCH = 200
"""Rows that are in memory as Python values together."""


def parquet_rows(pieces: Iterator[bytes]) -> Iterator[Row]:
    """Read the rows of a Parquet file; ``line`` is the number of the row, from 1.

    Moments become ISO 8601 texts, decimals texts and bytes base64, each noted. Raises
    ``Unreadable``.
    """
    arrow_, parquet = arrow()
    with closing(spooled(pieces)) as held:
        number = 0
        try:
            # Small buffers and no threads: a group of rows may be as large as the file.
            opened = parquet.ParquetFile(held, memory_map=False, buffer_size=1 << 20)
            for batch in opened.iter_batches(batch_size=_BATCH, use_threads=False):
                for value in batch.to_pylist():
                    number += 1
                    yield _row(number, value)
        except (arrow_.ArrowException, OSError, ValueError, OverflowError) as error:
            # Messages of Arrow may go on for lines; the first says what is wrong.
            first = str(error).partition("\n")[0]
            code = "bad_archive" if number else "not_data"
            raise Unreadable(f"the Parquet file cannot be read: {first}", code) from None


def _row(number: int, value: dict[str, Any]) -> Row:
    converting = _Converting()
    try:
        made, changes = cleaned(converting.value(value, ""))
    except RecursionError:
        return Row(number, fault="the row is nested too deeply", fault_code="too_deep")
    notes = tuple(
        Note("converted", place, f"{what} became {became}", "not_json")
        for what, (place, became) in converting.found.items()
    )
    row = Row(number, made, notes=(*notes, *changes))
    return written_here(row) if isinstance(made.get(MARKER), str) else row


class _Converting:
    """Values of Arrow as JSON has them; the first place of each kind that JSON lacks is kept."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[str, str]] = {}

    def value(self, value: object, place: str) -> Any:
        match value:
            case None | bool() | int() | float() | str():
                return value
            case dict():
                return {
                    str(key): self.value(each, f"{place}.{key}" if place else str(key))
                    for key, each in value.items()
                }
            case list() | tuple():
                return [self.value(each, f"{place}[{i}]") for i, each in enumerate(value)]
            case bytes():
                return self._made(place, "bytes", "base64", base64.b64encode(value).decode())
            case dt.datetime() | dt.date() | dt.time():
                return self._made(place, "a moment", "a text (ISO 8601)", value.isoformat())
            case Decimal():
                return self._made(place, "a decimal number", "a text", str(value))
            case _:
                return self._made(place, f"a {type(value).__name__}", "a text", str(value))

    def _made(self, place: str, what: str, became: str, made: str) -> str:
        self.found.setdefault(what, (place, became))
        return made
