"""Traces: the turns as they happened, the ledger of calls, the scores."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field, RootModel

from apps.api.bodies.base import Answer
from apps.api.parsing import Query


class TraceQuery(Query):
    format: Literal["turnwright", "open_responses"] = Field(
        "turnwright", description="open_responses: the kept turns as Open Responses items"
    )
    after: int = Field(-1, ge=-1, lt=2**31, description="Entries after this position")
    limit: int = Field(500, ge=1, le=5000, description="Entries at most")


class TraceEntry(Answer):
    """One event; discarded ones did not stay in the conversation."""

    position: int
    kind: str
    path: str = Field(description="Where in the solver it happened")
    body: dict[str, Any]
    discarded: bool
    at: datetime


class ModelCall(Answer):
    """One row of the ledger: an attempt to have a model reply."""

    ordinal: int
    attempt: int
    state: str
    purpose: str
    model_key: str
    path: str
    reason: str
    error: str
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    cost: float | None
    latency_ms: float | None
    planned_at: datetime
    sent_at: datetime | None
    received_at: datetime | None
    response: str = Field(description="The raw reply, as received")


class Score(Answer):
    scorer: str
    values: dict[str, Any]
    metadata: dict[str, Any]
    unscored_reason: str
    unscored_message: str


class Trace(Answer):
    id: int
    source: str
    title: str
    ended: str = Field(description="Empty while it still grows")
    ended_path: str
    ended_model: str
    ended_message: str
    answer: str | None
    metadata: dict[str, Any]
    started_at: datetime
    finished_at: datetime | None
    entries: list[TraceEntry]
    more: bool = Field(description="Entries after the last one here exist")
    calls: list[ModelCall]
    scores: list[Score]


class OpenResponses(Answer):
    """What ``latticeflow.core.dtypes.Trace`` reads."""

    items: list[dict[str, Any]] = Field(description="Open Responses items: the conversation kept")
    metadata: dict[str, Any]
    events: list[dict[str, Any]] | None


class AnyTrace(RootModel[Trace | OpenResponses]):
    """As ``format`` asks for it."""
