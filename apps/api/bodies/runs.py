"""Solvers, runs, samples."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from apps.api.bodies.base import NEXT, Answer
from apps.api.bodies.traces import Score
from apps.api.parsing import Body, Query

StateName = Literal["queued", "running", "cancelling", "cancelled", "interrupted", "finished"]
SampleStateName = Literal["waiting", "running", "done", "cancelled"]


class Lint(Answer):
    """Something that is allowed and probably not meant."""

    place: str
    message: str
    code: str


class Solver(Answer):
    """One version of a task specification; versions never change."""

    key: str
    version: int
    display_name: str
    author: str
    created_at: datetime


class SolverDetail(Solver):
    text: str = Field(description="The specification as it was written, YAML or JSON")
    lints: list[Lint]


class SolverPage(Answer):
    items: list[Solver]
    next: str | None = NEXT


class SolverQuery(Query):
    version: int | None = Field(None, ge=1, lt=2**31, description="Left out: the newest")


class SpecText(Body):
    text: str = Field(min_length=1, max_length=1_000_000, description="task.yaml, YAML or JSON")


class NewSolver(SpecText):
    key: str | None = Field(None, max_length=128, description="Left out: the one in the text")


class SolverCheck(Answer):
    """What a text would be as a solver; nothing is saved."""

    key: str
    display_name: str
    lints: list[Lint]


class Metric(Answer):
    """A number with what it rests on: the tasks, whose trials are averaged first.

    The bounds are of a 95 % interval.
    """

    key: str
    name: str
    scorer: str
    value: float | None
    n: int = Field(description="Tasks of which a trial was scored")
    total: int = Field(description="All tasks")
    coverage: float = Field(description="Share of the samples (tasks x trials) that were scored")
    low: float | None
    high: float | None
    low_if_failed: float | None = Field(description="If all unscored samples had failed")
    high_if_passed: float | None = Field(description="If all unscored samples had passed")


class Run(Answer):
    number: int
    name: str
    state: StateName
    error: str
    environment: str
    split: str | None
    solver: str
    solver_version: int
    model: str = Field(description="The key of the evaluated model endpoint")
    config: dict[str, Any]
    trials: int
    limit: int | None
    concurrency: int
    author: str
    samples_total: int
    samples_done: int
    samples_scored: int
    calls: int
    calls_unknown: int = Field(description="May have been charged: their worker died")
    input_tokens: int
    output_tokens: int
    cost: float
    ended: dict[str, int] = Field(description="Reason to number of samples")
    metrics: list[Metric]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class RunPage(Answer):
    items: list[Run]
    next: str | None = NEXT


class NewRun(Body):
    environment: str = Field(max_length=64)
    split: str | None = Field(None, max_length=64, description="Left out: all splits")
    solver: str = Field(max_length=128)
    solver_version: int | None = Field(None, ge=1, lt=2**31, description="Left out: the newest")
    model: str = Field(max_length=64, description="The key of the evaluated model endpoint")
    config: dict[str, Any] = Field({}, description="Values of the solver's config_spec")
    trials: int = Field(1, ge=1, le=1000)
    limit: int | None = Field(None, ge=1, lt=2**31, description="Tasks at most")
    concurrency: int = Field(64, ge=1, le=1000, description="Conversations at once")
    name: str = Field("", max_length=200)


class SamplesQuery(Query):
    ended: str = Field("", max_length=32, description="How it ended, or: waiting, running")
    search: str = Field("", max_length=200, description="In task keys and answers")
    limit: int = Field(50, ge=1, le=200)
    after: int | None = Field(None, ge=0, lt=2**31, description="``next`` of the page before")


class Sample(Answer):
    """One task in one trial."""

    position: int
    trial: int
    state: SampleStateName
    ended: str
    task_id: int
    task_key: str
    revision: int
    answer: str | None
    trace: int | None = Field(description="The id of its trace")
    scores: list[Score]
    finished_at: datetime | None


class SamplePage(Answer):
    items: list[Sample]
    next: int | None = NEXT
