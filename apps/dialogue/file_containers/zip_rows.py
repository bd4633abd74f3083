"""Rows of the files in a ZIP archive, one file after another; a log of Inspect sample by sample."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from typing import IO, Final

if sys.version_info >= (3, 14):
    import zipfile
else:  # Inspect packs its logs with Zstandard, which the standard library reads since 3.14.
    from backports.zstd import zipfile

from apps.dialogue.file_containers.byte_stream import (
    LARGEST_RATIO,
    LONGEST_LINE,
    PIECE,
    Unreadable,
    spooled,
)
from apps.dialogue.file_containers.json_text import Decoder, reason
from apps.dialogue.file_containers.rows import Note, Row

MOST_MEMBERS: Final = 100_000
LARGEST_TOTAL: Final = 16 << 30
"""Bytes that are unpacked of one archive."""

_FREE: Final = 16 << 20
"""Bytes of a member that may grow as they like."""

_DATA = (
    ".json", ".jsonl", ".ndjson", ".jsonlines", ".csv", ".tsv", ".tab", ".txt", ".md", ".markdown",
    ".text", ".parquet", ".gz", ".zip", ".eval", ".yaml", ".yml",
)  # fmt: skip
_ABOUT = frozenset(("readme", "license", "licence", "copying", "changelog", "citation", "notice"))
_CONVERSATIONS = re.compile(r"conversations(-\d+)?\.json", re.IGNORECASE)
_MARKS = (b'"mapping"', b'"chat_messages"')
"""Keys of a conversation in the exports of ChatGPT and Claude."""

_MOST_NAMED = 10
_BROKEN = (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError, OSError)

MemberRows = Callable[[Iterator[bytes], str], Iterator[Row]]


def zip_rows(pieces: Iterator[bytes], member_rows: MemberRows) -> Iterator[Row]:
    """Read the members of an archive by ``member_rows``; each row says in ``file`` where it was.

    A member that cannot be unpacked is a fault, and the next ones go on. Members that hold no data
    are named in a note. Raises ``Unreadable`` for a broken archive and for one that grows beyond
    all measure.
    """
    with closing(spooled(pieces)) as held:
        try:
            archive = zipfile.ZipFile(held)
        except (*_BROKEN, ValueError) as error:
            raise Unreadable(f"the ZIP file is broken: {error}", "not_data") from None
        members = [each for each in archive.infolist() if _counts(each)]
        if len(members) > MOST_MEMBERS:
            fault = f"the ZIP file holds more than {MOST_MEMBERS} files"
            raise Unreadable(fault, "bad_archive")
        reading = _Archive(archive, members)
        yield from reading.samples() if reading.is_log else reading.rows(member_rows)


class _Archive:
    def __init__(self, archive: zipfile.ZipFile, members: list[zipfile.ZipInfo]) -> None:
        self._archive = archive
        self._members = members
        self._unpacked = 0
        names = {member.filename for member in members}
        self._header = next(
            (name for name in ("header.json", "_journal/start.json") if name in names), ""
        )
        self._is_office = "[Content_Types].xml" in names

    @property
    def is_log(self) -> bool:
        """Whether it is a log of Inspect: a header, and its samples as files."""
        return bool(self._header) and any(_is_sample(each.filename) for each in self._members)

    def rows(self, member_rows: MemberRows) -> Iterator[Row]:
        if self._is_office:
            fault = "the file is an Office document (Excel, Word); save it as CSV or text"
            yield Row(1, fault=fault, fault_code="not_data")
            return
        data = [each for each in self._members if each.filename.lower().endswith(_DATA)]
        data = [each for each in data if not _is_about(each.filename)] or data
        exported = self._exported()
        chosen = exported or data or self._members
        taken = {id(each) for each in chosen}
        left_out = [each.filename for each in self._members if id(each) not in taken]
        why = "they stand beside the conversations" if exported else "by their names without rows"
        notes = [_left_out(left_out, why)] if left_out else []
        for member in chosen:
            for row in self._member(member, member_rows):
                yield replace(row, file=member.filename, notes=(*notes, *row.notes))
                notes.clear()

    def _exported(self) -> list[zipfile.ZipInfo]:
        """Return the conversations of ChatGPT's or Claude's export; its other files are none.

        Those are the person's account, votes, and whatever was sent to the assistant as a file.
        """
        return [
            each
            for each in self._members
            if _CONVERSATIONS.fullmatch(PurePosixPath(each.filename).name)
            and any(mark in self._head(each) for mark in _MARKS)
        ]

    def _head(self, member: zipfile.ZipInfo) -> bytes:
        try:
            with self._opened(member) as opened:
                return next(self._pieces(member, opened), b"")
        except _Refused:
            return b""

    def samples(self) -> Iterator[Row]:
        """Give a row for each sample: the header of the log, with this sample alone."""
        header, fault = self._json(self._header)
        if not fault and not isinstance(header.value, dict):
            fault = "is no object"
        if fault:
            yield Row(1, fault=f"{self._header} {fault}", fault_code="bad_json", file=self._header)
            return
        for member in self._members:
            if not _is_sample(member.filename):
                continue
            row, fault = self._json(member.filename)
            if fault:
                yield Row(1, fault=f"the file {fault}", fault_code="bad_json", file=member.filename)
                continue
            value = {"status": "started", **header.value, "samples": [row.value]}
            yield Row(1, value, notes=row.notes, file=member.filename)

    def _member(self, member: zipfile.ZipInfo, member_rows: MemberRows) -> Iterator[Row]:
        line = 0
        try:
            with self._opened(member) as opened:
                for row in member_rows(self._pieces(member, opened), member.filename):
                    line = row.line
                    yield row
        except _Refused as refused:
            yield Row(line + 1, fault=str(refused), fault_code="bad_archive")

    def _json(self, name: str) -> tuple[Row, str]:
        """Read a member that is one JSON value; returns the row, or why there is none."""
        member = self._archive.getinfo(name)
        try:
            with self._opened(member) as opened:
                read = b""
                for piece in self._pieces(member, opened):
                    read += piece
                    if len(read) > LONGEST_LINE:
                        return Row(1), f"is longer than {LONGEST_LINE >> 20} MiB"
            decoder = Decoder()
            text = read.decode("utf-8-sig").strip()
            value, end = decoder.decode(text)
        except _Refused as refused:
            return Row(1), str(refused)
        except UnicodeDecodeError:
            return Row(1), "is not UTF-8"
        except (ValueError, RecursionError) as error:
            return Row(1), reason(error)
        if text[end:].strip():
            return Row(1), "is not JSON: more follows after the value"
        return decoder.row(1, value, text), ""

    def _opened(self, member: zipfile.ZipInfo) -> IO[bytes]:
        if member.flag_bits & 0x1:
            raise _Refused("is locked with a password")
        try:
            return self._archive.open(member)
        except (*_BROKEN, ValueError, RuntimeError) as error:
            raise _Refused(f"cannot be unpacked: {error}") from None

    def _pieces(self, member: zipfile.ZipInfo, opened: IO[bytes]) -> Iterator[bytes]:
        unpacked = 0
        while True:
            try:
                piece = opened.read(PIECE)
            except Exception as error:  # noqa: BLE001 - zlib, bz2 and lzma each raise their own
                raise _Refused(f"cannot be unpacked: {error}") from None
            if not piece:
                return
            unpacked += len(piece)
            self._unpacked += len(piece)
            if self._unpacked > LARGEST_TOTAL:
                fault = f"the ZIP file unpacks to more than {LARGEST_TOTAL >> 30} GiB"
                raise Unreadable(fault, "bad_archive")
            if unpacked > _FREE and unpacked > LARGEST_RATIO * member.compress_size:
                raise _Refused(f"grows more than {LARGEST_RATIO} times: it may be a bomb")
            yield piece


class _Refused(Exception):
    """A member that is not read; the message goes on after its name."""


def _counts(member: zipfile.ZipInfo) -> bool:
    """Whether a member is a file somebody put there, and not the system."""
    path = PurePosixPath(member.filename)  # a broken archive may have a member without a name
    return not member.is_dir() and "__MACOSX" not in path.parts and not path.name.startswith(".")


def _is_about(name: str) -> bool:
    """Whether a file tells of the others, as its name says: a README, a licence."""
    path = PurePosixPath(name.lower())
    return path.suffix in (".md", ".txt") and path.stem in _ABOUT


def _is_sample(name: str) -> bool:
    return name.startswith("samples/") and name.endswith(".json")


def _left_out(names: list[str], why: str) -> Note:
    named = ", ".join(islice(names, _MOST_NAMED))
    more = len(names) - _MOST_NAMED
    listed = f"{named} and {more} more" if more > 0 else named
    said = f"{len(names)} files of the archive left out, {why}: {listed}"
    return Note("dropped", "", said, "skipped_members")
