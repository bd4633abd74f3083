"""The files people bring: recognised row by row, read without dropping or guessing anything.

A new format is one module here and one entry in ``FORMATS``, the most specific first.
"""

from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import file_rows
from apps.dialogue.file_formats import attribute_rows, canonical, mt_bench, openai_chat
from apps.dialogue.file_formats.base import (
    Candidate,
    Loss,
    Note,
    ReadRow,
    RowFormat,
    TaskContent,
    read_rows,
)

FORMATS: Final[dict[str, RowFormat]] = {
    each.name: each
    for each in (
        canonical.FORMAT,
        openai_chat.FORMAT,
        mt_bench.FORMAT,
        attribute_rows.FORMAT,
    )
}

AUTO = "auto"


def read_tasks(
    stream: BinaryIO | Iterable[bytes],
    *,
    format: str = AUTO,  # noqa: A002 - the word of the command line
    file_name: str = "",
) -> Iterator[ReadRow]:
    """Read JSON Lines, a JSON array or JSON objects one after another, as they stream in.

    ``stream`` gives bytes in pieces of any size. A row that cannot become a task comes back with a
    ``refused`` note and the rows after it go on. Raises ``ImportRefused`` at once for an unknown
    ``format``.
    """
    if format != AUTO and format not in FORMATS:
        known = ", ".join([AUTO, *FORMATS])
        raise ImportRefused(f"unknown format {format!r}; there are {known}", place="format")
    forced = None if format == AUTO else format
    return read_rows(file_rows(stream, file_name), FORMATS, forced)


__all__ = [
    "AUTO",
    "FORMATS",
    "Candidate",
    "Loss",
    "Note",
    "ReadRow",
    "RowFormat",
    "TaskContent",
    "read_tasks",
]
