"""What a call needs to know about its endpoint: no database, no secrets in its text."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, assert_never

from django.conf import settings
from pydantic_core import to_json

from apps.dialogue.completeness import (
    CompleteReply,
    Usage,
    complete_chat_reply,
    complete_responses_reply,
)
from apps.dialogue.message import Message
from apps.dialogue.provider_formats import FORMATS
from apps.providers.addresses import DEMO
from apps.providers.models import Api, ModelEndpoint
from apps.providers.secrets import decrypt

MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class Target:
    """An endpoint as it was when a run began to be played; seconds, and money per million tokens.

    ``trusted`` marks our own demo endpoint, whose loopback address is not questioned.
    """

    endpoint_id: int
    key: str
    base_url: str
    model: str
    api: Api
    secret: str = field(repr=False)
    parameters: Mapping[str, Any]
    timeout: float
    max_retries: int
    max_concurrent_requests: int | None
    price_input: Decimal | None
    price_cached_input: Decimal | None
    price_output: Decimal | None
    trusted: bool


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request ready to send; ``fingerprint`` is the SHA-256 of its address and body."""

    path: str
    body: bytes
    fingerprint: str


def target_of(endpoint: ModelEndpoint, *, demo_url: str | None = None) -> Target:
    """Make the target of an endpoint; raises `SecretUnreadable`.

    ``demo_url`` is where the scripted demo answers, this installation's web server if None.
    """
    demo = endpoint.base_url == DEMO
    own = demo_url or f"{settings.OWN_URL}/demo/v1"
    return Target(
        endpoint_id=endpoint.pk,
        key=endpoint.key,
        base_url=own if demo else endpoint.base_url,
        model=endpoint.model,
        api=Api(endpoint.api),
        secret=decrypt(endpoint.secret),
        parameters=endpoint.parameters,
        timeout=endpoint.timeout_seconds,
        max_retries=endpoint.max_retries,
        max_concurrent_requests=endpoint.max_concurrent_requests,
        price_input=endpoint.price_input,
        price_cached_input=endpoint.price_cached_input,
        price_output=endpoint.price_output,
        trusted=demo,
    )


def prepare(target: Target, messages: Sequence[Message]) -> Prepared:
    """Build the request of one reply to ``messages``.

    Raises `ConversionRefused` or `PairingError` for what the provider's format cannot carry.
    """
    match target.api:
        case Api.CHAT_COMPLETIONS:
            path = "/chat/completions"
            body = {
                **target.parameters,
                "model": target.model,
                "messages": FORMATS["openai"].write(messages),
            }
        case Api.RESPONSES:
            path = "/responses"
            body = {
                "store": False,
                "include": ["reasoning.encrypted_content"],
                **target.parameters,
                "model": target.model,
                "input": FORMATS["responses"].write(messages),
            }
        case _:
            assert_never(target.api)
    written = to_json(body)
    address = "demo" if target.trusted else target.base_url
    digest = hashlib.sha256(f"{address}{path}\n".encode())
    digest.update(written)
    return Prepared(path=path, body=written, fingerprint=digest.hexdigest())


def complete(target: Target, response: Mapping[str, Any]) -> CompleteReply:
    """The turn in a raw reply; raises `IncompleteReply` or `ModelCallFailed` (bad_response)."""
    match target.api:
        case Api.CHAT_COMPLETIONS:
            return complete_chat_reply(response)
        case Api.RESPONSES:
            return complete_responses_reply(response)
        case _:
            assert_never(target.api)


def cost_of(target: Target, usage: Usage | None) -> Decimal | None:
    """What a call cost; None where a price or the usage is not known."""
    if usage is None or target.price_input is None or target.price_output is None:
        return None
    cached = usage.cached_tokens or 0
    price_cached = target.price_cached_input
    if price_cached is None:
        price_cached = target.price_input
    return (
        (usage.input_tokens - cached) * target.price_input
        + cached * price_cached
        + usage.output_tokens * target.price_output
    ) / MILLION
