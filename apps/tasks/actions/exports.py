"""Exports as pieces of work: a file is written, kept for a while and fetched."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from django.db import transaction
from pydantic_core import to_json

from apps.accounts.actions import record
from apps.accounts.errors import DISK_FULL, NotFound, Refusal, is_disk_full
from apps.accounts.permissions import Actor, Right, require
from apps.dialogue.errors import DialogueError
from apps.tasks import doorbell, leases
from apps.tasks.actions.import_work import UNFORESEEN, storable
from apps.tasks.exporting import LossLine, prepare_export
from apps.tasks.models import Environment, Export, ExportState, Split, TaskStatus
from apps.tasks.private_folders import make_private
from apps.tasks.transfer_files import export_file, forget_export, losses_file

AT_ONCE_TASKS = 500
AT_ONCE_SECONDS = 3.0
"""What is larger or takes longer is left to a worker, if there is one."""

TOLD_EVERY = 1.0


def create_export(
    *,
    actor: Actor,
    environment: Environment,
    format: str,  # noqa: A002 - the word of the command line
    split: str | None = None,
    status: str | None = None,
    on_loss: str = "refuse",
) -> Export:
    """Write tasks to a file that can be fetched: see `apps.tasks.exporting.prepare_export`.

    The export comes back in the state done, or writing while a worker is at it. A task that the
    format cannot carry whole is left out of the file, or loses what cannot be carried
    (``on_loss="leave_out"``); either is told in its losses. Raises `Invalid` and `NotFound`.
    """
    wanted = prepare_export(
        actor, environment, format=format, split=split, status=status, on_loss=on_loss
    )
    total = _total(environment, split, status)
    exported = Export.objects.create(
        environment=environment,
        author=str(actor)[:200],
        format=wanted.format.name,
        split=split or "",
        status=status or "",
        on_loss=on_loss,
        state=ExportState.WRITING,
        file_name="-".join(filter(None, (environment.slug, split))) + wanted.format.file.suffix,
        tasks_total=total,
        **leases.as_asked_by(actor),
    )
    record(
        actor=actor,
        project=environment.project,
        action="task.export",
        subject=environment.slug,
        exported=exported.pk,
        format=exported.format,
    )
    return _begin(exported, at_once=total <= AT_ONCE_TASKS)


def discard_export(*, actor: Actor, exported: Export) -> None:
    """Remove an export and its file, one's own or as an author; a worker at it finds out.

    One's own is told by the account or key itself: keys may share a name.
    """
    own = leases.asked_by(exported) == actor
    require(actor, exported.environment.project, Right.VIEW if own else Right.AUTHOR)
    Export.objects.filter(pk=exported.pk).delete()
    forget_export(exported.pk)


def work_on(pk: int, should_stop: leases.ShouldStop) -> bool:
    """Write the file of an export from its beginning; True if somebody has to go on."""
    exported = leases.claim(Export, pk)
    if exported is None:
        return False
    try:
        _write(exported, should_stop)
    except leases.LeaseLost:
        return False
    except leases.Stopped:
        leases.give_back(exported)
        return True
    except (Refusal, DialogueError) as error:
        _fail(exported, error.message)
    except Exception as error:
        _fail(exported, DISK_FULL if is_disk_full(error) else UNFORESEEN)
        raise
    return False


def _fail(exported: Export, message: str) -> None:
    with suppress(leases.LeaseLost):
        leases.finish(exported, ExportState.FAILED, error=storable(message))


def _write(exported: Export, should_stop: leases.ShouldStop) -> None:
    actor = leases.asked_by(exported)
    if actor is None:
        raise NotFound("Whoever asked for this is no longer here.")
    if exported.attempts > leases.MOST_ATTEMPTS:
        raise NotFound(f"It was begun {leases.MOST_ATTEMPTS} times and never came to an end.")
    wanted = prepare_export(
        actor,
        exported.environment,
        format=exported.format,
        split=exported.split or None,
        status=exported.status or None,
        on_loss=exported.on_loss,
    )
    # Another worker whose lease ran out may still be writing: each has files of its own.
    path = export_file(exported)
    mine = path.with_name(f"file-{exported.claim}")
    losses = mine.with_name(f"losses-{exported.claim}")
    make_private(path.parent)
    try:
        with mine.open("wb") as file, losses.open("wb") as lost:
            told = _Told(exported, should_stop, lost.write)
            report = wanted.write(file, on_progress=told.progress, on_loss_line=told.loss)
        with transaction.atomic():
            leases.finish(
                exported,
                ExportState.DONE,
                has_file=True,
                tasks=report.tasks,
                rows=report.rows,
                refused=report.refused,
                lossy=told.lossy,
                bytes_total=mine.stat().st_size,
            )
            mine.replace(path)
            losses.replace(losses_file(exported))
    finally:
        mine.unlink(missing_ok=True)
        losses.unlink(missing_ok=True)


@dataclass(slots=True)
class _Told:
    """Keeps the losses, and tells the row about once a second how far the writing is."""

    exported: Export
    should_stop: leases.ShouldStop
    write: Callable[[bytes], object]
    lossy: int = 0
    last_key: str = ""
    at: float = field(default_factory=time.monotonic)

    def progress(self, tasks: int) -> None:
        if self.should_stop():
            raise leases.Stopped
        if time.monotonic() - self.at >= TOLD_EVERY:
            leases.keep(self.exported, tasks=tasks)
            self.at = time.monotonic()

    def loss(self, line: LossLine) -> None:
        self.lossy += line.key != self.last_key
        self.last_key = line.key
        self.write(to_json([line.key, line.place, line.message]) + b"\n")


def _total(environment: Environment, split: str | None, status: str | None) -> int:
    """How many tasks there will be, of the counters; archived ones are not counted by them."""
    splits = Split.objects.filter(environment=environment)
    chosen = list(splits.filter(name=split) if split else splits)
    match status:
        case None:
            return sum(each.task_count for each in chosen)
        case TaskStatus.READY:
            return sum(each.ready_count for each in chosen)
        case TaskStatus.DRAFT:
            return sum(each.task_count - each.ready_count for each in chosen)
        case _:
            tasks = environment.tasks.filter(status=status)
            return tasks.filter(split__in=chosen).count()


def _begin(exported: Export, *, at_once: bool) -> Export:
    """Write it here if it is small or there are no workers; else call one."""
    workers = doorbell.there_are_workers()
    goes_on = True
    if at_once or not workers:
        deadline = time.monotonic() + AT_ONCE_SECONDS
        goes_on = work_on(exported.pk, lambda: workers and time.monotonic() > deadline)
    if goes_on and workers:
        transaction.on_commit(partial(doorbell.ring, doorbell.WORK_ON_EXPORT, exported.pk))
    fresh = Export.objects.filter(pk=exported.pk).first()
    if fresh is None:
        raise NotFound(f"There is no export {exported.pk}.", place="export")
    fresh.environment = exported.environment
    return fresh
