"""What becomes of a row: is it a task, is it there already, may it change what is there?

The same answers are given to a proposal, which writes nothing, and to an import.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from apps.accounts.errors import Invalid
from apps.dialogue.candidates import Candidate
from apps.dialogue.errors import DialogueError
from apps.dialogue.file_formats import Note, ReadRow
from apps.tasks.actions.bulk import BATCH, Known, NewTask
from apps.tasks.content import TaskContent, load_content, parse_content, ready_problems, store
from apps.tasks.ledgers import CREATED, REFUSED, UNCHANGED, UPDATED, LedgerLine
from apps.tasks.models import Environment, Split, Task, TaskStatus
from apps.tasks.names import check_task_key

BATCH_CHARACTERS = 4_000_000
"""A batch ends at `BATCH` rows or at this much text: so a file of large rows needs no more memory
than one of small ones."""

DECIDED_BY_KEY = "key_collision"
ARCHIVED = "archived"
NEW_SPLIT = -1
"""Stands for a split that an import will make."""


@dataclass(slots=True)
class PreparedRow:
    """A row on its way: refused when ``new`` is None, else about to be written."""

    line: int
    file: str
    format: str | None
    roles: str
    notes: list[Note]
    new: NewTask | None = None
    row: int = 0

    def becomes(self, outcome: str, status: str | None) -> LedgerLine:
        new = self.new
        return LedgerLine(
            line=self.line,
            key=None if new is None else new.key,
            outcome=outcome,
            status=status,
            notes=tuple(self.notes),
            row=self.row,
            file=self.file,
            format=self.format,
            roles=self.roles,
            turns=0 if new is None else new.stored.turns,
            summary="" if new is None else new.stored.summary,
        )


def prepare(row: ReadRow) -> PreparedRow:
    """Check what was read as a task's content, and find its key and status."""
    prepared = PreparedRow(row.line, row.file, row.format, row.roles, list(row.notes))
    if row.task is None:
        return prepared
    try:
        content = parse_content(
            TaskContent(
                messages=row.task.messages,
                attributes=row.task.attributes,
                tools=row.task.tools,
                tags=row.task.tags,
                candidates=row.task.candidates,
            )
        )
        stored = store(content, key=row.task.key or "")
        key = row.task.key
        if key is None:
            key = f"row-{hashlib.sha256(stored.content.encode()).hexdigest()[:12]}"
            stored = store(content, key=key)
            said = f"the row names none: {key}, from its content"
            prepared.notes.append(Note("invented", "key", said, "no_key"))
        check_task_key(key)
    except (DialogueError, Invalid) as error:
        prepared.notes.append(Note("refused", error.place, error.message))
        return prepared
    problems = ready_problems(content)
    prepared.notes += [
        Note("kept", each.place, f"{each.message}: kept as a draft", "not_ready")
        for each in problems
    ]
    status = TaskStatus.DRAFT if problems else TaskStatus.READY
    prepared.new = NewTask(key, status, content, stored)
    return prepared


def prepare_again(line: LedgerLine, text: str) -> PreparedRow:
    """What `prepare` made, from the line of a proposal and the content that it kept."""
    notes = [note for note in line.notes if not _was_decided(note)]
    prepared = PreparedRow(line.line, line.file, line.format, line.roles, notes, row=line.row)
    if text and line.key is not None:
        content = load_content(text)
        status = TaskStatus.DRAFT if ready_problems(content) else TaskStatus.READY
        prepared.new = NewTask(line.key, status, content, store(content, key=line.key))
    return prepared


def _was_decided(note: Note) -> bool:
    """Whether a note tells of the task that is there, which may be another one by now."""
    return note.place == "key" and note.code in (DECIDED_BY_KEY, ARCHIVED)


def batches(rows: Iterable[PreparedRow]) -> Iterator[list[PreparedRow]]:
    """Rows that are decided together; no key is twice in one, so that the second meets the first.

    Numbers the rows that have no number yet, from that of the first one on.
    """
    batch: list[PreparedRow] = []
    keys: set[str] = set()
    size = 0
    for row in rows:
        if len(batch) >= BATCH or size >= BATCH_CHARACTERS or (row.new and row.new.key in keys):
            yield batch
            batch, keys, size = [], set(), 0
        batch.append(row)
        if row.new:
            keys.add(row.new.key)
            size += len(row.new.stored.content)
    if batch:
        yield batch


def keys_of(batch: Iterable[PreparedRow]) -> list[str]:
    return [row.new.key for row in batch if row.new]


@dataclass(slots=True)
class Decider:
    """Decides about rows that go to one split (None: one that is not there yet)."""

    environment: Environment
    split: Split | None
    update: bool
    _names: dict[int, str] = field(default_factory=dict)

    @property
    def split_id(self) -> int:
        return NEW_SPLIT if self.split is None else self.split.pk

    def decide(self, row: PreparedRow, there: Known | None) -> LedgerLine:
        """The outcome of a row; ``there`` is the task that has its key.

        A row without candidates keeps those of the task it updates: ``row.new`` then has them too.
        """
        new = row.new
        if new is None:
            return row.becomes(REFUSED, None)
        if there is None:
            return row.becomes(CREATED, new.status)
        if there.split_id != self.split_id:
            return self._collides(row, f"is in the split {self._name(there.split_id)!r} already")
        if there.has(new.content, new.stored, new.key):
            return self._same(row, there, new)
        if not new.content.candidates and (kept := _candidates_of(there)):
            _keep_candidates(row, new, kept)
            if there.has(row.new.content, row.new.stored, new.key):  # type: ignore[union-attr]
                return self._same(row, there, new)
        if not self.update:
            archived = "archived and " if there.status == TaskStatus.ARCHIVED else ""
            return self._collides(row, f"is there already, {archived}with other content")
        return row.becomes(UPDATED, _status_of(row, there, new))

    def _same(self, row: PreparedRow, there: Known, new: NewTask) -> LedgerLine:
        """The task has this content; it changes only if it comes back from an undo."""
        status = _status_of(row, there, new)
        if there.status == TaskStatus.ARCHIVED != status:
            return row.becomes(UPDATED, status)
        return row.becomes(UNCHANGED, there.status)

    def _collides(self, row: PreparedRow, how: str) -> LedgerLine:
        key = row.new.key if row.new else ""
        row.notes.append(Note("refused", "key", f"a task {key!r} {how}", DECIDED_BY_KEY))
        return row.becomes(REFUSED, None)

    def _name(self, split_id: int) -> str:
        if split_id not in self._names:
            self._names = dict(self.environment.splits.values_list("pk", "name"))
        return self._names[split_id]


def _status_of(row: PreparedRow, there: Known, new: NewTask) -> str:
    """The status of a task that a row meets; what a person archived stays so, and says so.

    An undo archives what it may not remove. Importing the same again takes the undo back.
    """
    if there.status != TaskStatus.ARCHIVED:
        return new.status
    if there.undone:
        told = "the task was archived when its import was undone: it comes back"
        row.notes.append(Note("converted", "key", told, ARCHIVED))
        return new.status
    told = "the task is archived and stays so, until somebody makes it a draft or ready"
    row.notes.append(Note("kept", "key", told, ARCHIVED))
    return there.status


def _candidates_of(there: Known) -> tuple[Candidate, ...]:
    if not there.pk:
        return ()
    text = Task.objects.filter(pk=there.pk).values_list("current__content", flat=True).first()
    return load_content(text).candidates if text and '"candidates":' in text else ()


def _keep_candidates(row: PreparedRow, new: NewTask, kept: tuple[Candidate, ...]) -> None:
    content = replace(new.content, candidates=kept)
    row.new = replace(new, content=content, stored=store(content, key=new.key))
    many = "the candidate stays" if len(kept) == 1 else f"the {len(kept)} candidates stay"
    row.notes.append(Note("kept", "candidates", f"the row has none: {many}", "candidates_kept"))
