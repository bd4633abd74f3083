"""Walking a list downwards by number, so that no page costs more than another."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from apps.accounts.errors import Invalid

LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Walked:
    """Some rows, newest first; ``next`` is where the following page begins, None at the end."""

    rows: list[Any]
    next: int | None


def walk_down(rows: QuerySet[Any], *, by: str, before: str, size: int) -> Walked:
    """Up to ``size`` rows whose ``by`` is below ``before`` (empty: from the top)."""
    if before:
        rows = rows.filter(**{f"{by}__lt": whole_number(before, place="before")})
    found = list(rows.order_by(f"-{by}")[: size + 1])
    last = getattr(found[size - 1], by) if len(found) > size else None
    return Walked(rows=found[:size], next=last)


def whole_number(text: str, *, place: str) -> int:
    """A number of an address; `Invalid` for anything else."""
    if not (text.isascii() and text.isdigit()) or int(text[:20]) > LARGEST:
        raise Invalid(f"{text[:60]!a} is not a number of this list.", place=place)
    return int(text)
