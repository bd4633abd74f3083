"""Model endpoints: secrets go in and never come out."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field

from apps.api.bodies.base import NEXT, Answer
from apps.api.pagination import PageQuery
from apps.api.parsing import Body

ApiName = Literal["chat_completions", "responses"]
Money = Annotated[Decimal | None, Field(strict=False, description="Money per million tokens")]
Limit = Annotated[int | None, Field(description="null: no limit")]


class EndpointsQuery(PageQuery):
    archived: bool = Field(False, description="Also those put away")


class ModelEndpoint(Answer):
    key: str
    display_name: str
    base_url: str
    model: str
    api: ApiName
    has_secret: bool
    parameters: dict[str, Any]
    timeout_seconds: float
    max_retries: int
    max_concurrent_requests: int | None
    requests_per_minute: int | None
    tokens_per_minute: int | None
    price_input: float | None = Field(description="Money per million tokens")
    price_cached_input: float | None
    price_output: float | None
    created_at: datetime
    archived_at: datetime | None


class EndpointPage(Answer):
    items: list[ModelEndpoint]
    next: str | None = NEXT


class _Settings(Body):
    """What may be left out stays as it is, or takes its default on a new endpoint."""

    display_name: str = Field("", max_length=200)
    api: ApiName = "chat_completions"
    parameters: dict[str, Any] = Field({}, description="Sent with every call, as they are")
    timeout_seconds: float = 60
    max_retries: int = 0
    max_concurrent_requests: Limit = None
    requests_per_minute: Limit = None
    tokens_per_minute: Limit = None
    price_input: Money = None
    price_cached_input: Money = None
    price_output: Money = None


class NewEndpoint(_Settings):
    key: str = Field(max_length=64)
    base_url: str = Field(
        max_length=500, description="An OpenAI-compatible root like https://host/v1, or: demo"
    )
    model: str = Field(max_length=200)
    secret: str = Field(
        "", max_length=4000, description="Stored encrypted; no answer ever holds it"
    )


class EndpointChange(_Settings):
    """Only what is given changes."""

    base_url: str = Field("", max_length=500)
    model: str = Field("", max_length=200)
    secret: str | None = Field(
        None, max_length=4000, description="null or left out: unchanged; empty: removed"
    )


class EndpointTest(Answer):
    """One short question was asked: what came of it."""

    ok: bool
    reply: str
    latency_ms: float | None
    reason: str = Field(description="Empty, or: timeout, authentication, refusal, length, ...")
    message: str
