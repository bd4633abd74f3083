"""Who plays which sample: claims by compare-and-set in the database, for a limited time.

A lease is known by its owner and the number of the claim. Whoever holds an expired one finds out at
the next write, which checks both; until somebody else has claimed the sample, it may be renewed.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.runs.counting import Change, apply_changes
from apps.runs.models import Run, RunState, Sample, SampleState
from apps.traces.actions import (
    Closing,
    close_traces,
    forget_plans,
    mark_unknown,
    open_traces,
    rewind,
)
from apps.traces.bulk import update_each
from apps.traces.models import ModelCall

_CHUNK = 500
MOST_CLAIMS = 10
"""A sample that took down this many players is not handed to another one."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to play one sample, as long as no newer claim exists."""

    sample_id: int
    run_id: int
    trace_id: int
    owner: str
    claim: int


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A row of the ledger as a resumed conversation needs it."""

    ordinal: int
    attempt: int
    state: str
    fingerprint: str
    superseded: bool
    response: str
    reason: str
    error: str


@dataclass(frozen=True, slots=True)
class Claimed:
    """A sample to play: its columns, and what was already paid for."""

    lease: Lease
    position: int
    columns: dict[str, Any]
    recorded: tuple[RecordedCall, ...]


def lease_time() -> timedelta:
    return timedelta(seconds=settings.RUN_LEASE_SECONDS)


def claimable(run: Run) -> QuerySet[Sample]:
    """Samples of a run that nobody plays."""
    expired = Q(state=SampleState.RUNNING, lease_expires_at__lt=timezone.now())
    return run.samples.filter(Q(state=SampleState.WAITING) | expired)


def claim(owner: str, *, most: int, run_id: int | None = None) -> list[Claimed]:
    """Take up to ``most`` samples, of one run or of all that are open, older runs first.

    A run's ``concurrency`` is a limit over all players. Calls that a former player of a sample had
    sent and not heard of become unknown.
    """
    runs = Run.objects.filter(state__in=(RunState.QUEUED, RunState.RUNNING)).order_by("pk")
    if run_id is not None:
        runs = runs.filter(pk=run_id)
    claimed: list[Claimed] = []
    for run in runs:
        if len(claimed) < most:
            claimed += _claim_of(run, owner, most - len(claimed))
    return claimed


@transaction.atomic
def _claim_of(run: Run, owner: str, most: int) -> list[Claimed]:
    now = timezone.now()
    live = run.samples.filter(state=SampleState.RUNNING, lease_expires_at__gte=now).count()
    room = min(most, run.concurrency - live)
    if room <= 0:
        return []
    rows = list(
        claimable(run)
        .select_for_update(of=("self",), skip_locked=True, no_key=True)
        .select_related("revision__task")
        .only(
            "run_id", "position", "trial", "claims", "trace_id", "state",
            "revision__spec_body", "revision__task__key",
        )
        .order_by("position")[:room]
    )  # fmt: skip
    if not rows:
        return []
    spent = [row for row in rows if row.claims >= MOST_CLAIMS]
    rows = [row for row in rows if row.claims < MOST_CLAIMS]
    begun = [row.trace_id for row in rows if row.trace_id is not None]
    change = Change(is_claimed=True)
    _give_up(spent, change)
    _prepare_again(begun, change)
    _open_missing_traces(run, rows)
    _take(rows, owner)
    apply_changes({run.pk: change})
    return _as_claimed(rows, owner, _recorded_calls(begun))


def _take(rows: Sequence[Sample], owner: str) -> None:
    until = timezone.now() + lease_time()
    for row in rows:
        row.claims += 1
    update_each(
        Sample,
        match=("id",),
        rows=[
            {
                "id": row.pk,
                "state": SampleState.RUNNING,
                "lease_owner": owner,
                "lease_expires_at": until,
                "claims": row.claims,
                "trace_id": row.trace_id,
            }
            for row in rows
        ],
    )


def _open_missing_traces(run: Run, rows: Sequence[Sample]) -> None:
    new = [row for row in rows if row.trace_id is None]
    titles = [
        row.revision.task.key + (f" (trial {row.trial + 1})" if run.trials > 1 else "")
        for row in new
    ]
    for row, trace in zip(new, open_traces(run.project_id, titles), strict=True):
        row.trace_id = trace.pk


def _prepare_again(traces: Sequence[int], change: Change) -> None:
    """Leave behind what a former player had not finished; what was received stays in the ledger."""
    if traces:
        change.calls_unknown += mark_unknown(traces)
        forget_plans(traces)
        rewind(traces)


def _give_up(rows: Sequence[Sample], change: Change) -> None:
    if not rows:
        return
    traces = [row.trace_id for row in rows if row.trace_id is not None]
    change.calls_unknown += mark_unknown(traces)
    change.done += len(rows)
    change.ended["limit"] += len(rows)
    message = f"{MOST_CLAIMS} players took this sample and none of them finished it."
    close_traces([Closing(trace, "limit", "", "", message, None) for trace in traces])
    Sample.objects.filter(pk__in=[row.pk for row in rows]).update(
        state=SampleState.DONE, ended="limit", finished_at=timezone.now(), lease_owner=""
    )


def _recorded_calls(traces: Sequence[int]) -> dict[int, list[RecordedCall]]:
    recorded: dict[int, list[RecordedCall]] = {}
    calls = ModelCall.objects.filter(trace_id__in=traces).order_by("ordinal", "attempt")
    for call in calls:
        recorded.setdefault(call.trace_id, []).append(
            RecordedCall(
                ordinal=call.ordinal,
                attempt=call.attempt,
                state=call.state,
                fingerprint=call.fingerprint,
                superseded=call.superseded,
                response=call.response,
                reason=call.reason,
                error=call.error,
            )
        )
    return recorded


def _as_claimed(
    rows: Sequence[Sample], owner: str, recorded: Mapping[int, Sequence[RecordedCall]]
) -> list[Claimed]:
    found = []
    for row in rows:
        trace_id = row.trace_id or 0
        found.append(
            Claimed(
                lease=Lease(row.pk, row.run_id, trace_id, owner, row.claims),
                position=row.position,
                columns=json.loads(row.revision.spec_body),
                recorded=tuple(recorded.get(trace_id, ())),
            )
        )
    return found


def renew(owner: str) -> set[int]:
    """Extend every lease of ``owner``; gives the ids of the samples it still holds."""
    held = Sample.objects.filter(lease_owner=owner, state=SampleState.RUNNING)
    held.update(lease_expires_at=timezone.now() + lease_time())
    return set(held.values_list("pk", flat=True))


def release(leases: Sequence[Lease]) -> None:
    """Give samples back unfinished, for anybody to claim at once."""
    for lease in leases:
        Sample.objects.filter(
            pk=lease.sample_id,
            lease_owner=lease.owner,
            claims=lease.claim,
            state=SampleState.RUNNING,
        ).update(state=SampleState.WAITING, lease_owner="", lease_expires_at=None)


def clear_cancelled() -> None:
    """End what players that are gone left behind in runs that are being cancelled."""
    for run in Run.objects.filter(state=RunState.CANCELLING).order_by("pk"):
        with transaction.atomic():
            change = Change()
            cancel_idle_samples(run, change)
            apply_changes({run.pk: change})


def cancel_idle_samples(run: Run, change: Change) -> None:
    """Mark the samples of a run that nobody plays as cancelled."""
    marks = {
        "state": SampleState.CANCELLED,
        "ended": "cancelled",
        "finished_at": timezone.now(),
        "lease_owner": "",
        "lease_expires_at": None,
    }
    idle = claimable(run)
    begun = list(
        idle.filter(trace__isnull=False)
        .select_for_update(no_key=True)
        .values_list("pk", "trace_id")
    )
    for start in range(0, len(begun), _CHUNK):
        some = begun[start : start + _CHUNK]
        traces = [trace for _, trace in some]
        change.calls_unknown += mark_unknown(traces)
        forget_plans(traces)
        close_traces([Closing(trace, "cancelled", "", "", "", None) for trace in traces])
        change.ended["cancelled"] += Sample.objects.filter(pk__in=[pk for pk, _ in some]).update(
            **marks
        )
    change.ended["cancelled"] += idle.filter(trace__isnull=True).update(**marks)


def runs_without_player() -> list[int]:
    """Open runs with samples to play and nobody playing any: their doorbell should be rung."""
    now = timezone.now()
    playing = Sample.objects.filter(state=SampleState.RUNNING, lease_expires_at__gte=now)
    rows = Run.objects.filter(state__in=(RunState.QUEUED, RunState.RUNNING)).exclude(
        pk__in=playing.values("run_id")
    )
    return list(rows.order_by("pk").values_list("pk", flat=True))
