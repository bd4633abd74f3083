"""Rows of any file: what it is, is told from its first bytes, and from its name where they leave
a doubt. Memory holds one row at a time.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import BinaryIO

from apps.dialogue.file_containers.byte_stream import LONGEST_LINE, Unreadable, pieces_of
from apps.dialogue.file_containers.json_documents import documents
from apps.dialogue.file_containers.json_lines import json_lines
from apps.dialogue.file_containers.json_text import Decoder
from apps.dialogue.file_containers.json_wrapping import unwrapped
from apps.dialogue.file_containers.parquet_rows import parquet_rows
from apps.dialogue.file_containers.rows import Note, Row
from apps.dialogue.file_containers.table_rows import looks_like_a_table, table_rows
from apps.dialogue.file_containers.text_rows import text_rows
from apps.dialogue.file_containers.zip_rows import zip_rows

_FOREIGN = (
    (rb"version https://git-lfs", "a Git LFS pointer, not the file itself", "lfs_pointer"),
    (rb"(?i)<(!doctype|html|head|body|\?xml|svg|!--)", "an HTML or XML page, not data", "html"),
    (rb"PK\x03\x04|PK\x05\x06", "an archive in an archive; unpack one of them", "not_data"),
    (rb"%PDF-", "a PDF document", "not_data"),
    (rb"SQLite format 3\x00", "an SQLite database", "not_data"),
    (rb"BZh[1-9]|\xfd7zXZ\x00|\x28\xb5\x2f\xfd|7z\xbc\xaf|Rar!", "packed in a way that is not "
     "read: unpack it first, or pack it with gzip or ZIP", "not_data"),
    (rb"\xd0\xcf\x11\xe0", "an old Office document", "not_data"),
    (rb"\x89PNG|\xff\xd8\xff|GIF8|RIFF", "a picture or a sound", "not_data"),
    (rb"ARROW1|Obj\x01|ORC", "an Arrow, Avro or ORC file, which is not read: bring Parquet",
     "not_data"),
    (rb"\x80[\x02-\x05]", "a Python pickle, which is never opened", "not_data"),
)  # fmt: skip
_TABLES = {".csv": "", ".tsv": "\t", ".tab": "\t"}
_LINES = (".jsonl", ".ndjson", ".jsonlines")
_JSON = (".json", *_LINES)
_TEXTS = (".txt", ".md", ".markdown", ".text", ".log")
_HEAD = 1 << 16
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a]")
_ARRAY = re.compile(rb"\[\s*([\[{\"\],]|$|(null|true|false|NaN|-?Infinity|-?\d[\d.eE+-]*)\s*,)")
"""How a JSON array begins; ``[09:14] Priya`` and ``[1] a footnote`` begin a text."""


def file_rows(
    stream: BinaryIO | Iterable[bytes], file_name: str = "", *, in_archive: bool = False
) -> Iterator[Row]:
    """Read the rows of a stream; a file that holds none is one row with its fault.

    ``stream`` gives bytes in pieces of any size. Every way in which files hold rows is here: JSON
    Lines, JSON in all its wrappings, tables, texts, Parquet, ZIP; gzip and UTF-16 are undone.
    An archive in an archive is not opened.
    """
    notes: list[Note] = []
    line = 0
    try:
        for row in _rows(pieces_of(stream, notes), _plain_name(file_name), in_archive):
            line = row.line
            yield replace(row, notes=(*notes, *row.notes)) if notes else row
            notes.clear()
    except Unreadable as error:
        yield Row(line + 1, fault=str(error), fault_code=error.code, notes=tuple(notes))
        return
    if not line:
        yield Row(1, fault="the file is empty", fault_code="empty_file", notes=tuple(notes))


def _plain_name(file_name: str) -> str:
    return file_name.lower().removesuffix(".gz")


def _rows(pieces: Iterator[bytes], name: str, in_archive: bool) -> Iterator[Row]:
    pieces, start = _first_line(pieces)
    if start.startswith(b"PAR1"):
        yield from parquet_rows(pieces)
    elif start.startswith((b"PK\x03\x04", b"PK\x05\x06")) and not in_archive:
        yield from zip_rows(pieces, partial(file_rows, in_archive=True))
    elif foreign := _foreign(start):
        yield Row(1, fault=f"the file is {foreign[0]}", fault_code=foreign[1])
    else:
        yield from _text(pieces, start, name)


def _text(pieces: Iterator[bytes], start: bytes, name: str) -> Iterator[Row]:
    if name.endswith(tuple(_TABLES)):
        suffix = next(each for each in _TABLES if name.endswith(each))
        yield from table_rows(pieces, _TABLES[suffix])
    elif not start:
        return
    elif _ARRAY.match(start):
        yield from _from_array(pieces, name)
    elif start.startswith(b"{") or name.endswith(_JSON):
        yield from _from_objects(pieces, start, name)
    elif name.endswith((".yaml", ".yml")):
        yield Row(1, fault="the file is YAML, which is not read", fault_code="not_data")
    elif name.endswith(_TEXTS):
        yield from text_rows(pieces)
    else:
        yield from _unnamed(pieces)


def _unnamed(pieces: Iterator[bytes]) -> Iterator[Row]:
    """Read a text of which only its beginning can tell whether it is a table."""
    head = next(pieces, b"")
    pieces = chain([head], pieces)
    sample = head if len(head) <= _HEAD else head[:_HEAD].rpartition(b"\n")[0] or head[:_HEAD]
    is_table = looks_like_a_table(sample.decode(errors="replace").lstrip())
    return table_rows(pieces) if is_table else text_rows(pieces)


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


def _foreign(start: bytes) -> tuple[str, str] | None:
    for signature, what, code in _FOREIGN:
        if re.match(signature, start):
            return what, code
    if start[:1] not in (b"{", b"[") and _BINARY.search(start[:1024]):
        return "binary, and of no kind that is read", "not_data"
    return None


def _from_array(pieces: Iterator[bytes], name: str) -> Iterator[Row]:
    rows = _unwrapped(documents(pieces))
    if name.endswith(_LINES):
        note = Note("converted", "", "the file is an array, not JSON Lines", "array_in_jsonl")
        return _noted(rows, note)
    return rows


def _from_objects(pieces: Iterator[bytes], start: bytes, name: str) -> Iterator[Row]:
    if _goes_on_below(start):
        return _unwrapped(_documents_or_lines(pieces))
    rows = json_lines(pieces)
    return _unwrapped(_several_in_json(rows) if name.endswith(".json") else rows)


def _unwrapped(rows: Iterator[Row]) -> Iterator[Row]:
    for row in rows:
        yield from unwrapped(row)


def _noted(rows: Iterator[Row], note: Note) -> Iterator[Row]:
    for row in rows:
        yield replace(row, notes=(note, *row.notes))
        break
    yield from rows


def _several_in_json(rows: Iterator[Row]) -> Iterator[Row]:
    """Note at the first row that a file named as one JSON value is JSON Lines."""
    first = next(rows, None)
    if first is None:
        return
    second = next(rows, None)
    if second is None:
        yield first
        return
    note = Note("converted", "", "the file is JSON Lines, not one JSON value", "jsonl_in_json")
    yield replace(first, notes=(note, *first.notes))
    yield second
    yield from rows


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
        yield from json_lines(chain(seen, pieces))
        return
    seen.clear()
    yield first
    yield from rows


def _recorded(pieces: Iterator[bytes], seen: list[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        seen.append(piece)
        yield piece
