"""Taking an import back: what it made is removed, or archived where something points at it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import ForeignObjectRel

from apps.accounts.actions import record
from apps.accounts.permissions import Actor, Right, require
from apps.tasks import leases
from apps.tasks.actions.tasks import count, restore_revision, set_status
from apps.tasks.content import load_content, ready_problems
from apps.tasks.models import (
    Environment,
    Import,
    ImportState,
    Revision,
    Task,
    TaskStatus,
    TaskText,
)

BATCH = 500
_TRIES = 3
"""A session may begin on a task between the look at it and its removal; then one looks again."""


@dataclass(slots=True)
class Undone:
    """Tasks counted by what an undo did to them."""

    removed: int
    archived: int
    restored: int
    left: int


def undo(imported: Import, actor: Actor, should_stop: leases.ShouldStop) -> None:
    """Undo an import whose lease is held, from where an earlier worker ended.

    Raises `LeaseLost` or `Stopped`.
    """
    require(actor, imported.environment.project, Right.AUTHOR)
    while True:
        ids = list(
            Revision.objects.filter(made_by_import=imported, task_id__gt=imported.undone_to)
            .order_by("task_id")
            .values_list("task_id", flat=True)
            .distinct()[:BATCH]
        )
        if not ids:
            break
        _batch(imported, actor, ids)
        if should_stop():
            raise leases.Stopped
    with transaction.atomic():
        leases.finish(imported, ImportState.UNDONE)
        record(
            actor=actor,
            project=imported.environment.project,
            action="task.undo_import",
            subject=f"{imported.environment.slug}/{imported.split}",
            imported=imported.pk,
            removed=imported.removed,
            archived=imported.archived,
            restored=imported.restored,
            left=imported.left,
        )


def _batch(imported: Import, actor: Actor, ids: list[int]) -> None:
    for attempt in range(1, _TRIES + 1):
        try:
            with transaction.atomic():
                _undo_tasks(imported, actor, ids)
        except IntegrityError:
            imported.refresh_from_db()
            if attempt == _TRIES:
                raise
        else:
            return


def _undo_tasks(imported: Import, actor: Actor, ids: list[int]) -> None:
    environment = imported.environment
    Environment.objects.select_for_update().get(pk=environment.pk)
    done = Undone(imported.removed, imported.archived, imported.restored, imported.left)
    created = set(
        Revision.objects.filter(made_by_import=imported, task_id__in=ids, number=1)
        .values_list("task_id", flat=True)
    )  # fmt: skip
    removable = created - _used(created) - _changed_since(imported, created)
    done.removed += _remove(removable)
    tasks = Task.objects.select_related("current").filter(pk__in=set(ids) - removable)
    for task in tasks.order_by("pk"):
        task.environment = environment
        if task.pk in created:
            set_status(actor=actor, task=task, status=TaskStatus.ARCHIVED)
            done.archived += 1
        elif _restore(imported, actor, task):
            done.restored += 1
        else:
            done.left += 1
    leases.keep(
        imported,
        undone_to=ids[-1],
        removed=done.removed,
        archived=done.archived,
        restored=done.restored,
        left=done.left,
    )


def _used(tasks: set[int]) -> set[int]:
    """Those of ``tasks`` that something outside of this room points at: sessions, runs, ...

    The rooms above are not known here by name; whatever has a key to a task or revision counts.
    """
    own = {Task, Revision, TaskText}
    used: set[int] = set()
    for model, path in ((Task, "{}"), (Revision, "{}__task")):
        # Hidden ones too: a key without a way back (related_name="+") is a key.
        for relation in model._meta.get_fields(include_hidden=True):
            if not isinstance(relation, ForeignObjectRel) or relation.related_model in own:
                continue
            column = path.format(relation.field.name)
            rows = relation.related_model._base_manager.filter(**{f"{column}__in": tasks})
            used.update(rows.values_list(column, flat=True).distinct())
    return used


def _changed_since(imported: Import, tasks: set[int]) -> set[int]:
    """Those of ``tasks`` that have a revision of somebody else's."""
    others = Revision.objects.filter(task_id__in=tasks).exclude(made_by_import=imported)
    return set(others.values_list("task_id", flat=True).distinct())


def _remove(tasks: Iterable[int]) -> int:
    """Delete tasks that nothing points at, with everything of theirs; keep the counters."""
    ids = list(tasks)
    rows = Task.objects.filter(pk__in=ids)
    listed = Counter[int]()
    ready = Counter[int]()
    for split_id, status in rows.values_list("split_id", "status"):
        listed[split_id] += status != TaskStatus.ARCHIVED
        ready[split_id] += status == TaskStatus.READY
    for split_id, many in listed.items():
        count(split_id, tasks=-many, ready=-ready[split_id])
    # Django's own deletion would load every row to look for what points at it: that is known.
    rows.update(current=None)
    TaskText.objects.filter(task_id__in=ids)._raw_delete(rows.db)
    Revision.objects.filter(task_id__in=ids)._raw_delete(rows.db)
    rows._raw_delete(rows.db)
    return len(ids)


def _restore(imported: Import, actor: Actor, task: Task) -> bool:
    """Give a task back what it held before the import; False if somebody has changed it since."""
    current = task.current
    if current is None or current.made_by_import_id != imported.pk:
        return False
    before = task.revisions.exclude(made_by_import=imported).order_by("-number").first()
    if before is None:
        return False
    first = task.revisions.get(number=before.number + 1)
    restore_revision(
        actor=actor,
        task=task,
        number=before.number,
        base=current.number,
        status=_status_again(task.status, before, first, current),
    )
    return True


def _status_again(present: str, before: Revision, first: Revision, last: Revision) -> str:
    """The status before the import, unless the present one is not what the import gave the task.

    ``first`` and ``last`` are the revisions that it made, ``before`` is the one ahead of them.
    """
    if present != _given_status(before, first, last):
        incomplete = present == TaskStatus.READY and ready_problems(load_content(before.content))
        return TaskStatus.DRAFT if incomplete else present
    return first.former_status


def _given_status(before: Revision, first: Revision, last: Revision) -> str:
    """What an import made of the status of a task that it changed: see `deciding`."""
    undone = before.made_by_import is not None and before.made_by_import.state == ImportState.UNDONE
    if first.former_status == TaskStatus.ARCHIVED and not undone:
        return TaskStatus.ARCHIVED
    return TaskStatus.DRAFT if ready_problems(load_content(last.content)) else TaskStatus.READY
