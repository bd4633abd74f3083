"""Changing model endpoints. Secrets go in and never come out."""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any, TypedDict, Unpack
from urllib.parse import urlsplit

from django.db import IntegrityError, transaction
from django.utils import timezone

from apps.accounts.actions import record
from apps.accounts.errors import Conflict, Invalid
from apps.accounts.models import Project
from apps.accounts.permissions import Actor, Right, require
from apps.dialogue.blocks.json_values import NotJson, json_object, text_fault
from apps.dialogue.errors import IncompleteReply, ModelCallFailed
from apps.dialogue.message import text_message
from apps.providers.addresses import DEMO, check_base_url
from apps.providers.client import Caller
from apps.providers.models import Api, ModelEndpoint
from apps.providers.secrets import encrypt
from apps.providers.targets import Target, complete, prepare, target_of

KEY = re.compile(r"\A[A-Za-z0-9](?:[A-Za-z0-9._$-]{0,62}[A-Za-z0-9])?\Z")
_OURS = ("messages", "input", "model", "stream", "stream_options", "tools")
_MOST_SECONDS = 3600
_MOST_RETRIES = 10
_MOST = 2**31 - 1


class EndpointSettings(TypedDict, total=False):
    """What may be set on an endpoint besides its key and secret; missing = default or unchanged."""

    base_url: str
    model: str
    display_name: str
    api: str
    parameters: dict[str, Any]
    timeout_seconds: float
    max_retries: int
    max_concurrent_requests: int | None
    requests_per_minute: int | None
    tokens_per_minute: int | None
    price_input: Decimal | None
    price_cached_input: Decimal | None
    price_output: Decimal | None


@transaction.atomic
def create_endpoint(
    *,
    actor: Actor,
    project: Project,
    key: str,
    secret: str = "",
    **settings: Unpack[EndpointSettings],
) -> ModelEndpoint:
    """A new endpoint; raises `Invalid` naming the field, `Conflict` if the key is taken."""
    require(actor, project, Right.ADMINISTER)
    row = ModelEndpoint(project=project, key=_key("key", key))
    for name in ("base_url", "model"):
        if name not in settings:
            raise Invalid("is missing.", place=name)
    _apply(row, settings)
    row.secret = encrypt(_checked_secret(secret))
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise Conflict(
            f"There is a model endpoint {key!r} in {project.slug!r} already.", place="key"
        ) from None
    record(actor=actor, project=project, action="endpoint.create", subject=key)
    return row


@transaction.atomic
def update_endpoint(
    *,
    actor: Actor,
    endpoint: ModelEndpoint,
    secret: str | None = None,
    **settings: Unpack[EndpointSettings],
) -> ModelEndpoint:
    """Change what is given. ``secret``: None leaves it, an empty text removes it.

    A stored secret is not sent to another host than the one it was entered for: a new base URL
    needs the secret again.
    """
    require(actor, endpoint.project, Right.ADMINISTER)
    row = ModelEndpoint.objects.select_for_update().get(pk=endpoint.pk)
    before = row.base_url
    _apply(row, settings)
    if secret is not None:
        row.secret = encrypt(_checked_secret(secret))
    elif row.secret and _origin(before) != _origin(row.base_url):
        raise Invalid(
            "The address has changed: enter the secret again, it is not sent to another host "
            "by itself.",
            place="secret",
        )
    row.save()
    record(
        actor=actor,
        project=row.project,
        action="endpoint.update",
        subject=row.key,
        changed=sorted(settings) + (["secret"] if secret is not None else []),
    )
    return row


@transaction.atomic
def archive_endpoint(*, actor: Actor, endpoint: ModelEndpoint) -> ModelEndpoint:
    """Put an endpoint away and forget its secret; runs that used it still show its name."""
    require(actor, endpoint.project, Right.ADMINISTER)
    row = ModelEndpoint.objects.select_for_update().get(pk=endpoint.pk)
    if row.archived_at is None:
        row.archived_at = timezone.now()
        row.secret = ""
        row.save(update_fields=["archived_at", "secret"])
        record(actor=actor, project=row.project, action="endpoint.archive", subject=row.key)
    return row


def setting_faults(
    *, key: str | None = None, secret: str | None = None, **settings: Unpack[EndpointSettings]
) -> list[Invalid]:
    """Everything that is wrong with what is given, where the actions raise the first fault only."""
    checks: list[Callable[[], Any]] = [
        partial(_CHECKS[name], name, value) for name, value in settings.items()
    ]
    if key is not None:
        checks.append(partial(_key, "key", key))
    if secret is not None:
        checks.append(partial(_checked_secret, secret))
    faults = []
    for check in checks:
        try:
            check()
        except Invalid as fault:
            faults.append(fault)
    return faults


def _key(name: str, value: Any) -> str:
    if not isinstance(value, str) or not KEY.match(value):
        raise Invalid(
            f"{str(value)[:80]!r} cannot be a key here: use letters, digits and . _ $ -, at most "
            "64, a letter or digit at both ends.",
            place=name,
        )
    return value


def _origin(url: str) -> tuple[str, str]:
    if url == DEMO:
        return DEMO, ""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


def _apply(row: ModelEndpoint, settings: EndpointSettings) -> None:
    """Check every given setting and put it on ``row``."""
    for name, value in settings.items():
        setattr(row, name, _CHECKS[name](name, value))


def _checked_secret(secret: str) -> str:
    secret = secret.strip()
    if not (secret.isascii() and secret.isprintable()) or " " in secret or len(secret) > 4000:
        raise Invalid(
            "A secret is printable ASCII without spaces, at most 4000 characters.", place="secret"
        )
    return secret


def _text(name: str, value: Any, longest: int = 200) -> str:
    if not isinstance(value, str) or text_fault(value):
        raise Invalid("must be a text.", place=name)
    if len(value.strip()) > longest:
        raise Invalid(f"must have at most {longest} characters.", place=name)
    return value.strip()


def _base_url(name: str, value: Any) -> str:
    url = _text(name, value, 500)
    check_base_url(url, place=name)
    return url if url == DEMO else url.rstrip("/")


def _model(name: str, value: Any) -> str:
    model = _text(name, value)
    if not model:
        raise Invalid("Name the model as its provider does.", place=name)
    return model


def _api(name: str, value: Any) -> str:
    if value not in Api.values:
        raise Invalid(f"{str(value)[:80]!r} is not one of {', '.join(Api.values)}.", place=name)
    return str(value)


def _parameters(name: str, value: Any) -> dict[str, Any]:
    try:
        parameters = json_object(value)
    except NotJson as error:
        raise Invalid(error.message, place=name + error.path) from None
    for key in parameters:
        if key in _OURS:
            raise Invalid(
                "is set by Turnwright itself for every call; remove it.", place=f"{name}.{key}"
            )
    if parameters.get("n", 1) != 1:
        raise Invalid("must be 1: a turn has one reply.", place=f"{name}.n")
    if len(json.dumps(parameters)) > 20_000:
        raise Invalid("must have at most 20,000 characters as JSON.", place=name)
    return parameters


def _seconds(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Invalid("must be a number of seconds.", place=name)
    if not 0.1 <= value <= _MOST_SECONDS:
        raise Invalid(f"must be between 0.1 and {_MOST_SECONDS} seconds.", place=name)
    return float(value)


def _whole(name: str, value: Any, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Invalid("must be a whole number.", place=name)
    if not least <= value <= most:
        raise Invalid(f"must be between {least} and {most}.", place=name)
    return value


def _retries(name: str, value: Any) -> int:
    return _whole(name, value, 0, _MOST_RETRIES)


def _limit(name: str, value: Any) -> int | None:
    return None if value is None else _whole(name, value, 1, _MOST)


def _price(name: str, value: Any) -> Decimal | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise Invalid("must be a decimal number (per million tokens).", place=name)
    price = Decimal(value)
    if not price.is_finite() or not 0 <= price < 1_000_000:
        raise Invalid("must be at least 0 and less than 1,000,000.", place=name)
    return price.quantize(Decimal("0.000001"))


_CHECKS = {
    "base_url": _base_url,
    "model": _model,
    "display_name": _text,
    "api": _api,
    "parameters": _parameters,
    "timeout_seconds": _seconds,
    "max_retries": _retries,
    "max_concurrent_requests": _limit,
    "requests_per_minute": _limit,
    "tokens_per_minute": _limit,
    "price_input": _price,
    "price_cached_input": _price,
    "price_output": _price,
}


@dataclass(frozen=True)
class EndpointTest:
    """What one real call to an endpoint brought; ``reason`` is empty if it was a complete reply."""

    ok: bool
    reply: str
    latency_ms: float | None
    reason: str
    message: str


_TEST_TURN = text_message("user", "Reply with the one word OK.")


def test_endpoint(*, actor: Actor, endpoint: ModelEndpoint) -> EndpointTest:
    """Ask the endpoint for one short reply, once; never raises for what the provider does."""
    require(actor, endpoint.project, Right.ADMINISTER)
    row = ModelEndpoint.objects.get(pk=endpoint.pk)
    target = target_of(row)
    outcome = asyncio.run(_ask_once(target))
    record(
        actor=actor,
        project=row.project,
        action="endpoint.test",
        subject=row.key,
        reason=outcome.reason,
    )
    return outcome


async def _ask_once(target: Target) -> EndpointTest:
    latency = None
    try:
        async with Caller() as caller:
            raw = await caller.post(target, prepare(target, [_TEST_TURN]))
        latency = raw.latency_ms
        reply = complete(target, raw.response).message.text
    except (ModelCallFailed, IncompleteReply) as error:
        return EndpointTest(False, "", latency, error.reason, error.message)
    return EndpointTest(True, reply, latency, "", "")
