"""Pages by cursor: where the last page ended, never how many rows came before.

A cursor is opaque to callers: the sort values of the last row, as base64 of a JSON list. It is no
secret and holds nothing that the row did not show.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import Model, Q, QuerySet
from pydantic import Field

from apps.accounts.errors import Invalid
from apps.api.parsing import Query
from apps.dialogue.blocks.json_values import text_fault

Row = TypeVar("Row", bound=Model)

LONGEST_CURSOR = 2000
LARGEST_NUMBER = 2**63 - 1


class PageQuery(Query):
    """``?limit=&after=``."""

    limit: int = Field(50, ge=1, le=500, description="Rows at most")
    after: str = Field("", max_length=LONGEST_CURSOR, description="``next`` of the page before")


@dataclass(frozen=True)
class Order:
    """One column of a sort order: its name for the ORM, its Python type, its direction."""

    column: str
    kind: type[int] | type[str] = int
    descending: bool = False

    def term(self) -> str:
        return f"-{self.column}" if self.descending else self.column

    def past(self, value: int | str) -> Q:
        return Q(**{f"{self.column}__{'lt' if self.descending else 'gt'}": value})


@dataclass(frozen=True)
class Cut(Generic[Row]):
    """The rows of one page, and the cursor of the next (None: this was the last)."""

    rows: list[Row]
    next: str | None


def cut(rows: QuerySet[Row], query: PageQuery, *order: Order) -> Cut[Row]:
    """The page of ``rows`` that ``query`` asks for. ``order`` has to be unique in all."""
    rows = rows.order_by(*[each.term() for each in order])
    if query.after:
        rows = rows.filter(_past(order, read_cursor(query.after, order)))
    found = list(rows[: query.limit + 1])
    if len(found) <= query.limit:
        return Cut(found, None)
    found.pop()
    return Cut(found, write_cursor([_value(found[-1], each.column) for each in order]))


def write_cursor(values: Sequence[Any]) -> str:
    raw = json.dumps(list(values), separators=(",", ":"))
    return base64.urlsafe_b64encode(raw.encode()).decode().rstrip("=")


def read_cursor(cursor: str, order: Sequence[Order]) -> list[Any]:
    """The values of a cursor; `Invalid` for one that this order did not write."""
    refusal = Invalid("This is not a cursor of this list.", place="query.after")
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        values = json.loads(raw)
    except (binascii.Error, ValueError, RecursionError):
        raise refusal from None
    if not isinstance(values, list) or len(values) != len(order):
        raise refusal
    if not all(_fits(value, each) for value, each in zip(values, order, strict=True)):
        raise refusal
    return values


def _fits(value: object, order: Order) -> bool:
    if isinstance(value, str):
        return order.kind is str and not text_fault(value)
    return type(value) is int and order.kind is int and abs(value) <= LARGEST_NUMBER


def _past(order: Sequence[Order], values: Sequence[Any]) -> Q:
    """Rows after ``values``: later in the first column, or equal there and later in the next."""
    condition = Q()
    equal = Q()
    for each, value in zip(order, values, strict=True):
        condition |= equal & each.past(value)
        equal &= Q(**{each.column: value})
    return condition


def _value(row: Model, column: str) -> Any:
    value: Any = row
    for name in column.split("__"):
        value = getattr(value, name)
    return value
