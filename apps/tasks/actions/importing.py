"""Rows that people bring become tasks, in one pass and in batches; every row is accounted for."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from django.db import transaction

from apps.accounts.actions import record
from apps.accounts.errors import Conflict, Invalid
from apps.accounts.permissions import Actor, Right, require
from apps.dialogue.errors import DialogueError
from apps.dialogue.file_formats import Note, ReadRow
from apps.tasks.actions.bulk import BATCH, Known, NewTask, insert_tasks, known_tasks
from apps.tasks.actions.tasks import save_revision
from apps.tasks.content import TaskContent, parse_content, ready_problems, store
from apps.tasks.models import Environment, Split, Task, TaskStatus
from apps.tasks.names import check_task_key

MOST_LINES = 2000
"""Lines of each sort (refused, other) that a ledger keeps; all of them are counted."""

CREATED, UPDATED, UNCHANGED, REFUSED = "created", "updated", "unchanged", "refused"


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """What became of one row: ``outcome`` is created, updated, unchanged or refused.

    ``status`` is the task's status afterwards (None for a refused row).
    """

    line: int
    key: str | None
    outcome: str
    status: str | None
    notes: tuple[Note, ...]


@dataclass(slots=True)
class ImportLedger:
    """What became of the rows, counted; the first lines of each sort are kept to be read."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    refused: int = 0
    drafts: int = 0
    lines: list[LedgerLine] = field(default_factory=list)
    lines_left_out: int = 0

    @property
    def read(self) -> int:
        return self.created + self.updated + self.unchanged + self.refused

    def add(self, line: LedgerLine) -> None:
        before = self.refused if line.outcome == REFUSED else self.read - self.refused
        setattr(self, line.outcome, getattr(self, line.outcome) + 1)
        self.drafts += line.status == TaskStatus.DRAFT and line.outcome in (CREATED, UPDATED)
        if before < MOST_LINES:
            self.lines.append(line)
        else:
            self.lines_left_out += 1


@dataclass(slots=True)
class _Row:
    """A row on its way: refused when ``new`` is None, else about to be written."""

    line: int
    notes: list[Note]
    new: NewTask | None = None


def import_rows(
    *,
    actor: Actor,
    environment: Environment,
    split: Split,
    rows: Iterable[ReadRow],
    update: bool = False,
    on_line: Callable[[LedgerLine], None] | None = None,
) -> ImportLedger:
    """Write ``rows`` as tasks of ``split``, in their order; a bad row never stops a good one.

    A row whose conversation is complete becomes a ready task, any other a draft with a note. A row
    without a key gets one from its content. A key that is there with the same content is left
    alone, so the same file can be imported twice; with other content the row is refused, or with
    ``update`` saved as the task's next revision. ``on_line`` sees every line of the ledger as it
    is written. Batches are committed as they come: memory stays flat.
    """
    require(actor, environment.project, Right.AUTHOR)
    if split.environment_id != environment.pk:
        raise Invalid(f"The split {split.name!r} is another environment's.", place="split")
    ledger = ImportLedger()
    batch = _Batch(actor, environment, split, update, ledger, on_line)
    try:
        for row in rows:
            batch.take(_prepared(row))
        batch.write()
    finally:
        if ledger.read:
            record(
                actor=actor,
                project=environment.project,
                action="task.import",
                subject=f"{environment.slug}/{split.name}",
                created=ledger.created,
                updated=ledger.updated,
                unchanged=ledger.unchanged,
                refused=ledger.refused,
            )
    return ledger


@dataclass(slots=True)
class _Batch:
    """Rows that are written together."""

    actor: Actor
    environment: Environment
    split: Split
    update: bool
    ledger: ImportLedger
    on_line: Callable[[LedgerLine], None] | None
    rows: list[_Row] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    def take(self, row: _Row) -> None:
        """Add a row; one key is never twice in a batch, so that the second meets the first."""
        if len(self.rows) >= BATCH or (row.new and row.new.key in self.keys):
            self.write()
        self.rows.append(row)
        if row.new:
            self.keys.add(row.new.key)

    def write(self) -> None:
        with transaction.atomic():
            Environment.objects.select_for_update().get(pk=self.environment.pk)
            known = known_tasks(self.environment, self.keys)
            lines = [self._decided(row, known) for row in self.rows]
            insert_tasks(
                actor=self.actor,
                environment=self.environment,
                split=self.split,
                new=[row.new for row in self.rows if row.new and row.new.key not in known],
                message="Imported",
            )
        for line in lines:
            self.ledger.add(line)
            if self.on_line:
                self.on_line(line)
        self.rows.clear()
        self.keys.clear()

    def _decided(self, row: _Row, known: dict[str, Known]) -> LedgerLine:
        new = row.new
        if new is None:
            return LedgerLine(row.line, None, REFUSED, None, tuple(row.notes))
        there = known.get(new.key)
        if there is None:
            return LedgerLine(row.line, new.key, CREATED, new.status, tuple(row.notes))
        if there.split_id != self.split.pk:
            other = Split.objects.get(pk=there.split_id).name
            fault = f"a task {new.key!r} is in the split {other!r} already"
        elif there.has(new.content, new.stored, new.key):
            return LedgerLine(row.line, new.key, UNCHANGED, there.status, tuple(row.notes))
        elif self.update:
            status = self._saved(there, new)
            return LedgerLine(row.line, new.key, UPDATED, status, tuple(row.notes))
        else:
            fault = f"a task {new.key!r} is there already, with other content"
        notes = (*row.notes, Note("refused", "key", fault, "key_collision"))
        return LedgerLine(row.line, new.key, REFUSED, None, notes)

    def _saved(self, there: Known, new: NewTask) -> str:
        """Save a row over the task that has its key; an archived task stays archived."""
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
            status=task.status if task.status == TaskStatus.ARCHIVED else new.status,
        )
        return task.status


def _prepared(row: ReadRow) -> _Row:
    notes = list(row.notes)
    if row.task is None:
        return _Row(row.line, notes)
    try:
        content = parse_content(
            TaskContent(
                messages=row.task.messages,
                attributes=row.task.attributes,
                tools=row.task.tools,
                tags=row.task.tags,
            )
        )
        stored = store(content, key=row.task.key or "")
        key = row.task.key
        if key is None:
            key = f"row-{hashlib.sha256(stored.content.encode()).hexdigest()[:12]}"
            stored = store(content, key=key)
            said = f"the row names none: {key}, from its content"
            notes.append(Note("invented", "key", said, "no_key"))
        check_task_key(key)
    except (DialogueError, Invalid) as error:
        notes.append(Note("refused", error.place, error.message))
        return _Row(row.line, notes)
    return _Row(row.line, notes, NewTask(key, _status(content, notes), content, stored))


def _status(content: TaskContent, notes: list[Note]) -> str:
    problems = ready_problems(content)
    notes += [
        Note("kept", each.place, f"{each.message}: kept as a draft", "not_ready")
        for each in problems
    ]
    return TaskStatus.DRAFT if problems else TaskStatus.READY
