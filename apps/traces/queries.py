"""Reading traces: the turns, the calls behind them, the scores."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.accounts.errors import NotFound
from apps.accounts.models import Project
from apps.accounts.permissions import Actor, Right, require
from apps.traces.models import ModelCall, Score, Trace, TraceEntry


@dataclass(frozen=True)
class EntryView:
    """One event of a trace; ``body`` is its content as JSON."""

    position: int
    kind: str
    path: str
    body: dict[str, Any]
    discarded: bool
    at: datetime


@dataclass(frozen=True)
class TraceView:
    """A trace as it is shown. ``more``: entries after the last one here exist."""

    trace: Trace
    entries: list[EntryView]
    calls: list[ModelCall]
    scores: list[Score]
    more: bool


def get_trace(
    actor: Actor, project: Project, pk: int, *, after: int = -1, limit: int | None = None
) -> TraceView:
    """The trace ``pk`` of ``project``, its entries after position ``after``, at most ``limit``.

    Calls come with the endpoint's key at hand and in order; raw replies are JSON text in
    ``call.response``.
    """
    require(actor, project, Right.VIEW)
    trace = project.traces.filter(pk=pk).first()
    if trace is None:
        raise NotFound(f"There is no trace {pk} in {project.slug!r}.", place="trace")
    rows = trace.entries.filter(position__gt=after).order_by("position")
    found = list(rows if limit is None else rows[: limit + 1])
    return TraceView(
        trace=trace,
        entries=[_view(row) for row in found[:limit]],
        calls=list(
            trace.calls.select_related("endpoint")
            .defer("endpoint__secret")
            .order_by("ordinal", "attempt")
        ),
        scores=list(trace.scores.order_by("scorer")),
        more=limit is not None and len(found) > limit,
    )


def _view(row: TraceEntry) -> EntryView:
    return EntryView(
        position=row.position,
        kind=row.kind,
        path=row.path,
        body=json.loads(row.body),
        discarded=row.discarded,
        at=row.at,
    )
