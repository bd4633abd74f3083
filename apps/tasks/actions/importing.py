"""Rows that people bring become tasks, in one pass and in batches; every row is accounted for."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, BinaryIO

from django.db import transaction

from apps.accounts.actions import record
from apps.accounts.errors import Conflict, Invalid
from apps.accounts.permissions import Actor, Right, require
from apps.dialogue.file_formats import AUTO, ReadRow, read_tasks
from apps.tasks import leases
from apps.tasks.actions.bulk import Known, NewTask, insert_tasks, known_tasks
from apps.tasks.actions.deciding import Decider, PreparedRow, batches, keys_of, prepare
from apps.tasks.actions.proposing import decide_rows, mapping_text, read_options
from apps.tasks.actions.tasks import save_revision
from apps.tasks.garbage import collected_rarely
from apps.tasks.ledgers import CREATED, REFUSED, UPDATED, LedgerLine, LedgerWriter, Tally
from apps.tasks.models import Environment, Import, ImportState, Split, Task
from apps.tasks.transfer_files import forget_import, ledger_of

LONGEST_NAME = 255

MOST_LINES = 2000
"""Lines of each sort (refused, other) that a ledger in memory keeps; all of them are counted."""


@dataclass(slots=True)
class ImportLedger:
    """What became of the rows, counted; the first lines of each sort are kept to be read.

    ``imported``, of that ``number``, is the import that wrote them; None if none was to be written.
    """

    tally: Tally = field(default_factory=Tally)
    lines: list[LedgerLine] = field(default_factory=list)
    lines_left_out: int = 0
    imported: Import | None = None

    @property
    def number(self) -> int | None:
        return None if self.imported is None else self.imported.pk

    @property
    def read(self) -> int:
        return self.tally.rows

    @property
    def created(self) -> int:
        return self.tally.created

    @property
    def updated(self) -> int:
        return self.tally.updated

    @property
    def unchanged(self) -> int:
        return self.tally.unchanged

    @property
    def refused(self) -> int:
        return self.tally.refused

    @property
    def drafts(self) -> int:
        return self.tally.drafts

    def add(self, line: LedgerLine) -> None:
        before = self.refused if line.outcome == REFUSED else self.read - self.refused
        self.tally.add(line)
        if before < MOST_LINES:
            self.lines.append(line)
        else:
            self.lines_left_out += 1


def import_file(
    *,
    actor: Actor,
    environment: Environment,
    split: Split,
    stream: BinaryIO | Iterable[bytes],
    file_name: str = "",
    format: str = AUTO,  # noqa: A002 - the word of the command line
    mapping: Mapping[str, Any] | None = None,
    update: bool = False,
    on_line: Callable[[LedgerLine], None] | None = None,
) -> ImportLedger:
    """Read a file as it streams in and write its rows: see `import_rows`.

    Raises a `DialogueError` for an unknown format or a mapping that is wrong.
    """
    require(actor, environment.project, Right.AUTHOR)
    options = read_options(mapping, None)
    return import_rows(
        actor=actor,
        environment=environment,
        split=split,
        rows=read_tasks(stream, format=format, file_name=file_name, **options),
        update=update,
        on_line=on_line,
        file_name=file_name,
        format=format,
        mapping=mapping,
    )


def rehearse_import(
    *,
    actor: Actor,
    environment: Environment,
    split: Split | None,
    stream: BinaryIO | Iterable[bytes],
    file_name: str = "",
    format: str = AUTO,  # noqa: A002 - the word of the command line
    mapping: Mapping[str, Any] | None = None,
    update: bool = False,
    on_line: Callable[[LedgerLine], None] | None = None,
) -> ImportLedger:
    """What `import_file` would do (None: to a split that is not there yet); nothing is kept."""
    require(actor, environment.project, Right.AUTHOR)
    options = read_options(mapping, None)
    rows = read_tasks(stream, format=format, file_name=file_name, **options)
    ledger = ImportLedger()
    with collected_rarely():
        for lines in decide_rows(environment, split, rows, update=update):
            for line, _ in lines:
                ledger.add(line)
                if on_line:
                    on_line(line)
    return ledger


def import_rows(
    *,
    actor: Actor,
    environment: Environment,
    split: Split,
    rows: Iterable[ReadRow],
    update: bool = False,
    on_line: Callable[[LedgerLine], None] | None = None,
    file_name: str = "",
    format: str = AUTO,  # noqa: A002 - the word of the command line
    mapping: Mapping[str, Any] | None = None,
) -> ImportLedger:
    """Write ``rows`` as tasks of ``split``, in their order; a bad row never stops a good one.

    A row whose conversation is complete becomes a ready task, any other a draft with a note. A row
    without a key gets one from its content. A key that is there with the same content is left
    alone, so the same file can be imported twice; with other content the row is refused, or with
    ``update`` saved as the task's next revision. An archived task stays so, which a note tells, but
    one that only an undo archived comes back. ``on_line`` sees every line of the ledger as it
    is written. Batches are committed as they come: memory stays flat. ``file_name``, ``format`` and
    ``mapping`` are remembered, and so is everything that was written: it can be undone.
    """
    require(actor, environment.project, Right.AUTHOR)
    if split.environment_id != environment.pk:
        raise Invalid(f"The split {split.name!r} is another environment's.", place="split")
    imported = Import.objects.create(
        environment=environment,
        split=split.name,
        author=str(actor)[:200],
        file_name=shown_name(file_name),
        format=format,
        mapping_text=mapping_text(mapping),
        update=update,
        state=ImportState.WRITING,
        lease_expires_at=leases.until(leases.STREAMED),
        **leases.as_asked_by(actor),
    )
    ledger = ImportLedger(imported=imported)
    with (
        collected_rarely(),
        closing(ImportWriter(actor, imported, split, lease=leases.STREAMED)) as writer,
    ):
        try:
            for batch in batches(map(prepare, rows)):
                for line in writer.write(batch):
                    ledger.add(line)
                    if on_line:
                        on_line(line)
        except BaseException as error:
            writer.break_off(error)
            if isinstance(error, leases.LeaseLost):
                raise Conflict("This import was ended while it was being written.") from error
            raise
        writer.end()
    if not ledger.read:
        Import.objects.filter(pk=imported.pk).delete()
        forget_import(imported.pk)
        ledger.imported = None
    return ledger


def shown_name(file_name: str) -> str:
    """The name of a file as it is kept: what can be shown of it."""
    return "".join(filter(str.isprintable, file_name))[-LONGEST_NAME:]


class ImportWriter:
    """Writes batches of rows for an import whose lease it holds, and its ledger beside them.

    The counters are committed with the tasks. So a writer that begins where another one ended
    counts on from there, and nothing of a batch is kept if the lease was lost.
    """

    def __init__(
        self, actor: Actor, imported: Import, split: Split, *, lease: timedelta | None = None
    ) -> None:
        self.actor, self.imported, self.split = actor, imported, split
        self.environment = imported.environment
        self.lease = lease
        self.tally = Tally.of(imported)
        self._decider = Decider(self.environment, split, imported.update)
        self._ledger = LedgerWriter(
            ledger_of(imported).folder, rows=self.tally.rows, codes=self.tally.codes
        )

    def write(self, batch: list[PreparedRow]) -> list[LedgerLine]:
        """Write a batch, all of it or nothing; raises `LeaseLost`."""
        for number, row in enumerate(batch, self.tally.rows):
            row.row = number
        with transaction.atomic():
            Environment.objects.select_for_update().get(pk=self.environment.pk)
            known = known_tasks(self.environment, keys_of(batch))
            lines = [self._decided(row, known) for row in batch]
            insert_tasks(
                actor=self.actor,
                environment=self.environment,
                split=self.split,
                new=[r.new for r, done in zip(batch, lines, strict=True)
                     if r.new and done.outcome == CREATED],
                message="Imported",
                made_by=self.imported,
            )  # fmt: skip
            for line in lines:
                self.tally.add(line)
            read = max(self.imported.rows_read, self.tally.rows)
            columns = {**self.tally.columns(), "rows_read": read}
            leases.keep(self.imported, lease=self.lease, **columns)
            self._ledger.append((line, "") for line in lines)
        return lines

    def end(self) -> None:
        """Everything is written; what was held for it may go."""
        with transaction.atomic():
            leases.finish(self.imported, ImportState.DONE, has_file=False)
            self._record()

    def break_off(self, error: BaseException) -> None:
        """What was written stays, and can be undone."""
        if isinstance(error, leases.LeaseLost):
            return
        told = getattr(error, "message", "") or "It was broken off."
        with transaction.atomic():
            leases.finish(self.imported, ImportState.FAILED, error=told)
            self._record()

    def close(self) -> None:
        self._ledger.close()

    def _record(self) -> None:
        if not self.tally.rows:
            return
        record(
            actor=self.actor,
            project=self.environment.project,
            action="task.import",
            subject=f"{self.environment.slug}/{self.split.name}",
            imported=self.imported.pk,
            created=self.tally.created,
            updated=self.tally.updated,
            unchanged=self.tally.unchanged,
            refused=self.tally.refused,
        )

    def _decided(self, row: PreparedRow, known: dict[str, Known]) -> LedgerLine:
        there = known.get(row.new.key) if row.new else None
        line = self._decider.decide(row, there)
        if line.outcome == UPDATED and there is not None and row.new is not None:
            self._save(there, row.new, str(line.status))
        return line

    def _save(self, there: Known, new: NewTask, status: str) -> None:
        """Save a row over the task that has its key, or bring it back from the archive."""
        task = Task.objects.select_related("current").get(pk=there.pk)
        task.environment = self.environment
        if task.current is None:
            raise Conflict(f"Task {task.key!r} has no content yet.", place="key")
        save_revision(
            actor=self.actor,
            task=task,
            base=task.current.number,
            content=new.content,
            message="Imported",
            status=status,
            made_by=self.imported,
        )
