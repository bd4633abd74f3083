"""Reading environments, tasks and revisions. The asker comes first; nothing is counted or skipped
over: lists are walked by key, numbers come from the counters that the actions keep.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Prefetch, Q, QuerySet

from apps.accounts.errors import Invalid, NotFound
from apps.accounts.models import Project
from apps.accounts.permissions import Actor, Right, require
from apps.dialogue.blocks.json_values import text_fault
from apps.tasks.bundles import FORMAT, environment_to_bundle
from apps.tasks.content import TaskContent, fold, load_content
from apps.tasks.models import Environment, Revision, Split, Task, TaskStatus, Tool

LARGEST_PAGE = 500
LONGEST_SEARCH = 200


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows of a list in its order, and the cursors of the pages beside it."""

    rows: list[Task]
    next: str | None
    previous: str | None


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The tasks before and after one in its split, archived ones left out."""

    previous: Task | None
    next: Task | None


def environments(actor: Actor, project: Project, right: Right = Right.VIEW) -> list[Environment]:
    """The project's environments by name, each with its splits fetched."""
    require(actor, project, right)
    rows = list(
        Environment.objects.filter(project=project)
        .prefetch_related(Prefetch("splits", Split.objects.order_by("position", "pk")))
        .order_by("slug")
    )
    for row in rows:
        row.project = project
    return rows


def get_environment(
    actor: Actor, project: Project, slug: str, right: Right = Right.VIEW
) -> Environment:
    """The environment named ``slug``, in whatever case; else `NotFound`."""
    require(actor, project, right)
    name = slug.lower()
    row = (
        None if text_fault(name) else Environment.objects.filter(project=project, slug=name).first()
    )
    if row is None:
        raise NotFound(
            f"There is no environment {slug[:64]!a} in {project.slug!r}.", place="environment"
        )
    row.project = project
    return row


def default_environment(actor: Actor, project: Project, right: Right = Right.SERVE) -> Environment:
    """The environment served where an address names none; `NotFound` in an empty project."""
    require(actor, project, right)
    row = Environment.objects.filter(project=project, is_default=True).first()
    if row is None:
        raise NotFound(f"The project {project.slug!r} has no environment.", place="environment")
    row.project = project
    return row


def splits(actor: Actor, environment: Environment, right: Right = Right.VIEW) -> list[Split]:
    require(actor, environment.project, right)
    return list(environment.splits.order_by("position", "pk"))


def get_split(
    actor: Actor, environment: Environment, name: str, right: Right = Right.VIEW
) -> Split:
    require(actor, environment.project, right)
    row = None if text_fault(name) else environment.splits.filter(name=name).first()
    if row is None:
        raise NotFound(f"There is no split {name[:64]!a} in {environment.slug!r}.", place="split")
    return row


def tools(actor: Actor, environment: Environment, right: Right = Right.VIEW) -> list[Tool]:
    """The environment's tools in their order, a terminal one included."""
    require(actor, environment.project, right)
    return list(environment.tools.order_by("position", "pk"))


def list_tasks(
    actor: Actor,
    environment: Environment,
    *,
    split: Split | str | None = None,
    status: str | None = None,
    search: str = "",
    after: str | None = None,
    before: str | None = None,
    limit: int = 50,
) -> Page:
    """One page of tasks by position; without ``status`` all but the archived ones.

    ``search`` finds tasks whose texts hold every one of its words, whatever their case. ``after``
    and ``before`` are cursors of an earlier `Page`.
    """
    require(actor, environment.project, Right.VIEW)
    rows = Task.objects.filter(environment=environment).select_related("split")
    if split is not None:
        rows = rows.filter(
            split=get_split(actor, environment, split) if isinstance(split, str) else split
        )
    rows = _with_status(rows, status)
    rows = _with_words(rows, search)
    size = max(1, min(limit, LARGEST_PAGE))
    if before is not None:
        return _page_before(rows, before, size)
    if after is not None:
        rows = rows.filter(_beyond(after, "gt"))
    found = list(rows.order_by("position", "pk")[: size + 1])
    return Page(
        rows=found[:size],
        next=cursor_of(found[size - 1]) if len(found) > size else None,
        previous=cursor_of(found[0]) if after is not None and found else None,
    )


def _page_before(rows: QuerySet[Task], cursor: str, size: int) -> Page:
    found = list(rows.filter(_beyond(cursor, "lt")).order_by("-position", "-pk")[: size + 1])
    shown = found[:size][::-1]
    return Page(
        rows=shown,
        next=cursor_of(shown[-1]) if shown else None,
        previous=cursor_of(shown[0]) if len(found) > size else None,
    )


def _with_status(rows: QuerySet[Task], status: str | None) -> QuerySet[Task]:
    if status is None:
        return rows.exclude(status=TaskStatus.ARCHIVED)
    if status not in TaskStatus.values:
        raise Invalid(
            f"{status[:60]!r} is not one of {', '.join(TaskStatus.values)}.", place="status"
        )
    return rows.filter(status=status)


def _with_words(rows: QuerySet[Task], search: str) -> QuerySet[Task]:
    if fault := text_fault(search):
        raise Invalid(f"The text to search for {fault}.", place="search")
    if len(search) > LONGEST_SEARCH:
        raise Invalid(f"Search for at most {LONGEST_SEARCH} characters.", place="search")
    for word in fold(search).split():
        rows = rows.filter(search_text__text__contains=word)
    return rows


def cursor_of(task: Task) -> str:
    """Where ``task`` stands in every list: the text that `list_tasks` takes as a cursor."""
    return f"{task.position}.{task.pk}"


def _beyond(cursor: str, side: str) -> Q:
    """Tasks on one ``side`` (``gt`` or ``lt``) of a cursor, in a form that an index can seek."""
    position, _, pk = cursor.partition(".")
    if not all(part.isascii() and part.isdigit() and len(part) < 19 for part in (position, pk)):
        raise Invalid(f"{cursor[:60]!a} is not a cursor of this list.", place="cursor")
    return Q(**{f"position__{side}e": int(position)}) & (
        Q(**{f"position__{side}": int(position)}) | Q(**{f"pk__{side}": int(pk)})
    )


def _at_or_beyond(task: Task) -> Q:
    return Q(position__gte=task.position) & (Q(position__gt=task.position) | Q(pk__gte=task.pk))


def get_task(actor: Actor, environment: Environment, pk: int) -> Task:
    """The task with its split and its current revision; else `NotFound`."""
    require(actor, environment.project, Right.VIEW)
    return _one(environment, Q(pk=pk), f"There is no task {pk}")


def get_task_by_key(actor: Actor, environment: Environment, key: str) -> Task:
    require(actor, environment.project, Right.VIEW)
    if text_fault(key):
        raise NotFound(f"There is no task {key[:60]!a} in {environment.slug!r}.", place="task")
    return _one(environment, Q(key=key), f"There is no task {key[:60]!r}")


def _one(environment: Environment, which: Q, complaint: str) -> Task:
    task = (
        Task.objects.select_related("split", "current")
        .filter(which, environment=environment)
        .first()
    )
    if task is None:
        raise NotFound(f"{complaint} in {environment.slug!r}.", place="task")
    task.environment = environment
    return task


def neighbours(actor: Actor, task: Task) -> Neighbours:
    """What "previous" and "next" lead to from ``task``, in its split."""
    require(actor, task.environment.project, Right.VIEW)
    listed = Task.objects.filter(split_id=task.split_id).exclude(status=TaskStatus.ARCHIVED)
    here = cursor_of(task)
    return Neighbours(
        previous=listed.filter(_beyond(here, "lt")).order_by("-position", "-pk").first(),
        next=listed.filter(_beyond(here, "gt")).order_by("position", "pk").first(),
    )


def revisions(actor: Actor, task: Task) -> QuerySet[Revision]:
    """The task's history, newest first, without the texts of the contents."""
    require(actor, task.environment.project, Right.VIEW)
    return task.revisions.order_by("-number").defer(
        "content", "messages_body", "prompt_body", "spec_body", "grader", "scripted"
    )


def get_revision(actor: Actor, task: Task, number: int) -> Revision:
    require(actor, task.environment.project, Right.VIEW)
    row = task.revisions.filter(number=number).first()
    if row is None:
        raise NotFound(f"Task {task.key!r} has no revision {number}.", place="revision")
    row.task = task
    return row


def content_of(revision: Revision) -> TaskContent:
    """The parsed content of a revision that its reader was already allowed to see."""
    return load_content(revision.content)


def ready_task_at(actor: Actor, environment: Environment, split: Split, index: int) -> Task | None:
    """The served task number ``index`` (0-based) of a split, with its revision; None outside."""
    require(actor, environment.project, Right.SERVE)
    if not 0 <= index < split.ready_count:
        return None
    pk = _ready(split).values_list("pk", flat=True)[index : index + 1].first()
    if pk is None:
        return None
    return Task.objects.select_related("current").filter(pk=pk).first()


def ready_task_by_key(actor: Actor, environment: Environment, key: str) -> Task | None:
    """The served task of that key, with its revision; None if no ready task has it."""
    require(actor, environment.project, Right.SERVE)
    if text_fault(key):
        return None
    return (
        Task.objects.select_related("current", "split")
        .filter(environment=environment, key=key, status=TaskStatus.READY)
        .first()
    )


def ready_specs(
    actor: Actor, environment: Environment, split: Split, start: int = 0, stop: int | None = None
) -> Sequence[str]:
    """The task specs of a split as JSON texts ready to send, in their order.

    ``start`` and ``stop`` are 0-based and not negative, like a slice's; beyond the end is empty.
    """
    require(actor, environment.project, Right.SERVE)
    last = split.ready_count if stop is None else min(stop, split.ready_count)
    if start >= last:
        return []
    first = _ready(split)[start : start + 1].first()  # an index is counted through, rows are not
    if first is None:
        return []
    rows = _ready(split).filter(_at_or_beyond(first))
    return list(rows.values_list("current__spec_body", flat=True)[: last - start])


def ready_revision_ids(actor: Actor, environment: Environment, split: Split) -> list[int]:
    """The current revisions of a split's served tasks, in their order: what a launch plays."""
    require(actor, environment.project, Right.VIEW)
    return list(_ready(split).values_list("current__pk", flat=True))


def bundle_of(actor: Actor, environment: Environment) -> dict[str, Any]:
    """The environment as a bundle, graders and authored results included; archived tasks are not.

    Whoever may read it may read the answers too, so it asks for the right to write tasks.
    """
    require(actor, environment.project, Right.AUTHOR)
    listed = list(environment.splits.order_by("position", "pk"))
    tasks = (
        Task.objects.filter(environment=environment)
        .exclude(status=TaskStatus.ARCHIVED)
        .select_related("current")
        .order_by("position", "pk")
    )
    return {
        "format": FORMAT,
        "owner": environment.project.slug,
        **({"default_environment": environment.slug} if environment.is_default else {}),
        "environments": [
            environment_to_bundle(
                environment,
                list(environment.tools.order_by("position", "pk")),
                listed,
                list(tasks),
            )
        ],
    }


def _ready(split: Split) -> QuerySet[Task]:
    return Task.objects.filter(split=split, status=TaskStatus.READY).order_by("position", "pk")
