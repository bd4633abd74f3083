"""What the writers of files share: rows in, bytes out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


class Sink(Protocol):
    """Where bytes go: an open file, a pipe, a response. It is never read or rewound."""

    def write(self, data: bytes, /) -> object: ...


class RowWriter(Protocol):
    """Takes the rows of one file. The sink stays open when it is closed."""

    def write(self, row: dict[str, Any]) -> None:
        """Take a row of JSON values, each of them its own."""

    def close(self) -> None:
        """Write what is still held; without this call a table is not whole."""


@dataclass(frozen=True, slots=True)
class Written:
    """A kind of file that rows become: how it is named, announced and written.

    ``streams`` where bytes come with every row; a table needs to know all its columns first.
    """

    name: str
    suffix: str
    media_type: str
    writer: Callable[[Sink], RowWriter]
    streams: bool = True
