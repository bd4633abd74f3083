"""Rows from JSON Lines, from a JSON array, or from JSON objects one after another.

What the file is, is told from its first bytes, whatever its name. Memory holds one row at a time.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import BinaryIO

from apps.dialogue.file_containers.byte_stream import (
    LONGEST_LINE,
    Unreadable,
    lines_of,
    pieces_of,
)
from apps.dialogue.file_containers.json_text import Decoder, documents, reason
from apps.dialogue.file_containers.rows import Note, Row

_FOREIGN = (
    (b"version https://git-lfs", "a Git LFS pointer, not the file itself", "lfs_pointer"),
    (b"<", "an HTML or XML page, not data", "html"),
    (b"PK\x03\x04", "a ZIP file; unpack it first", "zip"),
    (b"PAR1", "a Parquet file, which is not read yet", "parquet"),
)
_FOREIGN_NAMES = (".csv", ".tsv", ".txt", ".md", ".xlsx", ".yaml", ".yml")


def json_rows(stream: BinaryIO | Iterable[bytes], file_name: str = "") -> Iterator[Row]:
    """Read the rows of a stream; a file that is no JSON at all is one row with its fault."""
    notes: list[Note] = []
    line = 0
    try:
        for row in _rows(pieces_of(stream, notes), file_name):
            line = row.line
            yield replace(row, notes=(*notes, *row.notes)) if notes else row
            notes.clear()
    except Unreadable as error:
        yield Row(line + 1, fault=str(error), fault_code="bad_encoding", notes=tuple(notes))
        return
    if not line:
        yield Row(1, fault="the file is empty", fault_code="empty_file", notes=tuple(notes))


def _rows(pieces: Iterator[bytes], file_name: str) -> Iterator[Row]:
    pieces, start = _first_line(pieces)
    if foreign := _foreign(start, file_name):
        yield Row(1, fault=f"the file is {foreign[0]}", fault_code=foreign[1])
    elif start.startswith(b"["):
        yield from documents(pieces)
    elif _goes_on_below(start):
        yield from _documents_or_lines(pieces)
    else:
        yield from _lines(pieces)


def _first_line(pieces: Iterator[bytes]) -> tuple[Iterator[bytes], bytes]:
    """Return the pieces again, and the first line that is not blank."""
    held: list[bytes] = []
    size = 0
    begun = False
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        rest = piece if begun else piece.lstrip()
        begun = begun or bool(rest)
        if b"\n" in rest or size > LONGEST_LINE:
            break
    start = b"".join(held)
    return chain([start], pieces), start.lstrip().partition(b"\n")[0].rstrip()


def _foreign(start: bytes, file_name: str) -> tuple[str, str] | None:
    for signature, what, code in _FOREIGN:
        if start.startswith(signature):
            return what, code
    suffix = next((each for each in _FOREIGN_NAMES if file_name.lower().endswith(each)), "")
    if suffix and start and start[:1] not in (b"{", b"["):
        return f"no JSON; files like *{suffix} are not read yet", "not_json"
    return None


def _goes_on_below(start: bytes) -> bool:
    """Whether the first line is only the beginning of a value, as in pretty-printed JSON."""
    try:
        Decoder().decode(start.decode())
    except json.JSONDecodeError as error:
        return error.pos >= len(error.doc) > 0
    except (ValueError, RecursionError):
        return False
    return False


def _documents_or_lines(pieces: Iterator[bytes]) -> Iterator[Row]:
    """Read a value that goes on below its first line; if it is none, that line was just broken."""
    seen: list[bytes] = []
    rows = documents(_recorded(pieces, seen))
    first = next(rows)
    if first.fault:
        yield from _lines(chain(seen, pieces))
        return
    seen.clear()
    yield first
    yield from rows


def _recorded(pieces: Iterator[bytes], seen: list[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        seen.append(piece)
        yield piece


def _lines(pieces: Iterator[bytes]) -> Iterator[Row]:
    decoder = Decoder()
    for number, raw in enumerate(lines_of(pieces), start=1):
        if raw is None:
            fault = f"the line is longer than {LONGEST_LINE >> 20} MiB"
            yield Row(number, fault=fault, fault_code="too_long")
        elif stripped := raw.strip():
            yield _line(decoder, number, stripped)


def _line(decoder: Decoder, number: int, raw: bytes) -> Row:
    try:
        text = raw.decode()
        value, end = decoder.decode(text)
    except UnicodeDecodeError as error:
        fault = f"the line is not UTF-8 at its byte {error.start + 1}"
        return Row(number, fault=fault, fault_code="bad_encoding")
    except (ValueError, RecursionError) as error:
        fault = f"the line {reason(error)}"
        if isinstance(error, json.JSONDecodeError):
            fault += f" (character {error.pos + 1})"
        return Row(number, fault=fault, fault_code="bad_json")
    if end < len(text):
        fault = f"the line is not JSON: more follows after the value (character {end + 1})"
        return Row(number, fault=fault, fault_code="bad_json")
    return decoder.row(number, value)
