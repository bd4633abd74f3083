"""Bytes as files bring them: in pieces of any size, zipped or not, in UTF-8 or UTF-16."""

import codecs
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO, cast

from apps.dialogue.file_containers.rows import Note

PIECE = 1 << 16
LONGEST_LINE = 64 << 20
"""Bytes of the longest row we read into memory."""

LARGEST_RATIO = 300
"""Times that a packed file may grow; data rarely grows twentyfold, a bomb a thousandfold."""

_FREE = 64 << 20
"""Bytes of a packed file that may grow as they like."""

_BOMB = f"the gzip file grows more than {LARGEST_RATIO} times: it may be a bomb"
_GZIP = b"\x1f\x8b"
_WIDE_MARKS = (
    # The mark of UTF-32 begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PLAIN = frozenset((0, *b"\t\n\r", *range(0x20, 0x7F)))
_WIDE_ZEROS: dict[tuple[bool, ...], str] = {
    (True, False, True, False): "utf-16-le",
    (False, True, False, True): "utf-16-be",
    (True, False, False, False): "utf-32-le",
    (False, False, False, True): "utf-32-be",
}


class Unreadable(ValueError):
    """The file, or the rest of it, cannot be read; the message says why, ``code`` in a word."""

    def __init__(self, message: str, code: str = "bad_encoding") -> None:
        super().__init__(message)
        self.code = code


def pieces_of(stream: BinaryIO | Iterable[bytes], notes: list[Note]) -> Iterator[bytes]:
    """Return the bytes of a stream as UTF-8 without a mark in front; notes what was undone.

    The pieces raise ``Unreadable`` where a gzip file or UTF-16 is broken.
    """
    read = getattr(stream, "read", None)
    pieces: Iterator[bytes] = iter(lambda: read(PIECE), b"") if read else iter(stream)
    pieces, head = _peek(pieces, 2)
    if head.startswith(_GZIP):
        notes.append(Note("converted", "", "the file was unpacked (gzip)", "gzip"))
        pieces = _unzipped(pieces)
    pieces, head = _peek(pieces, 4)
    if head.startswith(codecs.BOM_UTF8):
        notes.append(Note("dropped", "", "the byte order mark in front", "bom"))
        return _without(pieces, len(codecs.BOM_UTF8))
    if encoding := _wide_encoding(head):
        name = "UTF-32" if "32" in encoding else "UTF-16"
        said = f"the file was read as {name}"
        notes.append(Note("converted", "", said, name.lower().replace("-", "_")))
        return _recoded(pieces, encoding, name)
    return pieces


def _wide_encoding(head: bytes) -> str:
    """Return the encoding of a text whose characters have two or four bytes, else nothing.

    Without a mark it is told by the zeros around its first two characters, which are ASCII in all
    that we read (RFC 4627, section 3).
    """
    for mark, encoding in _WIDE_MARKS:
        if head.startswith(mark):
            return encoding
    first = head[:4]
    if not set(first) <= _PLAIN:
        return ""
    return _WIDE_ZEROS.get(tuple(bool(byte) for byte in first), "")


def lines_of(pieces: Iterator[bytes]) -> Iterator[bytes | None]:
    """Split at line feeds only; a line that is too long is None and not kept in memory."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        first, *others = piece.split(b"\n")
        held.append(first)
        size += len(first)
        if size > LONGEST_LINE:
            held.clear()
        for following in others:
            yield None if size > LONGEST_LINE else b"".join(held)
            held = [following]
            size = len(following)
    if size:
        yield None if size > LONGEST_LINE else b"".join(held)


def spooled(pieces: Iterable[bytes]) -> BinaryIO:
    """Return the bytes as a temporary file that can be sought in; it goes when it is closed."""
    held = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    try:
        for piece in pieces:
            held.write(piece)
    except BaseException:
        held.close()
        raise
    held.seek(0)
    return cast("BinaryIO", held)


def _peek(pieces: Iterator[bytes], count: int) -> tuple[Iterator[bytes], bytes]:
    """Return the pieces again, and the first bytes: ``count`` of them or as many as there are."""
    head = b""
    for piece in pieces:
        head += piece
        if len(head) >= count:
            break
    return chain([head], pieces), head


def _without(pieces: Iterator[bytes], count: int) -> Iterator[bytes]:
    yield next(pieces)[count:]
    yield from pieces


def _recoded(pieces: Iterator[bytes], encoding: str, name: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for piece in pieces:
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        raise Unreadable(f"the file is broken {name}: {error}") from None


def _unzipped(pieces: Iterator[bytes]) -> Iterator[bytes]:
    member = zlib.decompressobj(wbits=31)
    begun = False
    packed = size = 0
    try:
        for piece in pieces:
            rest = piece
            packed += len(piece)
            while rest:
                if member.eof:
                    member = zlib.decompressobj(wbits=31)
                unpacked = member.decompress(rest, PIECE)
                begun = True
                size += len(unpacked)
                if size > _FREE and size > LARGEST_RATIO * packed:
                    raise Unreadable(_BOMB)
                if unpacked:
                    yield unpacked
                rest = member.unused_data if member.eof else member.unconsumed_tail
    except zlib.error as error:
        raise Unreadable(f"the gzip file is broken: {error}") from None
    if begun and not member.eof:
        raise Unreadable("the gzip file is cut off")
