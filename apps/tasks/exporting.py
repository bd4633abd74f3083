"""Tasks out again, one JSON line each, in the canonical shape that imports read back."""

from collections.abc import Iterator

from django.db.models import Q

from apps.accounts.permissions import Actor, Right, require
from apps.dialogue.message import conversation_to_wire
from apps.tasks.content import canonical_json, load_content
from apps.tasks.models import Environment, Task, TaskStatus
from apps.tasks.queries import get_split

BATCH = 200


def export_lines(
    actor: Actor, environment: Environment, *, split: str | None = None, status: str | None = None
) -> Iterator[bytes]:
    """Every task by position as ``{"id", "conversation", ...attributes, "tools"?, "tags"?}``.

    Without ``status`` all but the archived ones. Rights and names are checked before the first line
    is asked for; batches are read one by one, so that a slow reader holds no transaction open.
    """
    require(actor, environment.project, Right.VIEW)
    where = Q(environment=environment)
    if split is not None:
        where &= Q(split=get_split(actor, environment, split))
    where &= Q(status=status) if status else ~Q(status=TaskStatus.ARCHIVED)
    return _lines(where)


def _lines(where: Q) -> Iterator[bytes]:
    after = Q()
    while True:
        rows = list(
            Task.objects.filter(where, after)
            .select_related("current")
            .order_by("position", "pk")[:BATCH]
        )
        for row in rows:
            yield _line(row)
        if len(rows) < BATCH:
            return
        last = rows[-1]
        after = Q(position__gte=last.position) & (Q(position__gt=last.position) | Q(pk__gt=last.pk))


def _line(task: Task) -> bytes:
    row: dict[str, object] = {"id": task.key}
    if task.current is not None:
        content = load_content(task.current.content)
        row["conversation"] = conversation_to_wire(content.messages)
        row.update(content.attributes)
        for name, value in (("tools", content.tools), ("tags", list(content.tags))):
            if value and name not in row:
                row[name] = value
    return canonical_json(row).encode() + b"\n"
