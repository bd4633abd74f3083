"""What would become of a file, decided row by row without writing a task or holding a lock."""

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any, BinaryIO

from django.db import transaction

from apps.dialogue.column_mapping import parse_mapping
from apps.dialogue.file_formats import ReadRow, read_tasks
from apps.tasks import leases
from apps.tasks.actions.bulk import Known, known_tasks
from apps.tasks.actions.deciding import Decider, PreparedRow, batches, keys_of, prepare
from apps.tasks.content import canonical_json
from apps.tasks.ledgers import CREATED, UPDATED, Ledger, LedgerLine, LedgerWriter, Tally
from apps.tasks.models import Environment, Import, ImportState, Split
from apps.tasks.transfer_files import held_file, proposal_of, unfinished_proposal

TOLD_EVERY = 1.0
"""Seconds between two reports of how far the reading has come."""


def propose(imported: Import, should_stop: leases.ShouldStop) -> None:
    """Read the held file of an import whose lease is held, from its beginning, into a proposal.

    Raises `LeaseLost`, `Stopped`, or what keeps the file from being read at all.
    """
    split = imported.environment.splits.filter(name=imported.split).first()
    unfinished = Ledger(unfinished_proposal(imported))
    try:
        with (
            held_file(imported).open("rb") as stream,
            closing(LedgerWriter(unfinished.folder, with_contents=True)) as writer,
        ):
            progress = _Progress(imported, stream, should_stop)
            decided = decide_rows(
                imported.environment, split, read_held(imported, stream), update=imported.update
            )
            for lines in decided:
                writer.append(lines)
                progress.tell(line for line, _ in lines)
        with transaction.atomic():
            columns = {**progress.columns(), "bytes_read": imported.bytes_total}
            leases.finish(imported, ImportState.PROPOSED, error="", **columns)
            whole = proposal_of(imported)
            whole.remove()
            unfinished.folder.rename(whole.folder)
    finally:
        unfinished.remove()


def read_held(imported: Import, stream: BinaryIO) -> Iterator[ReadRow]:
    """The rows of the held file, with the mapping and the corrections of roles."""
    options = read_options(imported.mapping, imported.roles)
    return read_tasks(stream, format=imported.format, file_name=imported.file_name, **options)


def read_options(
    mapping: Mapping[str, Any] | None, roles: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The options of a reading; raises a `DialogueError` for a mapping that is wrong."""
    options: dict[str, Any] = {}
    if mapping is not None:
        options["mapping"] = parse_mapping(mapping)
    if roles:
        options["roles"] = roles
    return options


def mapping_text(mapping: Mapping[str, Any] | None) -> str:
    """A column mapping as an import keeps it: JSON text, empty for none."""
    return "" if mapping is None else canonical_json(mapping)


def decide_rows(
    environment: Environment, split: Split | None, rows: Iterable[ReadRow], *, update: bool
) -> Iterator[list[tuple[LedgerLine, str]]]:
    """What would become of ``rows``, batch by batch, each with the content it would have.

    Rows see what the rows before them would have written. That is remembered in a temporary
    database, so that memory stays flat.
    """
    decider = Decider(environment, split, update)
    number = 0
    with closing(_Written()) as written:
        for batch in batches(map(prepare, rows)):
            known = written.over(known_tasks(environment, keys_of(batch)), keys_of(batch))
            lines = []
            for row in batch:
                row.row = number
                number += 1
                there = known.get(row.new.key) if row.new else None
                lines.append(decider.decide(row, there))
            written.note(decider, batch, lines, known)
            yield [
                (line, row.new.stored.content if row.new else "")
                for row, line in zip(batch, lines, strict=True)
            ]


class _Written:
    """What the rows so far would have written, by key."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("", isolation_level=None)  # a temporary file
        self._database.executescript(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
            "CREATE TABLE written (key TEXT PRIMARY KEY, pk, split, status, hash) WITHOUT ROWID;"
        )

    def over(self, known: dict[str, Known], keys: list[str]) -> dict[str, Known]:
        """``known`` as it would be by now."""
        marks = ", ".join("?" * len(keys))
        rows = self._database.execute(
            f"SELECT key, pk, split, status, hash FROM written WHERE key IN ({marks})",  # noqa: S608
            keys,
        )
        later = {
            key: Known(pk, split, status, hash_, "", "") for key, pk, split, status, hash_ in rows
        }
        return {**known, **later}

    def note(
        self,
        decider: Decider,
        batch: list[PreparedRow],
        lines: list[LedgerLine],
        known: dict[str, Known],
    ) -> None:
        self._database.execute("BEGIN")
        self._database.executemany(
            "INSERT OR REPLACE INTO written VALUES (?, ?, ?, ?, ?)",
            [
                (
                    line.key,
                    known[row.new.key].pk if row.new.key in known else 0,
                    decider.split_id,
                    line.status,
                    row.new.stored.content_hash,
                )
                for row, line in zip(batch, lines, strict=True)
                if row.new and line.outcome in (CREATED, UPDATED)
            ],
        )
        self._database.execute("COMMIT")

    def close(self) -> None:
        self._database.close()


class _Progress:
    """Counts lines, and tells the row about once a second how far the reading is."""

    def __init__(self, imported: Import, stream: BinaryIO, should_stop: leases.ShouldStop) -> None:
        self.imported, self.stream, self.should_stop = imported, stream, should_stop
        self.tally = Tally()
        self.told = time.monotonic()

    def tell(self, lines: Iterable[LedgerLine]) -> None:
        for line in lines:
            self.tally.add(line)
        if self.should_stop():
            raise leases.Stopped
        if time.monotonic() - self.told >= TOLD_EVERY:
            at = max(self.imported.bytes_read, _position(self.stream))
            leases.keep(self.imported, bytes_read=at, **self.columns())
            self.told = time.monotonic()

    def columns(self) -> dict[str, Any]:
        return {**self.tally.columns(), "rows_read": self.tally.rows}


def _position(stream: BinaryIO) -> int:
    return 0 if stream.closed else stream.tell()
