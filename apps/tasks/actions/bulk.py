"""Writing many new tasks at once: a handful of statements a batch, whatever its size."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Model, OuterRef, Subquery
from django.utils import timezone

from apps.accounts.permissions import Actor
from apps.tasks.actions.tasks import count, next_position
from apps.tasks.content import StoredContent, TaskContent, store
from apps.tasks.models import (
    Environment,
    Import,
    ImportState,
    Revision,
    Split,
    Task,
    TaskStatus,
    TaskText,
)

BATCH = 1000


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task that is not there yet. ``grader`` and ``scripted`` are JSON texts or empty."""

    key: str
    status: str
    content: TaskContent
    stored: StoredContent
    grader: str = ""
    scripted: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What must be known of a task that is there already to tell whether it has this content.

    ``undone``: what it holds was written by an import that was taken back.
    """

    pk: int
    split_id: int
    status: str
    content_hash: str
    grader: str
    scripted: str
    undone: bool = False

    def has(self, content: TaskContent, stored: StoredContent, key: str) -> bool:
        """True if ``content`` (stored without anything hidden) is what the task has now."""
        if self.grader or self.scripted:
            stored = store(content, key=key, hidden=(self.grader, self.scripted))
        return stored.content_hash == self.content_hash


def known_tasks(environment: Environment, keys: Iterable[str]) -> dict[str, Known]:
    """The tasks of ``environment`` that have one of ``keys``, by key."""
    rows = Task.objects.filter(environment=environment, key__in=list(keys)).values(
        "key", "pk", "split_id", "status",
        "current__content_hash", "current__grader", "current__scripted",
        "current__made_by_import__state",
    )  # fmt: skip
    return {
        row["key"]: Known(
            pk=row["pk"],
            split_id=row["split_id"],
            status=row["status"],
            content_hash=row["current__content_hash"],
            grader=row["current__grader"],
            scripted=row["current__scripted"],
            undone=row["current__made_by_import__state"] == ImportState.UNDONE,
        )
        for row in rows
    }


def insert_tasks(
    *,
    actor: Actor,
    environment: Environment,
    split: Split,
    new: Sequence[NewTask],
    message: str,
    made_by: Import | None = None,
) -> None:
    """Write ``new`` at the end of the list, in that order, and keep the split's counters.

    The caller has checked the right, holds the environment's row and knows that no key is taken.
    """
    if not new:
        return
    first, author = next_position(environment), str(actor)[:200]
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    _insert(
        Task,
        (
            {
                "environment_id": environment.pk,
                "split_id": split.pk,
                "key": each.key,
                "position": position,
                "status": str(each.status),
                "current_id": None,
                "summary": each.stored.summary,
                "turns": each.stored.turns,
                "tags": json.dumps(each.content.tags),
                "created_at": now,
                "updated_at": now,
                "updated_by": author,
            }
            for position, each in enumerate(new, first)
        ),
    )
    fresh = Task.objects.filter(environment=environment, position__gte=first)
    ids = dict(fresh.values_list("key", "pk"))
    shared = {
        "number": 1,
        "parent_id": None,
        "author": author,
        "message": message,
        "created_at": now,
        "made_by_import_id": None if made_by is None else made_by.pk,
        "former_status": "",
    }
    _insert(Revision, (_revision(ids[each.key], each, shared) for each in new))
    _insert(TaskText, ({"task_id": ids[e.key], "text": e.stored.search_text} for e in new))
    written = Revision.objects.filter(task=OuterRef("pk"), number=1).values("pk")
    fresh.filter(current=None).update(current=Subquery(written))
    count(
        split.pk,
        tasks=sum(each.status != TaskStatus.ARCHIVED for each in new),
        ready=sum(each.status == TaskStatus.READY for each in new),
    )


def _revision(task: int, new: NewTask, shared: dict[str, Any]) -> dict[str, Any]:
    return {
        **shared,
        "task_id": task,
        "content": new.stored.content,
        "content_hash": new.stored.content_hash,
        "messages_body": new.stored.messages_body,
        "prompt_body": new.stored.prompt_body,
        "spec_body": new.stored.spec_body,
        "grader": new.grader,
        "scripted": new.scripted,
    }


def _insert(model: type[Model], rows: Iterable[dict[str, Any]]) -> None:
    """Insert rows given by column, in the values that the database takes.

    Making model instances and compiling them costs twice what the database needs for the rows.
    PostgreSQL takes them as one stream: a statement for each costs its server twice the time.
    """
    columns = [f.attname for f in model._meta.concrete_fields if f.attname != "id"]
    quoted = ", ".join(map(connection.ops.quote_name, columns))
    table, marks = connection.ops.quote_name(model._meta.db_table), ", ".join(["%s"] * len(columns))
    values = ([row[column] for column in columns] for row in rows)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({quoted}) FROM STDIN") as copy:
                for each in values:
                    copy.write_row(each)
        else:
            insert = f"INSERT INTO {table} ({quoted}) VALUES ({marks})"  # noqa: S608 -- our names
            cursor.executemany(insert, list(values))
