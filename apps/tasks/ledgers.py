"""The ledger of an import on disk: a line for every row of the file, found by number or by filter.

A folder holds ``ledger.jsonl`` (a JSON line per row), ``contents`` (the proposed content of each
row that has one, while it waits to be accepted) and ``index``, a record of fixed size per row
that says where its line and its content begin, and by which filters it is found. So a page costs
the same at any depth, and a half-written end is cut off by the number of rows that count.
"""

import json
import shutil
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Final, get_args

from pydantic_core import PydanticSerializationError, to_json

from apps.accounts.errors import Gone
from apps.dialogue.file_formats import Note
from apps.dialogue.file_formats.base import NoteKind
from apps.tasks.models import Import
from apps.tasks.private_folders import make_private

CREATED, UPDATED, UNCHANGED, REFUSED = "created", "updated", "unchanged", "refused"
OUTCOMES: Final = (CREATED, UPDATED, UNCHANGED, REFUSED)
KINDS: Final[tuple[str, ...]] = get_args(NoteKind)

_RECORD = struct.Struct("<QQBBQ")  # line's offset, content's end, outcome, kinds, codes
_OTHER_CODES = 63  # the bit that all codes after the 63rd share; their lines are looked into
_CHUNK = 4096


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """What became of one row: ``outcome`` is created, updated, unchanged or refused.

    ``line`` counts from 1 in ``file`` (the member of an archive, mostly empty), ``row`` from 0
    through everything that was read. ``status`` is the task's status afterwards (None for a refused
    row). ``roles`` has a letter for each turn, ``summary`` the first words.
    """

    line: int
    key: str | None
    outcome: str
    status: str | None
    notes: tuple[Note, ...]
    row: int = 0
    file: str = ""
    format: str | None = None
    roles: str = ""
    turns: int = 0
    summary: str = ""


@dataclass(slots=True)
class Tally:
    """Rows counted by outcome, and by the kinds and codes of their notes."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    refused: int = 0
    drafts: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, imported: Import) -> "Tally":
        """The counters of an import as they stand, to go on counting."""
        return cls(
            created=imported.created,
            updated=imported.updated,
            unchanged=imported.unchanged,
            refused=imported.refused,
            drafts=imported.drafts,
            kinds=Counter(imported.kinds),
            codes=Counter(dict(imported.codes)),
        )

    @property
    def rows(self) -> int:
        return self.created + self.updated + self.unchanged + self.refused

    def add(self, line: LedgerLine) -> None:
        setattr(self, line.outcome, getattr(self, line.outcome) + 1)
        self.drafts += line.status == "draft" and line.outcome in (CREATED, UPDATED)
        if line.notes:
            self.kinds.update({note.kind for note in line.notes})
            self.codes.update({note.code: 1 for note in line.notes if note.code})

    def columns(self) -> dict[str, Any]:
        """The counters as an import has them."""
        return {
            "created": self.created,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "refused": self.refused,
            "drafts": self.drafts,
            "kinds": dict(self.kinds),
            "codes": [[code, rows] for code, rows in self.codes.items()],
        }


class LedgerWriter:
    """Appends to the first ``rows`` lines of a ledger; what lies beyond them is cut off.

    ``codes`` are those that it has met, in their order.
    """

    def __init__(
        self, folder: Path, *, rows: int = 0, codes: Iterable[str] = (), with_contents: bool = False
    ) -> None:
        make_private(folder)
        self._bits = {code: min(bit, _OTHER_CODES) for bit, code in enumerate(codes)}
        kept = Ledger(folder)
        self._line_end, self._content_end = kept.ends(rows)
        self._lines = _opened_at(kept.lines_path, self._line_end)
        self._index = _opened_at(kept.index_path, rows * _RECORD.size)
        self._contents = (
            _opened_at(kept.contents_path, self._content_end) if with_contents else None
        )

    def append(self, lines: Iterable[tuple[LedgerLine, str]]) -> None:
        """Append lines, each with the content it proposes (JSON text, or empty)."""
        texts, contents, records = [], [], []
        for line, content in lines:
            text = _line_text(line)
            if self._contents is not None and content:
                encoded = content.encode()
                contents.append(encoded)
                self._content_end += len(encoded)
            records.append(_RECORD.pack(self._line_end, self._content_end, *self._marks(line)))
            texts.append(text)
            self._line_end += len(text)
        self._lines.write(b"".join(texts))
        self._index.write(b"".join(records))
        if self._contents is not None:
            self._contents.write(b"".join(contents))
        for file in self._files():
            file.flush()

    def _marks(self, line: LedgerLine) -> tuple[int, int, int]:
        kinds = codes = 0
        for note in line.notes:
            kinds |= 1 << KINDS.index(note.kind)
            if note.code:
                bit = self._bits.setdefault(note.code, min(len(self._bits), _OTHER_CODES))
                codes |= 1 << bit
        return OUTCOMES.index(line.outcome), kinds, codes

    def close(self) -> None:
        for file in self._files():
            file.close()

    def _files(self) -> list[BinaryIO]:
        files = [self._lines, self._index]
        return files if self._contents is None else [*files, self._contents]


@dataclass(frozen=True, slots=True)
class LedgerPage:
    """Some lines of a ledger, and the row that the next page begins at."""

    lines: list[LedgerLine]
    next: int | None


@dataclass(frozen=True, slots=True)
class Ledger:
    """A ledger to be read; the folder may be gone or empty."""

    folder: Path

    @property
    def lines_path(self) -> Path:
        return self.folder / "ledger.jsonl"

    @property
    def contents_path(self) -> Path:
        return self.folder / "contents"

    @property
    def index_path(self) -> Path:
        return self.folder / "index"

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def ends(self, rows: int) -> tuple[int, int]:
        """Where the lines and the contents of the first ``rows`` rows end, in bytes."""
        if rows == 0:
            return 0, 0
        if not self.index_path.exists() or self.index_path.stat().st_size < rows * _RECORD.size:
            raise Gone("The ledger of this import is no longer there as a whole.")
        with self.index_path.open("rb") as index, self.lines_path.open("rb") as lines:
            record = _record_at(index, rows - 1)
            lines.seek(record[0])
            return record[0] + len(lines.readline()), record[1]

    def page(
        self,
        *,
        after: int,
        limit: int,
        rows: int,
        outcome: str = "",
        kind: str = "",
        code: str = "",
        codes: Sequence[str] = (),
    ) -> LedgerPage:
        """Up to ``limit`` lines from row ``after`` on, of the first ``rows``, that fit the filters.

        ``codes`` are all codes of the ledger in the order in which it met them.
        """
        if not self.index_path.exists():
            return LedgerPage([], None)
        wanted = _Wanted.of(outcome, kind, code, codes)
        found: list[LedgerLine] = []
        with self.index_path.open("rb") as index, self.lines_path.open("rb") as lines:
            for row, record in _records(index, after, rows):
                if not wanted.fits(record):
                    continue
                if len(found) == limit:
                    return LedgerPage(found, row)
                lines.seek(record[0])
                line = _line_of(lines.readline(), row)
                if not code or any(note.code == code for note in line.notes):
                    found.append(line)
        return LedgerPage(found, None)

    def content_at(self, row: int) -> str:
        """The proposed content of a row as JSON text, empty if it has none."""
        if not self.contents_path.exists():
            return ""
        with self.index_path.open("rb") as index, self.contents_path.open("rb") as contents:
            start = _record_at(index, row - 1)[1] if row else 0
            contents.seek(start)
            return contents.read(_record_at(index, row)[1] - start).decode()

    def proposals(self, after: int, rows: int) -> Iterator[tuple[LedgerLine, str]]:
        """Lines from row ``after`` on with the content that each proposes."""
        with (
            self.index_path.open("rb") as index,
            self.lines_path.open("rb") as lines,
            self.contents_path.open("rb") as contents,
        ):
            line_end, content_end = self.ends(after)
            lines.seek(line_end)
            contents.seek(content_end)
            for row, record in _records(index, after, rows):
                line = _line_of(lines.readline(), row)
                yield line, contents.read(record[1] - content_end).decode()
                content_end = record[1]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Filters as an index knows them; -1 and 0 stand for any."""

    outcome: int
    kinds: int
    codes: int
    nothing: bool

    @classmethod
    def of(cls, outcome: str, kind: str, code: str, codes: Sequence[str]) -> "_Wanted":
        unknown = bool(code) and code not in codes
        bit = min(codes.index(code), _OTHER_CODES) if code and not unknown else None
        return cls(
            outcome=OUTCOMES.index(outcome) if outcome else -1,
            kinds=1 << KINDS.index(kind) if kind else 0,
            codes=0 if bit is None else 1 << bit,
            nothing=unknown,
        )

    def fits(self, record: tuple[int, int, int, int, int]) -> bool:
        _, _, outcome, kinds, codes = record
        return (
            not self.nothing
            and self.outcome in (-1, outcome)
            and (not self.kinds or bool(kinds & self.kinds))
            and (not self.codes or bool(codes & self.codes))
        )


def _records(
    index: BinaryIO, after: int, rows: int
) -> Iterator[tuple[int, tuple[int, int, int, int, int]]]:
    index.seek(after * _RECORD.size)
    while after < rows and (chunk := index.read(_CHUNK * _RECORD.size)):
        whole = chunk[: len(chunk) - len(chunk) % _RECORD.size]
        for record in islice(_RECORD.iter_unpack(whole), rows - after):
            yield after, record
            after += 1


def _record_at(index: BinaryIO, row: int) -> tuple[int, int, int, int, int]:
    index.seek(row * _RECORD.size)
    return _RECORD.unpack(index.read(_RECORD.size))


def _opened_at(path: Path, end: int) -> BinaryIO:
    """The file, cut off at ``end`` and open for appending there."""
    file = path.open("r+b" if path.exists() else "w+b")
    file.truncate(end)
    file.seek(end)
    return file


def _line_text(line: LedgerLine) -> bytes:
    notes = [(note.kind, note.place, note.message, note.code) for note in line.notes]
    told = [
        line.line, line.key, line.outcome, line.status, notes, line.file, line.format,
        line.roles, line.turns, line.summary,
    ]  # fmt: skip
    try:
        return to_json(told) + b"\n"
    except PydanticSerializationError:  # half a surrogate pair in a name that a note quotes
        text = json.dumps(told, ensure_ascii=False)
        return text.encode("utf-8", "replace") + b"\n"


def _line_of(text: bytes, row: int) -> LedgerLine:
    number, key, outcome, status, notes, file, format_, roles, turns, summary = json.loads(text)
    return LedgerLine(
        line=number,
        key=key,
        outcome=outcome,
        status=status,
        notes=tuple(Note(*note) for note in notes),
        row=row,
        file=file,
        format=format_,
        roles=roles,
        turns=turns,
        summary=summary,
    )
