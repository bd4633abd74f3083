"""Who works on an import or export, until when: claims by compare-and-set in the database.

Whoever lost the lease finds out at the next write, which names the claim; nothing of it is kept.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from apps.accounts.permissions import OPERATOR, Actor
from apps.tasks.models import OPEN_IMPORTS, Export, ExportState, Import, Transfer

STREAMED: Final = timedelta(hours=1)
"""How long the sender of a stream may take for a piece before it counts as broken off."""

MOST_ATTEMPTS = 5
"""A step that took down this many workers is not handed to another one."""

_OPEN_STATES: Final[dict[type[Transfer], tuple[str, ...]]] = {
    Import: OPEN_IMPORTS,
    Export: (ExportState.WRITING,),
}

Row = TypeVar("Row", Import, Export)
ShouldStop = Callable[[], bool]


def lease_time() -> timedelta:
    """Twice that of a run's sample: a batch of large rows takes longer than a sign of life."""
    return timedelta(seconds=2 * settings.RUN_LEASE_SECONDS)


def until(lease: timedelta) -> datetime:
    return timezone.now() + lease


class LeaseLost(Exception):
    """Somebody else works on it now, or it was discarded."""


class Stopped(Exception):
    """The worker was asked to stop; another one goes on."""


def as_asked_by(actor: Actor) -> dict[str, Any]:
    """The columns that say on whose behalf a step is done."""
    return {"user": actor.user, "api_key": actor.api_key, "is_operator": actor.operator}


def asked_by(row: Transfer) -> Actor | None:
    """On whose behalf; None if that person or key is no longer there."""
    if row.is_operator:
        return OPERATOR
    if row.user is None and row.api_key is None:
        return None
    return Actor(user=row.user, api_key=row.api_key)


def _open(model: type[Row]) -> QuerySet[Row]:
    free = Q(lease_expires_at=None) | Q(lease_expires_at__lt=timezone.now())
    return model._default_manager.filter(free, state__in=_OPEN_STATES[model])


def waiting(model: type[Row]) -> list[int]:
    """The rows that somebody has to work on and nobody does."""
    return list(_open(model).order_by("pk").values_list("pk", flat=True))


def claim(model: type[Row], pk: int) -> Row | None:
    """Take the lease of a row; None if there is nothing to do or somebody does it."""
    taken = _open(model).filter(pk=pk)
    if not taken.update(
        claim=F("claim") + 1,
        attempts=F("attempts") + 1,
        lease_expires_at=until(lease_time()),
    ):
        return None
    return (
        model._default_manager.select_related("environment__project", "user", "api_key")
        .filter(pk=pk)
        .first()
    )


def keep(
    row: Row, *, lease: timedelta | None = None, give_up: bool = False, **columns: Any
) -> None:
    """Write columns and renew the lease, or give it up; raises `LeaseLost`."""
    columns["lease_expires_at"] = None if give_up else until(lease or lease_time())
    held = type(row)._default_manager.filter(pk=row.pk, claim=row.claim, state=row.state)
    if not held.update(**columns):
        raise LeaseLost
    for name, value in columns.items():
        setattr(row, name, value)


def finish(row: Row, state: str, **columns: Any) -> None:
    """The step is done: the row's state is ``state`` from now on."""
    keep(row, give_up=True, state=state, attempts=0, finished_at=timezone.now(), **columns)


def give_back(row: Row) -> None:
    """Let another worker go on; the attempt does not count."""
    keep(row, give_up=True, attempts=max(0, row.attempts - 1))
