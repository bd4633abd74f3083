"""What players write, as small orders, and how a group of them becomes one transaction."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import assert_never

from django.db import DatabaseError, transaction
from django.utils import timezone

from apps.runs.counting import Change, apply_changes
from apps.runs.leases import Lease
from apps.runs.models import Run, RunState, Sample, SampleState
from apps.runs.writer import Written
from apps.traces.actions import (
    CallKey,
    Closing,
    NewCall,
    NewEntry,
    NewScore,
    Outcome,
    append_entries,
    close_traces,
    discard_entries,
    forget_plans,
    plan_calls,
    record_outcomes,
    send_calls,
    settle_calls,
    store_scores,
)
from apps.traces.bulk import update_each
from apps.traces.models import CallState, ModelCall


class Verdict(Enum):
    """Whether a player may go on with a sample."""

    GO = "go"
    CANCELLED = "its run is being cancelled"
    LOST = "somebody else has claimed it"


@dataclass(frozen=True, slots=True)
class Progress:
    """What was added to a transcript since the last write."""

    entries: Sequence[NewEntry] = ()
    discarded: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """A call waits for its turn at an endpoint."""

    lease: Lease
    call: NewCall


@dataclass(frozen=True, slots=True)
class Send:
    """A call goes out as soon as this is committed with the verdict `Verdict.GO`."""

    lease: Lease
    call: NewCall
    was_planned: bool
    progress: Progress


@dataclass(frozen=True, slots=True)
class Record:
    """What came back. It is written whoever holds the sample by now: it was paid for."""

    lease: Lease
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of a sample. ``is_cancelled``: its player was told to stop."""

    lease: Lease
    progress: Progress
    closing: Closing
    kept: Sequence[CallKey] = ()
    dropped: Sequence[CallKey] = ()
    scores: Sequence[NewScore] = ()
    is_cancelled: bool = False

    @property
    def is_scored(self) -> bool:
        """Whether every scorer gave values."""
        return bool(self.scores) and not any(score.unscored_reason for score in self.scores)


Write = Plan | Send | Record | Finish


@dataclass
class _Group:
    """The rows of one transaction, sorted by kind."""

    planned: list[NewCall] = field(default_factory=list)
    sent: list[NewCall] = field(default_factory=list)
    sent_as_planned: list[CallKey] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    progress: list[tuple[int, Progress]] = field(default_factory=list)
    finished: list[Finish] = field(default_factory=list)
    changes: dict[int, Change] = field(default_factory=lambda: defaultdict(Change))


def commit(writes: Sequence[Write]) -> list[Written]:
    """Write a group in one transaction; if it fails, each by itself, so that one spoils no other.

    Gives a `Verdict` for every `Plan`, `Send` and `Finish`, None for a `Record`.
    """
    try:
        with transaction.atomic():
            return _apply(writes)
    except DatabaseError as error:
        if len(writes) == 1:
            return [Written(error=error)]
    return [written for write in writes for written in commit([write])]


def _apply(writes: Sequence[Write]) -> list[Written]:
    verdicts = _verdicts({write.lease for write in writes})
    group = _Group()
    results = [Written(_sort(write, verdicts[write.lease], group)) for write in writes]
    _write_calls(group)
    _write_entries(group)
    _write_ends(group)
    apply_changes(group.changes)
    return results


def _verdicts(leases: set[Lease]) -> dict[Lease, Verdict]:
    """Look at all samples at once, and hold them until the transaction ends."""
    rows = Sample.objects.select_for_update(no_key=True).filter(
        pk__in=[lease.sample_id for lease in leases], state=SampleState.RUNNING
    )
    held = {
        pk: (owner, claims)
        for pk, owner, claims in rows.order_by("pk").values_list("pk", "lease_owner", "claims")
    }
    cancelled = set(
        Run.objects.filter(
            pk__in={lease.run_id for lease in leases},
            state__in=(RunState.CANCELLING, RunState.CANCELLED),
        ).values_list("pk", flat=True)
    )
    found = {}
    for lease in leases:
        if held.get(lease.sample_id) != (lease.owner, lease.claim):
            found[lease] = Verdict.LOST
        else:
            found[lease] = Verdict.CANCELLED if lease.run_id in cancelled else Verdict.GO
    return found


def _sort(write: Write, verdict: Verdict, group: _Group) -> Verdict | None:
    match write:
        case Plan():
            if verdict is Verdict.GO:
                group.planned.append(write.call)
            return verdict
        case Send():
            if verdict is not Verdict.LOST:
                group.progress.append((write.lease.trace_id, write.progress))
            if verdict is Verdict.GO:
                _sort_send(write, group)
            return verdict
        case Record():
            _sort_record(write, verdict, group)
            return None
        case Finish():
            if verdict is not Verdict.LOST:
                _sort_finish(write, group)
            return verdict
        case _:
            assert_never(write)


def _sort_send(send: Send, group: _Group) -> None:
    if send.was_planned:
        group.sent_as_planned.append(send.call.key)
    else:
        group.sent.append(send.call)
    group.changes[send.lease.run_id].calls += 1


def _sort_record(record: Record, verdict: Verdict, group: _Group) -> None:
    outcome = record.outcome
    change = group.changes[record.lease.run_id]
    change.input_tokens += outcome.input_tokens or 0
    change.output_tokens += outcome.output_tokens or 0
    change.cost += outcome.cost or 0
    if verdict is Verdict.LOST:
        # The next player has written the call off as unknown; now it is known after all.
        key = outcome.key
        change.calls_unknown -= ModelCall.objects.filter(
            trace_id=key.trace_id,
            ordinal=key.ordinal,
            attempt=key.attempt,
            state=CallState.UNKNOWN,
        ).update(state=CallState.LATE)
        if outcome.state == CallState.RECEIVED:
            outcome = replace(outcome, state=CallState.LATE)
    group.outcomes.append(outcome)


def _sort_finish(finish: Finish, group: _Group) -> None:
    group.progress.append((finish.lease.trace_id, finish.progress))
    group.finished.append(finish)
    change = group.changes[finish.lease.run_id]
    change.ended[finish.closing.ended] += 1
    if not finish.is_cancelled:
        change.done += 1
        change.scored += finish.is_scored


def _write_calls(group: _Group) -> None:
    if group.planned:
        plan_calls(group.planned)
    if group.sent or group.sent_as_planned:
        send_calls(group.sent, group.sent_as_planned)
    record_outcomes(group.outcomes)


def _write_entries(group: _Group) -> None:
    append_entries([entry for _, progress in group.progress for entry in progress.entries])
    for trace_id, progress in group.progress:
        for first, last in progress.discarded:
            discard_entries(trace_id, first, last)


def _write_ends(group: _Group) -> None:
    finished = group.finished
    if not finished:
        return
    forget_plans([finish.lease.trace_id for finish in finished if finish.is_cancelled])
    settle_calls(
        [key for finish in finished for key in finish.kept],
        [key for finish in finished for key in finish.dropped],
    )
    close_traces([finish.closing for finish in finished])
    store_scores([score for finish in finished for score in finish.scores])
    now = timezone.now()
    update_each(
        Sample,
        match=("id",),
        rows=[
            {
                "id": finish.lease.sample_id,
                "state": SampleState.CANCELLED if finish.is_cancelled else SampleState.DONE,
                "ended": finish.closing.ended,
                "finished_at": now,
                "lease_owner": "",
                "lease_expires_at": None,
            }
            for finish in finished
        ],
    )
