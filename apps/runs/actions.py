"""Changing solver specs and runs."""

import hashlib
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from django.db import transaction

from apps.accounts.actions import record
from apps.accounts.errors import Conflict, Invalid
from apps.accounts.models import Project
from apps.accounts.permissions import Actor, Right, require
from apps.dialogue.blocks.json_values import NotJson, json_object, text_fault
from apps.dialogue.errors import SpecError
from apps.dialogue.solver.spec import (
    ResolvedTask,
    TaskSpec,
    dataset_parameter,
    parse_task_spec,
    resolve,
)
from apps.providers.models import ModelEndpoint
from apps.providers.queries import endpoints_by_key
from apps.runs.counting import Change, apply_changes
from apps.runs.jobs import ring
from apps.runs.leases import cancel_idle_samples
from apps.runs.models import Run, RunState, Sample, SampleState, SolverSpec
from apps.runs.queries import OPEN_STATES
from apps.tasks.models import Environment, Split
from apps.tasks.queries import ready_revision_ids, splits
from apps.traces.actions import rewind, supersede_failures

LONGEST_SPEC = 1_000_000
MOST_SAMPLES = 1_000_000
MOST_TRIALS = 1000
MOST_CONCURRENT = 1000
RETRIED = ("provider_error", "incomplete_reply", "limit")
"""Ends that may be different next time. A template error or a full context would come again."""

_CHUNK = 500


@transaction.atomic
def save_spec(*, actor: Actor, project: Project, text: str, key: str | None = None) -> SolverSpec:
    """A new version of a solver spec; the newest one if nothing has changed.

    ``key`` is the one in the text unless given. Raises `SpecError` with every problem and its
    place, and `Invalid` if ``key`` is not the one the text has.
    """
    require(actor, project, Right.AUTHOR)
    if len(text) > LONGEST_SPEC:
        raise Invalid(f"has more than {LONGEST_SPEC:,} characters.", place="text")
    spec = parse_task_spec(text)
    _check_defaults(text)
    if key is not None and key != spec.key:
        raise Invalid(f"The key in the text is {spec.key!r}, not {key!r}.", place="key")
    if len(spec.key) > 128:
        raise SpecError("has more than 128 characters", place="key")
    _lock(project)
    newest = project.solver_specs.filter(key=spec.key).order_by("-version").first()
    digest = hashlib.sha256(text.encode()).hexdigest()
    if newest is not None and newest.text_hash == digest:
        return newest
    row = SolverSpec.objects.create(
        project=project,
        key=spec.key,
        version=newest.version + 1 if newest else 1,
        display_name=spec.display_name[:200],
        text=text,
        text_hash=digest,
        author=str(actor),
    )
    record(actor=actor, project=project, action="solver.save", subject=row.key, version=row.version)
    return row


def _check_defaults(text: str) -> None:
    """Where every parameter has a default, the spec as a whole can be checked now."""
    spec = parse_task_spec(text)
    if all(parameter.default_value is not None for parameter in spec.config_spec):
        resolve(spec, {})


def _lock(project: Project) -> None:
    """Numbers of runs and versions are given one at a time."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


@transaction.atomic
def launch(
    *,
    actor: Actor,
    project: Project,
    environment: Environment,
    spec: SolverSpec,
    evaluated: str,
    split: Split | None = None,
    config: Mapping[str, Any] | None = None,
    trials: int | None = None,
    limit: int | None = None,
    name: str = "",
    concurrency: int = 64,
) -> Run:
    """Start a run over the ready tasks of a split (None: of every split), as they are now.

    ``evaluated`` is the key of the model endpoint under test, ``config`` the values of the spec's
    parameters (values of type model are endpoint keys; see `values_for` for the dataset),
    ``trials`` is what the spec says or 1, ``limit`` the most tasks to take. The run is queued; a
    worker is called when the transaction commits. Raises `SpecError` or `Invalid`.
    """
    require(actor, project, Right.AUTHOR)
    _check_rows(project, environment, split, spec)
    _check_range("concurrency", concurrency, MOST_CONCURRENT)
    if limit is not None:
        _check_range("limit", limit, MOST_SAMPLES)
    if len(name) > 200 or text_fault(name):
        raise Invalid("must be a text of at most 200 characters.", place="name")
    parsed = parse_task_spec(spec.text)
    values = values_for(parsed, config or {}, environment)
    task = resolve(parsed, values)
    if trials is None:
        trials = task.trials.num_trials if task.trials else 1
    _check_range("trials", trials, MOST_TRIALS)
    endpoint = endpoints_for(actor, project, evaluated, task)[evaluated]
    revisions = revisions_to_play(actor, environment, split, limit)
    if len(revisions) * trials > MOST_SAMPLES:
        raise Invalid(f"A run has at most {MOST_SAMPLES:,} samples.", place="trials")
    _lock(project)
    last = project.runs.order_by("-number").values_list("number", flat=True).first()
    run = Run.objects.create(
        project=project,
        number=(last or 0) + 1,
        name=name.strip(),
        environment=environment,
        split=split,
        spec=spec,
        evaluated=endpoint,
        config=values,
        trials=trials,
        sample_limit=limit,
        concurrency=concurrency,
        author=str(actor),
        samples_total=len(revisions) * trials,
    )
    _make_samples(run, revisions)
    record(
        actor=actor,
        project=project,
        action="run.launch",
        subject=f"run {run.number}",
        spec=str(spec),
        evaluated=evaluated,
        samples=run.samples_total,
    )
    transaction.on_commit(lambda: _call_worker(run.pk))
    return run


def _call_worker(run_id: int) -> None:
    ring(run_id)


def _check_rows(
    project: Project, environment: Environment, split: Split | None, spec: SolverSpec
) -> None:
    if environment.project_id != project.pk:
        raise Invalid(f"is not an environment of {project.slug!r}.", place="environment")
    if split is not None and split.environment_id != environment.pk:
        raise Invalid(f"is not a split of {environment.slug!r}.", place="split")
    if spec.project_id != project.pk:
        raise Invalid(f"is not a solver of {project.slug!r}.", place="spec")


def _check_range(place: str, value: object, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise Invalid(f"must be a whole number between 1 and {most:,}.", place=place)


def values_for(
    spec: TaskSpec, config: Mapping[str, Any], environment: Environment
) -> dict[str, Any]:
    """The values that a run over ``environment`` keeps, as they were written.

    Those of ``config`` and the defaults of today; the parameter that ``definition.dataset.key``
    stands for says which environment is played, whatever its default. Raises `Invalid` if
    ``config`` names another one.
    """
    try:
        given = json_object(dict(config))
    except NotJson as error:
        raise Invalid(error.message, place="config" + error.path) from None
    defaults = {
        parameter.key: parameter.default_value
        for parameter in spec.config_spec
        if parameter.default_value is not None
    }
    values = {**defaults, **given}
    if key := dataset_parameter(spec):
        values[key] = _played(given.get(key), environment, f"config.{key}")
    return values


def _played(named: object, environment: Environment, place: str) -> str:
    """``project/environment`` of what is played; ``named`` is what a value says it is, or None."""
    played = f"{environment.project.slug}/{environment.slug}"
    if named is not None and str(named).lower() not in (played, environment.slug):
        raise Invalid(
            f"The environment to play is {played!r}, but this names {named!r}: "
            "leave one of them out.",
            place=place,
        )
    return played


def endpoints_for(
    actor: Actor, project: Project, evaluated: str, task: ResolvedTask
) -> dict[str, ModelEndpoint]:
    """The evaluated endpoint and every model that the solver or a scorer calls, by key.

    Raises `Invalid` naming the one that does not exist.
    """
    keys = (evaluated, *task.model_keys())
    found = endpoints_by_key(actor, project, keys)
    for key in keys:
        if key not in found:
            raise Invalid(
                f"There is no model endpoint {key!r} in {project.slug!r}.",
                place="evaluated" if key == evaluated else _parameter_with(task.config, key),
            )
    return found


def _parameter_with(config: Mapping[str, Any], key: str) -> str:
    """Which parameter brought a model key; empty if the text of the spec names it itself."""
    return next((f"config.{name}" for name, value in config.items() if value == key), "spec")


def revisions_to_play(
    actor: Actor, environment: Environment, split: Split | None, limit: int | None
) -> list[int]:
    """The current revisions of the ready tasks, in order; `Invalid` if there is none."""
    wanted = splits(actor, environment) if split is None else [split]
    every = (pk for each in wanted for pk in ready_revision_ids(actor, environment, each))
    found = list(islice(every, limit or MOST_SAMPLES + 1))
    if not found:
        where = f"split {split.name!r}" if split else f"environment {environment.slug!r}"
        raise Invalid(f"There is no ready task in {where}.", place="split")
    return found


def _make_samples(run: Run, revisions: list[int]) -> None:
    """All tasks of the first trial, then of the second, and so on: more trials go at the end."""

    def rows() -> Iterator[Sample]:
        position = 0
        for trial in range(run.trials):
            for revision_id in revisions:
                yield Sample(run=run, revision_id=revision_id, trial=trial, position=position)
                position += 1

    every = rows()
    while some := list(islice(every, _CHUNK)):
        Sample.objects.bulk_create(some)


@transaction.atomic
def cancel(*, actor: Actor, run: Run) -> Run:
    """Stop a run: no further request goes out; answers on their way are recorded as late."""
    require(actor, run.project, Right.AUTHOR)
    row = Run.objects.get(pk=run.pk)
    if row.state == RunState.INTERRUPTED:
        raise Conflict("The run is interrupted already; resume it or leave it.", place="state")
    if row.state not in OPEN_STATES:
        raise Conflict(f"The run has ended already: it is {row.state}.", place="state")
    change = Change(is_cancelled=True)
    cancel_idle_samples(row, change)
    apply_changes({row.pk: change})
    record(actor=actor, project=run.project, action="run.cancel", subject=f"run {run.number}")
    row.refresh_from_db()
    return row


@transaction.atomic
def resume(*, actor: Actor, run: Run) -> Run:
    """Go on with a run that was cancelled or interrupted, and try again what failed.

    Replies that were paid for are used again. Raises `Conflict` if the run is being played or has
    nothing left to do.
    """
    require(actor, run.project, Right.AUTHOR)
    row = Run.objects.get(pk=run.pk)
    if row.state in OPEN_STATES:
        raise Conflict(f"The run is {row.state}; there is nothing to resume.", place="state")
    change = Change(is_resumed=True)
    again = _put_back(row, change)
    waiting = row.samples.filter(state=SampleState.WAITING).exists()
    if not again and not waiting:
        raise Conflict("Every sample of the run has ended for good.", place="state")
    apply_changes({row.pk: change})
    record(
        actor=actor,
        project=run.project,
        action="run.resume",
        subject=f"run {run.number}",
        samples=again,
    )
    transaction.on_commit(lambda: _call_worker(row.pk))
    row.refresh_from_db()
    return row


def _put_back(run: Run, change: Change) -> int:
    """Make cancelled and failed samples wait again; gives their number."""
    cancelled = run.samples.filter(state=SampleState.CANCELLED)
    failed = run.samples.filter(state=SampleState.DONE, ended__in=RETRIED)
    count = 0
    for rows in (cancelled, failed):
        found = list(
            rows.select_for_update(no_key=True).values_list("pk", "trace_id", "ended", "state")
        )
        for start in range(0, len(found), _CHUNK):
            some = found[start : start + _CHUNK]
            traces = [trace for _, trace, _, _ in some if trace]
            supersede_failures(traces)
            rewind(traces)
            Sample.objects.filter(pk__in=[pk for pk, *_ in some]).update(
                state=SampleState.WAITING, ended="", finished_at=None, claims=0
            )
        for _, _, ended, state in found:
            change.ended[ended] -= 1
            change.done -= state == SampleState.DONE
        count += len(found)
    return count
