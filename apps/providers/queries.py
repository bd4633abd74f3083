"""Reading model endpoints. The asker comes first; a secret is never part of an answer."""

from collections.abc import Iterable

from django.db.models import QuerySet

from apps.accounts.errors import NotFound
from apps.accounts.models import Project
from apps.accounts.permissions import Actor, Right, require
from apps.dialogue.blocks.json_values import text_fault
from apps.providers.models import ModelEndpoint


def endpoints(actor: Actor, project: Project, *, archived: bool = False) -> QuerySet[ModelEndpoint]:
    """The project's endpoints by key; with ``archived`` those put away too."""
    require(actor, project, Right.VIEW)
    rows = project.endpoints.order_by("key").defer("secret")
    return rows if archived else rows.filter(archived_at=None)


def get_endpoint(
    actor: Actor, project: Project, key: str, *, right: Right = Right.VIEW
) -> ModelEndpoint:
    """The endpoint named ``key``; `NotFound` if there is none or it was put away."""
    require(actor, project, right)
    rows = project.endpoints.filter(key=key, archived_at=None)
    row = None if text_fault(key) else rows.first()
    if row is None:
        raise NotFound(f"There is no model endpoint {key!r} in {project.slug!r}.", place="endpoint")
    return row


def endpoints_by_key(
    actor: Actor, project: Project, keys: Iterable[str], *, archived: bool = False
) -> dict[str, ModelEndpoint]:
    """Those of ``keys`` that exist; who needs all of them compares."""
    require(actor, project, Right.VIEW)
    rows = project.endpoints.filter(key__in={key for key in keys if not text_fault(key)})
    if not archived:
        rows = rows.filter(archived_at=None)
    return {row.key: row for row in rows}


def endpoints_of_run(project: Project, keys: Iterable[str]) -> dict[str, ModelEndpoint]:
    """The endpoints a run was launched with, for its players: the launch asked for the right.

    Raises `NotFound` naming the first one that was put away since.
    """
    rows = {row.key: row for row in project.endpoints.filter(key__in=set(keys), archived_at=None)}
    for key in keys:
        if key not in rows:
            raise NotFound(f"The model endpoint {key!r} does not exist any more.", place="endpoint")
    return rows
