"""What a container gives: rows, each with its place, and the ledger of what was done to get it."""

from dataclasses import dataclass
from typing import Any, Literal

NoteKind = Literal["kept", "converted", "invented", "dropped", "refused"]
Source = Literal["json", "table", "text"]


@dataclass(frozen=True, slots=True)
class Note:
    """One line of the ledger: what happened at a place of the row (empty: to the row).

    ``code`` names the event for programs, like ``duplicate_keys``.
    """

    kind: NoteKind
    place: str
    message: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A value as a file holds it, or the fault that stands in its place.

    ``line`` is where it begins, counted from 1 in ``file``, the member of an archive (empty: the
    file itself). ``source`` tells what the value is: ``json`` any JSON value (also a row of
    Parquet), ``table`` an object of texts (a row of CSV), ``text`` a text (a transcript).
    """

    line: int
    value: Any = None
    fault: str = ""
    fault_code: str = ""
    notes: tuple[Note, ...] = ()
    source: Source = "json"
    file: str = ""
