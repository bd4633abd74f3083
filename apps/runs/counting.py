"""The counters of runs, kept in the transaction of the rows they count, and when a run is over."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from django.utils import timezone

from apps.runs.models import Run, RunState, SampleState
from apps.runs.results import compute_metrics


@dataclass
class Change:
    """What a transaction adds to a run's counters."""

    calls: int = 0
    calls_unknown: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal = field(default_factory=Decimal)
    done: int = 0
    scored: int = 0
    ended: Counter[str] = field(default_factory=Counter)
    is_claimed: bool = False
    is_cancelled: bool = False
    is_resumed: bool = False


def apply_changes(changes: Mapping[int, Change]) -> None:
    """Add to the counters of runs, by id, and end the runs that have nothing left to play.

    Locks the runs in the order of their ids; whoever also locks samples locks those first.
    """
    rows = Run.objects.select_for_update(no_key=True).filter(pk__in=changes).order_by("pk")
    for run in rows:
        _add(run, changes[run.pk])
        settle(run)
        run.save(update_fields=_FIELDS)


_FIELDS = (
    "state", "calls", "calls_unknown", "input_tokens", "output_tokens", "cost", "samples_done",
    "samples_scored", "ended", "metrics", "error", "started_at", "finished_at",
    "cancel_requested_at",
)  # fmt: skip


def _add(run: Run, change: Change) -> None:
    run.calls += change.calls
    run.calls_unknown += change.calls_unknown
    run.input_tokens += change.input_tokens
    run.output_tokens += change.output_tokens
    run.cost += change.cost
    run.samples_done += change.done
    run.samples_scored += change.scored
    if change.ended:
        counts = Counter(run.ended)
        counts.update(change.ended)
        run.ended = {reason: count for reason, count in counts.items() if count > 0}
    _move(run, change)


def _move(run: Run, change: Change) -> None:
    """Follow what people and players have done to the run."""
    if change.is_claimed:
        run.started_at = run.started_at or timezone.now()
        if run.state == RunState.QUEUED:
            run.state = RunState.RUNNING
    if change.is_cancelled and run.state in (RunState.QUEUED, RunState.RUNNING):
        run.state = RunState.CANCELLING
        run.cancel_requested_at = timezone.now()
    if change.is_resumed:
        run.state = RunState.QUEUED
        run.error = ""
        run.cancel_requested_at = None
        run.finished_at = None


def settle(run: Run) -> None:
    """Give ``run`` its last state if nothing of it is left to play; the caller saves it."""
    match run.state:
        case RunState.QUEUED | RunState.RUNNING if run.samples_done >= run.samples_total:
            run.state = RunState.FINISHED
        case RunState.CANCELLING if not run.samples.filter(state=SampleState.RUNNING).exists():
            run.state = RunState.CANCELLED
        case _:
            return
    run.finished_at = timezone.now()
    run.metrics = compute_metrics(run)
