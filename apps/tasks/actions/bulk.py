"""Writing many new tasks at once: four statements a batch, whatever its size."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import OuterRef, Subquery
from django.utils import timezone

from apps.accounts.permissions import Actor
from apps.tasks.actions.tasks import count, derived, next_position, revision_of
from apps.tasks.content import StoredContent, TaskContent, store
from apps.tasks.models import Environment, Revision, Split, Task, TaskStatus, TaskText

BATCH = 500


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
    """What must be known of a task that is there already to tell whether it has this content."""

    pk: int
    split_id: int
    status: str
    content_hash: str
    grader: str
    scripted: str

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
    )  # fmt: skip
    return {
        row["key"]: Known(
            pk=row["pk"],
            split_id=row["split_id"],
            status=row["status"],
            content_hash=row["current__content_hash"],
            grader=row["current__grader"],
            scripted=row["current__scripted"],
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
) -> None:
    """Write ``new`` at the end of the list, in that order, and keep the split's counters.

    The caller has checked the right, holds the environment's row and knows that no key is taken.
    """
    first = next_position(environment)
    tasks = Task.objects.bulk_create(
        Task(
            environment=environment,
            split=split,
            key=each.key,
            position=position,
            status=each.status,
            **derived(each.stored, each.content, actor),
        )
        for position, each in enumerate(new, first)
    )
    author, now, revisions, texts = str(actor)[:200], timezone.now(), [], []
    for task, each in zip(tasks, new, strict=True):
        revision = revision_of(task, each.stored, (each.grader, each.scripted))
        revision.number, revision.author = 1, author
        revision.message, revision.created_at = message, now
        revisions.append(revision)
        texts.append(TaskText(task=task, text=each.stored.search_text))
    Revision.objects.bulk_create(revisions)
    TaskText.objects.bulk_create(texts)
    written = Revision.objects.filter(task=OuterRef("pk"), number=1).values("pk")
    Task.objects.filter(environment=environment, position__gte=first, current=None).update(
        current=Subquery(written)
    )
    count(
        split.pk,
        tasks=sum(each.status != TaskStatus.ARCHIVED for each in new),
        ready=sum(each.status == TaskStatus.READY for each in new),
    )
