"""Reading solver specs, runs and samples. The asker comes first."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone

from apps.accounts.errors import Invalid, NotFound
from apps.accounts.models import Project
from apps.accounts.permissions import Actor, Right, require
from apps.dialogue.blocks.json_values import text_fault
from apps.dialogue.solver.ending import SUCCESSES
from apps.runs.models import Run, RunState, Sample, SampleState, SolverSpec
from apps.traces.models import Score, Trace

MOST_PER_PAGE = 200
OPEN_STATES = (RunState.QUEUED, RunState.RUNNING, RunState.CANCELLING)
"""The states in which a run still changes."""


@dataclass(frozen=True)
class SamplePage:
    """Some samples in order; ``next`` is the position to go on after, None at the end."""

    rows: list[Sample]
    next: int | None


@dataclass(frozen=True)
class Fault:
    """Why ``count`` samples ended early, or (not ``is_end``) ended well and were not scored.

    ``message`` is the one that most of them have.
    """

    reason: str
    count: int
    message: str
    is_end: bool = True


def specs(actor: Actor, project: Project) -> QuerySet[SolverSpec]:
    """The newest version of every solver spec, by key."""
    require(actor, project, Right.VIEW)
    newest = project.solver_specs.values("key").annotate(newest=Max("pk")).values("newest")
    return project.solver_specs.filter(pk__in=newest).order_by("key")


def get_spec(actor: Actor, project: Project, key: str, version: int | None = None) -> SolverSpec:
    """Version ``version`` of the spec ``key``, the newest if None; `NotFound` otherwise."""
    require(actor, project, Right.VIEW)
    rows = project.solver_specs.filter(key="" if text_fault(key) else key).order_by("-version")
    row = (rows if version is None else rows.filter(version=version)).first()
    if row is None:
        which = key if version is None else f"{key} v{version}"
        raise NotFound(f"There is no solver {which!r} in {project.slug!r}.", place="spec")
    return row


def spec_versions(actor: Actor, project: Project, key: str) -> QuerySet[SolverSpec]:
    """Every version of the spec ``key``, newest first."""
    require(actor, project, Right.VIEW)
    return project.solver_specs.filter(key="" if text_fault(key) else key).order_by("-version")


def runs(actor: Actor, project: Project) -> QuerySet[Run]:
    """The project's runs, newest first."""
    require(actor, project, Right.VIEW)
    return _with_names(project.runs.order_by("-number"))


def get_run(actor: Actor, project: Project, number: int, *, right: Right = Right.VIEW) -> Run:
    """Run ``number`` of ``project``; `NotFound` if there is none."""
    require(actor, project, right)
    row = _with_names(project.runs.filter(number=number)).first() if _fits(number) else None
    if row is None:
        raise NotFound(f"There is no run {number} in {project.slug!r}.", place="run")
    return row


def _with_names(rows: QuerySet[Run]) -> QuerySet[Run]:
    return rows.select_related("project", "environment", "split", "spec", "evaluated").defer(
        "evaluated__secret"
    )


def _fits(number: int) -> bool:
    return 0 <= number < 2**31


def samples(
    actor: Actor,
    run: Run,
    *,
    ended: str | None = None,
    search: str = "",
    after: int | None = None,
    limit: int = 50,
) -> SamplePage:
    """Samples of a run by position.

    ``ended`` is a word of how conversations end, or a state (``waiting``, ``running``,
    ``cancelled``); ``search`` looks in task keys and answers; ``after`` is a position.
    """
    require(actor, run.project, Right.VIEW)
    for place, text in (("search", search), ("ended", ended or "")):
        if fault := text_fault(text):
            raise Invalid(f"The text to look for {fault}.", place=place)
    rows = run.samples.select_related("revision__task", "trace").defer(
        "revision__content",
        "revision__messages_body",
        "revision__prompt_body",
        "revision__spec_body",
    )
    if ended in (SampleState.WAITING, SampleState.RUNNING):
        rows = rows.filter(state=ended)
    elif ended:
        rows = rows.filter(ended=ended)
    if search:
        rows = rows.filter(
            Q(revision__task__key__icontains=search) | Q(trace__answer__icontains=search)
        )
    if after is not None:
        rows = rows.filter(position__gt=after)
    limit = max(1, min(limit, MOST_PER_PAGE))
    found = list(rows.prefetch_related("trace__scores").order_by("position")[: limit + 1])
    return SamplePage(
        rows=found[:limit], next=found[limit - 1].position if len(found) > limit else None
    )


def get_sample(actor: Actor, run: Run, position: int) -> Sample:
    """The sample at ``position`` with its task, revision and trace; `NotFound` otherwise."""
    require(actor, run.project, Right.VIEW)
    row = None
    if _fits(position):
        row = (
            run.samples.select_related("run", "revision__task", "trace")
            .filter(position=position)
            .first()
        )
    if row is None:
        raise NotFound(f"Run {run.number} has no sample {position}.", place="sample")
    return row


def progress(run: Run) -> dict[str, Any]:
    """The counters of a run as its page shows them, read again from the database.

    ``{"state", "error", "total", "done", "scored", "percent", "calls", "calls_unknown",
    "input_tokens", "output_tokens", "cost", "ended", "metrics", "open", "seconds"}``; ``run`` must
    come from `get_run`, which asked for the right.
    """
    run.refresh_from_db()
    seconds = None
    if run.started_at is not None:
        seconds = ((run.finished_at or timezone.now()) - run.started_at).total_seconds()
    return {
        "state": run.state,
        "error": run.error,
        "total": run.samples_total,
        "done": run.samples_done,
        "scored": run.samples_scored,
        "percent": 100 * run.samples_done // run.samples_total if run.samples_total else 0,
        "calls": run.calls,
        "calls_unknown": run.calls_unknown,
        "input_tokens": run.input_tokens,
        "output_tokens": run.output_tokens,
        "cost": run.cost,
        "ended": run.ended,
        "metrics": run.metrics,
        "open": run.state in OPEN_STATES,
        "seconds": seconds,
    }


def faults(run: Run) -> list[Fault]:
    """Why samples did not come to their end, then why others were not scored.

    The most frequent reason first. ``run`` must come from `get_run`, as for `progress`.
    """
    traces = Trace.objects.filter(sample__run=run)
    ends = traces.exclude(ended__in=("", *SUCCESSES)).values_list("ended", "ended_message")
    messages = _most_frequent(ends.annotate(count=Count("pk")))
    found = [
        Fault(reason, count, messages[reason].message if reason in messages else "")
        for reason, count in Counter(run.ended).most_common()
        if reason not in SUCCESSES
    ]
    scores = Score.objects.filter(trace__sample__run=run, trace__ended__in=SUCCESSES)
    unscored = scores.exclude(unscored_reason="").values_list("unscored_reason", "unscored_message")
    counted = _most_frequent(unscored.annotate(count=Count("trace", distinct=True)))
    found += [replace(each, is_end=False) for each in counted.values()]
    return found


def _most_frequent(groups: QuerySet[Any, Any]) -> dict[str, Fault]:
    """By reason, of rows of reason, message and count."""
    found: dict[str, Fault] = {}
    for reason, message, count in groups.order_by("-count").iterator(chunk_size=2000):
        there = found.setdefault(reason, Fault(reason, 0, message))
        found[reason] = replace(there, count=there.count + count)
    return found
