"""Changing tasks. Content is never changed: a save writes a new revision and points the task at it.

Who saves names the revision that the editing started from. If that is no longer the current one,
the save is refused with the current one in the `Conflict`, and nothing is lost on either side.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Max
from django.utils import timezone

from apps.accounts.actions import record
from apps.accounts.errors import Conflict, Invalid
from apps.accounts.permissions import Actor, Right, require
from apps.dialogue.blocks.json_values import text_fault
from apps.tasks.content import (
    StoredContent,
    TaskContent,
    canonical_json,
    load_content,
    parse_content,
    ready_problems,
    store,
)
from apps.tasks.models import Environment, Import, Revision, Split, Task, TaskStatus, TaskText
from apps.tasks.names import check_task_key
from apps.tasks.queries import get_revision, get_split
from apps.tasks.scoring import checked_scorers, checked_scripted

LONGEST_MESSAGE = 500
MOST_PROBLEMS_SHOWN = 3


@transaction.atomic
def create_task(
    *,
    actor: Actor,
    environment: Environment,
    split: Split | str,
    content: TaskContent | Mapping[str, Any],
    key: str | None = None,
    status: str = TaskStatus.DRAFT,
    message: str = "",
    grader: Sequence[Mapping[str, Any]] | None = None,
    scripted: Mapping[str, Any] | None = None,
) -> Task:
    """A new task at the end of the list, with its first revision.

    Without ``key`` one is made from its position. ``grader`` (scorers) and ``scripted`` (results
    by tool) are this task's own and never served. Raises `Invalid`, `InvalidMessage` or
    `InvalidAttributes` with the place, `Conflict` if the key is taken.
    """
    require(actor, environment.project, Right.AUTHOR)
    row = get_split(actor, environment, split, Right.AUTHOR) if isinstance(split, str) else split
    if row.environment_id != environment.pk:
        raise Invalid(f"The split {row.name!r} is another environment's.", place="split")
    parsed = parse_content(content)
    check_status(status, parsed)
    Environment.objects.select_for_update().get(pk=environment.pk)
    position = next_position(environment)
    task = Task(
        environment=environment,
        split=row,
        key=check_task_key(key) if key is not None else _free_key(environment, position),
        position=position,
        status=status,
    )
    try:
        with transaction.atomic():
            task.save()
    except IntegrityError:
        raise Conflict(
            f"There is a task {task.key!r} in {environment.slug!r} already.", place="key"
        ) from None
    hidden = (
        canonical_json(checked_scorers(grader, "grader")) if grader else "",
        canonical_json(checked_scripted(scripted)) if scripted else "",
    )
    _write(task, parsed, hidden, actor=actor, message=_checked_message(message))
    count(row.pk, tasks=int(status != TaskStatus.ARCHIVED), ready=int(status == TaskStatus.READY))
    _record(actor, task, "task.create", status=status)
    return task


@transaction.atomic
def save_revision(
    *,
    actor: Actor,
    task: Task,
    base: int,
    content: TaskContent | Mapping[str, Any],
    message: str = "",
    status: str | None = None,
    key: str | None = None,
    grader: Sequence[Mapping[str, Any]] | None = None,
    scripted: Mapping[str, Any] | None = None,
    made_by: Import | None = None,
) -> Revision:
    """Save ``content`` over the revision numbered ``base``; answer the then current revision.

    The same content under the same key makes no revision, unless it is ``made_by`` an import: that
    can be undone by it. Content without a word about candidates
    keeps those that are there. ``status`` and ``key`` None keep the
    task's; a ready task must stay complete. ``grader`` and ``scripted`` None keep what the current
    revision has. Raises `Conflict` (``current`` is the current revision) if ``base`` is no longer
    current and without it if the key is taken, `Invalid`, `InvalidMessage` or `InvalidAttributes`
    with the place.
    """
    require(actor, task.environment.project, Right.AUTHOR)
    parsed = parse_content(content)
    locked, current = _locked(task, base)
    if not parsed.mentions_candidates:
        parsed = replace(parsed, candidates=load_content(current.content).candidates)
    was, before = locked.key, locked.status
    wanted = before if status is None else status
    check_status(wanted, parsed)
    hidden = (
        current.grader if grader is None else canonical_json(checked_scorers(grader, "grader")),
        current.scripted if scripted is None else canonical_json(checked_scripted(scripted)),
    )
    said = _checked_message(message)
    renamed = "" if key is None else _rename(locked, key)
    saved = _write(
        locked,
        parsed,
        hidden,
        actor=actor,
        message=said or renamed,
        current=None if renamed or made_by else current,
        made_by=made_by,
    )
    if renamed:
        _record(actor, locked, "task.rename", was=was)
    _move_status(locked, wanted)
    if saved.number != base:
        _record(actor, locked, "task.save", revision=saved.number)
    if wanted != before:
        _record(actor, locked, "task.status", status=wanted)
    _mirror(locked, task)
    return saved


@transaction.atomic
def restore_revision(
    *, actor: Actor, task: Task, number: int, base: int, status: str | None = None
) -> Revision:
    """Make the content of revision ``number`` current again, as a new revision."""
    require(actor, task.environment.project, Right.AUTHOR)
    old = get_revision(actor, task, number)
    return save_revision(
        actor=actor,
        task=task,
        base=base,
        content=load_content(old.content),
        message=f"Restored revision {number}",
        status=status,
        grader=json.loads(old.grader or "[]"),
        scripted=json.loads(old.scripted or "{}"),
    )


@transaction.atomic
def set_status(*, actor: Actor, task: Task, status: str) -> Task:
    """Make a task a draft, ready or archived; becoming ready checks everything."""
    require(actor, task.environment.project, Right.AUTHOR)
    locked, current = _locked(task, None)
    if status != locked.status:
        check_status(status, load_content(current.content))
        _move_status(locked, status)
        _record(actor, locked, "task.status", status=status)
    _mirror(locked, task)
    return task


def archive_task(*, actor: Actor, task: Task) -> Task:
    """Take a task out of every list and out of service; its history stays."""
    return set_status(actor=actor, task=task, status=TaskStatus.ARCHIVED)


@transaction.atomic
def rename_task(*, actor: Actor, task: Task, key: str) -> Task:
    """Give the task another key. What harnesses receive holds it: so it is a new revision."""
    require(actor, task.environment.project, Right.AUTHOR)
    locked, current = _locked(task, None)
    old = locked.key
    if message := _rename(locked, key):
        hidden = (current.grader, current.scripted)
        _write(locked, load_content(current.content), hidden, actor=actor, message=message)
        _record(actor, locked, "task.rename", was=old)
    _mirror(locked, task)
    return task


@transaction.atomic
def move_task(*, actor: Actor, task: Task, split: Split | str) -> Task:
    """Put the task into another split of its environment."""
    require(actor, task.environment.project, Right.AUTHOR)
    wanted = (
        get_split(actor, task.environment, split, Right.AUTHOR) if isinstance(split, str) else split
    )
    if wanted.environment_id != task.environment_id:
        raise Invalid(f"The split {wanted.name!r} is another environment's.", place="split")
    locked, _ = _locked(task, None)
    if locked.split_id != wanted.pk:
        listed = int(locked.status != TaskStatus.ARCHIVED)
        ready = int(locked.status == TaskStatus.READY)
        count(locked.split_id, tasks=-listed, ready=-ready)
        count(wanted.pk, tasks=listed, ready=ready)
        locked.split = wanted
        locked.save(update_fields=["split"])
        _record(actor, locked, "task.move", split=wanted.name)
    _mirror(locked, task)
    return task


def check_status(status: str, content: TaskContent) -> None:
    """`Invalid` if a task of this content cannot have this status, with what is in the way."""
    if status not in TaskStatus.values:
        raise Invalid(
            f"{status[:60]!r} is not one of {', '.join(TaskStatus.values)}.", place="status"
        )
    problems = ready_problems(content) if status == TaskStatus.READY else []
    if problems:
        told = [f"{each.place}: {each.message}" for each in problems[:MOST_PROBLEMS_SHOWN]]
        if len(problems) > MOST_PROBLEMS_SHOWN:
            told.append(f"and {len(problems) - MOST_PROBLEMS_SHOWN} more")
        raise Invalid(
            f"Not ready to be served. {'; '.join(told)}. Until then it can be a draft.",
            place=problems[0].place,
        )


def next_position(environment: Environment) -> int:
    """The position after the last task; the caller holds the environment's row."""
    last = environment.tasks.aggregate(last=Max("position"))["last"]
    return 0 if last is None else int(last) + 1


def count(split_id: int, *, tasks: int, ready: int) -> None:
    """Keep a split's counters: how many more tasks it lists, and how many more it serves."""
    if tasks or ready:
        Split.objects.filter(pk=split_id).update(
            task_count=F("task_count") + tasks, ready_count=F("ready_count") + ready
        )


def derived(stored: StoredContent, parsed: TaskContent, actor: Actor) -> dict[str, Any]:
    """The columns of a task that follow from its current content."""
    return {
        "summary": stored.summary,
        "turns": stored.turns,
        "tags": list(parsed.tags),
        "updated_at": timezone.now(),
        "updated_by": str(actor)[:200],
    }


def revision_of(task: Task, stored: StoredContent, hidden: tuple[str, str]) -> Revision:
    """An unsaved revision of ``task``; number, author and message are the caller's."""
    return Revision(
        task=task,
        content=stored.content,
        content_hash=stored.content_hash,
        messages_body=stored.messages_body,
        prompt_body=stored.prompt_body,
        spec_body=stored.spec_body,
        grader=hidden[0],
        scripted=hidden[1],
    )


def _locked(task: Task, base: int | None) -> tuple[Task, Revision]:
    """The task's row, held until the transaction ends, and its current revision."""
    locked = Task.objects.select_for_update().get(pk=task.pk)
    locked.environment = task.environment
    current = locked.current
    if current is None:
        raise Invalid(f"Task {locked.key!r} has no content yet.", place="task")
    if base is not None and base != current.number:
        raise Conflict(
            f"Revision {current.number} was saved by {current.author} meanwhile; "
            f"you started from revision {base}.",
            place="base",
            current=current,
        )
    return locked, current


def _rename(locked: Task, key: str) -> str:
    """Give the locked row its new key; answer what to call that, nothing if it has this key."""
    check_task_key(key)
    old = locked.key
    if key == old:
        return ""
    locked.key = key
    try:
        with transaction.atomic():
            locked.save(update_fields=["key"])
    except IntegrityError:
        raise Conflict(f"There is a task {key!r} here already.", place="key") from None
    return f"Renamed from {old}"[:LONGEST_MESSAGE]


def _write(
    task: Task,
    parsed: TaskContent,
    hidden: tuple[str, str],
    *,
    actor: Actor,
    message: str,
    current: Revision | None = None,
    made_by: Import | None = None,
) -> Revision:
    """Write a revision and what follows from it; ``current`` itself if nothing differs from it."""
    hidden = ("" if hidden[0] == "[]" else hidden[0], "" if hidden[1] == "{}" else hidden[1])
    stored = store(parsed, key=task.key, hidden=hidden)
    if current is not None and current.content_hash == stored.content_hash:
        return current
    revision = revision_of(task, stored, hidden)
    last = current or task.current
    revision.number = 1 if last is None else last.number + 1
    revision.parent = last
    revision.author = str(actor)[:200]
    revision.message = message
    if made_by is not None:
        revision.made_by_import, revision.former_status = made_by, task.status
    revision.save()
    for name, value in derived(stored, parsed, actor).items():
        setattr(task, name, value)
    task.current = revision
    task.save()
    TaskText.objects.update_or_create(task=task, defaults={"text": stored.search_text})
    return revision


def _move_status(task: Task, status: str) -> None:
    if status == task.status:
        return
    listed = int(status != TaskStatus.ARCHIVED) - int(task.status != TaskStatus.ARCHIVED)
    ready = int(status == TaskStatus.READY) - int(task.status == TaskStatus.READY)
    count(task.split_id, tasks=listed, ready=ready)
    task.status = status
    task.save(update_fields=["status"])


def _mirror(saved: Task, task: Task) -> None:
    """Let the caller's object show what was saved."""
    for name in (
        "key", "status", "split", "summary", "turns", "tags", "updated_at", "updated_by", "current",
    ):  # fmt: skip
        setattr(task, name, getattr(saved, name))


def _free_key(environment: Environment, position: int) -> str:
    number = position + 1
    while environment.tasks.filter(key=f"task-{number}").exists():
        number += 1
    return f"task-{number}"


def _checked_message(message: str) -> str:
    fault = text_fault(message)
    if fault or len(message) > LONGEST_MESSAGE:
        raise Invalid(
            f"The message {fault or f'has at most {LONGEST_MESSAGE} characters'}.", place="message"
        )
    return message.strip()


def _record(actor: Actor, task: Task, action: str, **detail: Any) -> None:
    environment = task.environment
    record(
        actor=actor,
        project=environment.project,
        action=action,
        subject=f"{environment.slug}/{task.key}",
        **detail,
    )
