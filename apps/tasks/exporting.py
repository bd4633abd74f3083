"""Tasks out again, in a format that people take; what it cannot carry is said, task by task.

A format of rows (``apps.dialogue.file_formats``) makes the rows of a task, a container
(``apps.dialogue.file_containers.writing``) makes bytes of rows. Tasks are read and written batch by
batch, so that memory stays flat and a slow reader holds no transaction open.

What is exported is what a harness could be served and what reviewers choose from: conversation,
attributes, tools, tags and candidates. Notes, graders, authored results and the status belong to
bundles (``dump_bundle``).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, get_args

from django.db.models import Q
from django.db.models.functions import Length

from apps.accounts.errors import Invalid
from apps.accounts.permissions import Actor, Right, require
from apps.dialogue import file_formats
from apps.dialogue.errors import DialogueError
from apps.dialogue.file_containers.writing import WRITERS, RowWriter, Sink, Written
from apps.dialogue.file_formats import ALIASES, FORMATS, Loss
from apps.tasks.content import TaskContent, load_content
from apps.tasks.models import Environment, Revision, Task, TaskStatus
from apps.tasks.queries import get_split

BATCH = 200
BATCH_SIZE = 8 << 20
"""So many tasks are read at once, or as many as have so many characters of content."""

CANONICAL: Final = "openreward"
"""The format whose rows carry a task whole; tables are made of them."""

OnLoss = Literal["refuse", "leave_out"]
ON_LOSS: Final[tuple[str, ...]] = get_args(OnLoss)

WriteRows = Callable[[file_formats.TaskContent, list[Loss]], list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """What an export may be asked for: how the rows of a task are made, and the file of them."""

    name: str
    title: str
    rows: WriteRows
    file: Written


@dataclass(frozen=True, slots=True)
class LossLine:
    """What of a task the format cannot carry, and where: ``messages[2].blocks[0]``."""

    key: str
    place: str
    message: str


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What came of an export.

    ``tasks`` are all that were asked for, ``refused`` those of which nothing was written, ``rows``
    the rows in the file (a preference format has one for each pair), ``losses`` the places that
    the format cannot carry.
    """

    tasks: int
    rows: int
    refused: int
    losses: int


@dataclass(frozen=True, slots=True)
class Export:
    """An export whose rights and names were checked; `write` does it."""

    format: ExportFormat
    where: Q
    on_loss: OnLoss

    @property
    def streams(self) -> bool:
        """Whether bytes come while tasks are read; a table needs to know all its columns first."""
        return self.format.file.streams

    def write(
        self,
        stream: Sink,
        *,
        on_progress: Callable[[int], object] | None = None,
        on_loss_line: Callable[[LossLine], object] | None = None,
    ) -> ExportReport:
        """Write the tasks by position; nothing is held but a batch of them.

        ``on_progress`` hears after every batch how many tasks are done, ``on_loss_line`` every
        loss.
        """
        run = _Run(self, self.format.file.writer(stream), on_loss_line)
        for done in run:
            if on_progress is not None:
                on_progress(done)
        return run.report()

    def losses(
        self, should_stop: Callable[[], bool] | None = None
    ) -> Iterator[LossLine | ExportReport]:
        """Write nothing: every loss there would be, and at the end what would come of it.

        Asked between batches, ``should_stop`` ends it there: the report is of the tasks so far.
        """
        lost: list[LossLine] = []
        run = _Run(self, None, lost.append)
        for _ in run:
            yield from lost
            lost.clear()
            if should_stop is not None and should_stop():
                break
        yield run.report()

    def pieces(self) -> Iterator[bytes]:
        """The same bytes as they come, for a response that is sent while they are made."""
        pieces = _Pieces()
        for _ in _Run(self, self.format.file.writer(pieces), None):
            yield pieces.taken()
        yield pieces.taken()


def prepare_export(
    actor: Actor,
    environment: Environment,
    *,
    format: str,  # noqa: A002 - the word of the command line
    split: str | None = None,
    status: str | None = None,
    on_loss: str = "refuse",
) -> Export:
    """Check the right to read and every name before the first task is read.

    ``format`` is one of `EXPORT_FORMATS` or another word for it. Without ``status`` all tasks but
    the archived ones. ``on_loss`` tells what happens to a task that the format cannot carry whole:
    ``refuse`` leaves out the task, ``leave_out`` what cannot be carried. Raises `Invalid` and
    `NotFound`.
    """
    require(actor, environment.project, Right.VIEW)
    wanted = export_format(format)
    if on_loss == "refuse":
        chosen: OnLoss = "refuse"
    elif on_loss == "leave_out":
        chosen = "leave_out"
    else:
        raise Invalid(f"{on_loss[:60]!a} is not one of {', '.join(ON_LOSS)}.", place="on_loss")
    where = Q(environment=environment)
    if split is not None:
        where &= Q(split=get_split(actor, environment, split))
    if status is not None and status not in TaskStatus.values:
        known = ", ".join(TaskStatus.values)
        raise Invalid(f"{status[:60]!a} is not one of {known}.", place="status")
    where &= Q(status=status) if status else ~Q(status=TaskStatus.ARCHIVED)
    return Export(wanted, where, chosen)


def write_export(
    stream: Sink,
    actor: Actor,
    environment: Environment,
    *,
    format: str,  # noqa: A002 - the word of the command line
    split: str | None = None,
    status: str | None = None,
    on_loss: str = "refuse",
    on_progress: Callable[[int], object] | None = None,
    on_loss_line: Callable[[LossLine], object] | None = None,
) -> ExportReport:
    """`prepare_export` and `Export.write` in one."""
    export = prepare_export(
        actor, environment, format=format, split=split, status=status, on_loss=on_loss
    )
    return export.write(stream, on_progress=on_progress, on_loss_line=on_loss_line)


def export_format(name: str) -> ExportFormat:
    """The format of that name, or of another word for it; `Invalid` names those there are."""
    found = EXPORT_FORMATS.get(ALIASES.get(name, name))
    if found is None:
        known = ", ".join(EXPORT_FORMATS)
        raise Invalid(f"{name[:60]!a} is not a format of exports: {known}.", place="format")
    return found


class _StoredTask(NamedTuple):
    key: str
    content: str


_Listed = tuple[int, int, str, int | None, int | None]
"""Position, id, key, current revision and the length of its content."""


class _Run:
    """One export being written, and what is counted on the way; a step is a batch of tasks."""

    def __init__(
        self,
        export: Export,
        writer: RowWriter | None,
        on_loss: Callable[[LossLine], object] | None,
    ) -> None:
        self.export = export
        self.writer = writer
        self.on_loss = on_loss
        self.tasks = self.rows = self.refused = self.losses = 0

    def __iter__(self) -> Iterator[int]:
        for batch in _batches(self.export.where):
            for task in batch:
                self._take(task)
            yield self.tasks
        if self.writer is not None:
            self.writer.close()

    def report(self) -> ExportReport:
        return ExportReport(self.tasks, self.rows, self.refused, self.losses)

    def _take(self, task: _StoredTask) -> None:
        losses: list[Loss] = []
        rows = self._rows(task, losses)
        self.tasks += 1
        self.losses += len(losses)
        if self.on_loss is not None:
            for loss in losses:
                self.on_loss(LossLine(task.key, loss.place, loss.message))
        if not rows or (losses and self.export.on_loss == "refuse"):
            self.refused += 1
            return
        if self.writer is not None:
            for row in rows:
                self.writer.write(row)
        self.rows += len(rows)

    def _rows(self, task: _StoredTask, losses: list[Loss]) -> list[dict[str, Any]]:
        content = load_content(task.content) if task.content else TaskContent()
        try:
            rows = self.export.format.rows(_as_written(task.key, content), losses)
        except DialogueError as error:
            losses.append(Loss(error.place, error.message))
            rows = []
        if not rows and not losses:
            losses.append(Loss("", "the format has no row for this task"))
        return rows


def _as_written(key: str, content: TaskContent) -> file_formats.TaskContent:
    return file_formats.TaskContent(
        key,
        content.messages,
        content.attributes,
        content.tools,
        content.tags,
        content.candidates,
    )


def _batches(where: Q) -> Iterator[list[_StoredTask]]:
    """The tasks by position, so many at once that their contents fit in memory."""
    after = Q()
    while True:
        rows = list(
            Task.objects.filter(where, after)
            .order_by("position", "pk")
            .annotate(size=Length("current__content"))
            .values_list("position", "pk", "key", "current_id", "size")[:BATCH]
        )
        for part in _parts(rows):
            ids = [row[3] for row in part if row[3] is not None]
            texts = dict(Revision.objects.filter(pk__in=ids).values_list("pk", "content"))
            yield [_StoredTask(row[2], texts.get(row[3] or 0, "")) for row in part]
        if len(rows) < BATCH:
            return
        position, pk = rows[-1][:2]
        after = Q(position__gte=position) & (Q(position__gt=position) | Q(pk__gt=pk))


def _parts(rows: Sequence[_Listed]) -> Iterator[list[_Listed]]:
    """Cut a batch where the contents would be more than `BATCH_SIZE`; there is always a part."""
    part: list[_Listed] = []
    size = 0
    for row in rows:
        if part and size + (row[4] or 0) > BATCH_SIZE:
            yield part
            part, size = [], 0
        part.append(row)
        size += row[4] or 0
    yield part


class _Pieces:
    """A sink that hands on what was written since it was last asked."""

    def __init__(self) -> None:
        self._written: list[bytes] = []

    def write(self, data: bytes, /) -> None:
        self._written.append(data)

    def taken(self) -> bytes:
        piece = b"".join(self._written)
        self._written.clear()
        return piece


def _formats() -> Iterator[ExportFormat]:
    for each in FORMATS.values():
        if each.write is not None:
            yield ExportFormat(each.name, each.title, each.write, WRITERS["jsonl"])
        if each.name == CANONICAL and each.write is not None:
            for name, container in (("csv", "CSV"), ("parquet", "Parquet")):
                title = f"{container}, a column for each attribute"
                yield ExportFormat(name, title, each.write, WRITERS[name])


EXPORT_FORMATS: Final[dict[str, ExportFormat]] = {each.name: each for each in _formats()}
