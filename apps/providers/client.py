"""Asking a model: the only caller of the OpenAI SDK.

The SDK's generic request is used (``client.post(cast_to=object)``): its authentication, errors and
timeouts, and a plain dictionary back. Its typed methods walk every message of the history on every
call, which costs more than everything else together. Its own retries stay off; `retrying` decides.
"""

import asyncio
import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import aiohttp
import openai
from openai import AsyncOpenAI, DefaultAioHttpClient, Omit

# The transport is the SDK's own; naming it lets us give it a connector that checks addresses.
from openai._types import RequestOptions
from openai._vendor.httpx_aiohttp import AiohttpTransport

from apps.dialogue.errors import ModelCallFailed
from apps.providers.addresses import GuardedResolver, RefusedAddress, check_host
from apps.providers.targets import Prepared, Target

MOST_CONNECTIONS = 1000
LONGEST_MESSAGE = 500
_WITHOUT_SECRET: RequestOptions = {"headers": {"Authorization": Omit()}}
_CONTEXT_WORDS = ("context length", "context window", "maximum context", "too many tokens")


@dataclass(frozen=True, slots=True)
class RawReply:
    """A provider's answer as received, and the time from sending to its last byte."""

    response: dict[str, Any]
    latency_ms: float


class Caller:
    """Holds the connections of one event loop; an async context manager."""

    def __init__(self) -> None:
        self._http: dict[bool, Any] = {}
        self._clients: dict[tuple[str, str], AsyncOpenAI] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for http in self._http.values():
            await http.aclose()

    async def post(self, target: Target, prepared: Prepared) -> RawReply:
        """Send one request and wait for its whole answer; raises `ModelCallFailed`.

        ``target.timeout`` bounds the whole exchange, not only its silences.
        """
        started = time.perf_counter()
        try:
            _check_target(target)
            async with asyncio.timeout(target.timeout):
                response = await self._client(target).post(
                    prepared.path,
                    cast_to=object,
                    content=prepared.body,
                    options={} if target.secret else _WITHOUT_SECRET,
                )
        except TimeoutError:
            raise _timeout(target) from None
        except openai.APIStatusError as error:
            raise _status_failure(error, target) from None
        except openai.APIConnectionError as error:
            raise _connection_failure(error, target) from None
        except (openai.OpenAIError, ValueError) as error:
            # Broken JSON leaves the SDK as a JSONDecodeError, a broken charset as a ValueError.
            raise ModelCallFailed(
                "bad_response", _clean(f"The answer cannot be read: {error}", target)
            ) from None
        elapsed = (time.perf_counter() - started) * 1000
        return RawReply(response=_object(response), latency_ms=elapsed)

    def _client(self, target: Target) -> AsyncOpenAI:
        held = self._clients.get((target.base_url, target.secret))
        if held is None:
            # What the operator's shell says about an account of theirs must not reach other hosts.
            headers: dict[str, Any] = {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
            held = AsyncOpenAI(
                api_key=target.secret or "none",
                base_url=target.base_url,
                max_retries=0,
                timeout=None,
                http_client=self._http_client(target.trusted),
                default_headers=headers,
            )
            self._clients[(target.base_url, target.secret)] = held
        return held

    def _http_client(self, trusted: bool) -> Any:
        held = self._http.get(trusted)
        if held is None:
            held = DefaultAioHttpClient(
                transport=AiohttpTransport(client=lambda: _session(trusted=trusted)),
                follow_redirects=False,
                timeout=None,
            )
            self._http[trusted] = held
        return held


def _session(*, trusted: bool) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(
            limit=MOST_CONNECTIONS,
            resolver=None if trusted else GuardedResolver(),
            use_dns_cache=trusted,
        ),
        cookie_jar=aiohttp.DummyCookieJar(),
    )


def _check_target(target: Target) -> None:
    """Literal addresses never reach the resolver, so they are checked here."""
    if target.trusted:
        return
    try:
        check_host(urlsplit(target.base_url).hostname or "")
    except RefusedAddress as error:
        raise ModelCallFailed("connection", str(error)) from None


def _object(response: object) -> dict[str, Any]:
    """The answer as an object; a server that forgot its content type is forgiven."""
    if isinstance(response, str):
        try:
            response = json.loads(response)
        except ValueError:
            raise ModelCallFailed(
                "bad_response", "The answer is not JSON.", response=str(response)[:2000]
            ) from None
    if not isinstance(response, dict):
        raise ModelCallFailed("bad_response", "The answer is not a JSON object.", response=response)
    return response


def _timeout(target: Target) -> ModelCallFailed:
    return ModelCallFailed(
        "timeout", f"{target.key} did not answer within {target.timeout:g} seconds."
    )


def _connection_failure(error: openai.APIConnectionError, target: Target) -> ModelCallFailed:
    """Refused, unreachable, unknown or broken off.

    The transport calls every broken connection a time-out of connecting; the cause knows better.
    """
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, RefusedAddress):
            return ModelCallFailed("connection", str(cause))
    if any(isinstance(cause, TimeoutError) for cause in causes):
        return _timeout(target)
    detail = next((str(cause) for cause in reversed(causes) if str(cause)), "")
    return ModelCallFailed(
        "connection", _clean(f"{target.key} could not be reached: {detail or error}", target)
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error.__cause__
    while cause is not None:
        yield cause
        if isinstance(cause, aiohttp.ClientConnectorError):
            yield cause.os_error
        cause = cause.__cause__


def _status_failure(error: openai.APIStatusError, target: Target) -> ModelCallFailed:
    said = error.body.get("message") if isinstance(error.body, dict) else None
    message = _clean(said if isinstance(said, str) else str(error.message), target)
    return ModelCallFailed(
        _reason(error, message),
        f"HTTP {error.status_code}: {message}",
        status=error.status_code,
        response=_clean_body(error.body, target),
        retry_after=_retry_after(error),
    )


def _reason(error: openai.APIStatusError, message: str) -> str:
    code = f"{error.code or ''} {error.type or ''}"
    match error.status_code:
        case 401 | 403:
            return "authentication"
        case 408:
            return "timeout"
        case 429:
            return "rate_limit"
        case status if status >= 500:
            return "server_error"
        case _:
            said = message.lower()
            if "context_length" in code or any(words in said for words in _CONTEXT_WORDS):
                return "context_window"
            return "bad_request"


def _retry_after(error: openai.APIStatusError) -> float | None:
    """The seconds that the provider asked to wait, from any of the headers in use."""
    headers = error.response.headers
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _clean(text: str, target: Target) -> str:
    """Providers like to repeat the key they were sent; it must not reach a log or a page."""
    if target.secret:
        text = text.replace(target.secret, "***")
    return text[:LONGEST_MESSAGE]


def _clean_body(body: object, target: Target) -> object:
    if body is None:
        return None
    written = json.dumps(body, default=str)
    if target.secret:
        written = written.replace(json.dumps(target.secret)[1:-1], "***")
    return json.loads(written) if len(written) <= 20_000 else written[:20_000]
