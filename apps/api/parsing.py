"""Reading what a request says, strictly: nothing is coerced, guessed or dropped.

A JSON body is refused (400) with its place if it is not UTF-8, not JSON, names a key twice, or
holds what cannot be stored or sent again: NaN, infinities, lone surrogates, NUL, endless nesting.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, TypeVar

from django.conf import settings
from django.http import UnreadablePostError
from pydantic import BaseModel, ConfigDict
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from apps.accounts.errors import Invalid, NotFound, Refusal
from apps.api.refusals import LengthRequired, TooLarge
from apps.dialogue.blocks.json_values import NotJson, json_copy, text_fault

PIECE = 64 * 1024


class Body(BaseModel):
    """The base of request bodies: exactly these keys, exactly these types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Query(BaseModel):
    """The base of query strings: exactly these names, each at most once."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NoBody(Body):
    """For actions that take no parameters: nothing, or ``{}``."""


class NoQuery(Query):
    """For addresses that take no parameters."""


AnyBody = TypeVar("AnyBody", bound=Body)
AnyQuery = TypeVar("AnyQuery", bound=Query)


class StrictJSONParser(BaseParser):
    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        return parse_json(_read_all(stream, settings.DATA_UPLOAD_MAX_MEMORY_SIZE))


def parse_json(raw: bytes) -> Any:
    """The JSON value that ``raw`` holds; a `Refusal` (400) naming the place otherwise."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Refusal("The body is not UTF-8.", place=f"byte {error.start}") from None
    try:
        value = json.loads(text, parse_constant=float, object_pairs_hook=_once_each)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise Refusal(f"The body is not JSON: {error.msg}.", place=place) from None
    except RecursionError:
        raise Refusal("The body is nested too deeply.") from None
    except ValueError:  # int() reads at most 4300 digits
        raise Refusal("The body holds an integer with too many digits.") from None
    try:
        return json_copy(value)
    except NotJson as error:
        place = error.path.removeprefix(".")
        raise Refusal(f"The value {error.message}.", place=place) from None


def read_body(request: Request, model: type[AnyBody]) -> AnyBody:
    """The body as ``model``; no body counts as ``{}``. Raises pydantic's ValidationError (422)."""
    _need_length(request)
    data = request.data
    if not isinstance(data, dict):
        raise Refusal("The body has to be a JSON object.")
    return model.model_validate(data)


def read_query(request: Request, model: type[AnyQuery]) -> AnyQuery:
    """The query string as ``model``; unknown names and repetitions are refused."""
    values: dict[str, str] = {}
    for name, given in request.query_params.lists():
        if len(given) > 1:
            raise Invalid(f"{name!r} is given {len(given)} times.", place=f"query.{name}")
        if fault := text_fault(given[0]) or text_fault(name):
            raise Invalid(f"{fault}.", place=f"query.{name}")
        values[name] = given[0]
    return model.model_validate(values)


def check_address(kwargs: Mapping[str, Any]) -> None:
    """Names in an address that no row could have: nothing is there."""
    for name, value in kwargs.items():
        if isinstance(value, str) and text_fault(value):
            raise NotFound(f"There is no such {name}.", place=name)


@contextmanager
def named_in_body(places: Mapping[str, str] | None = None) -> Iterator[None]:
    """What a body names and is not there makes the body wrong (422), not the address (404).

    ``places`` says how the body calls what a room calls otherwise.
    """
    try:
        yield
    except (NotFound, Invalid) as refusal:
        place = (places or {}).get(refusal.place, refusal.place)
        raise Invalid(refusal.message, place=place) from None


def body_pieces(request: Request) -> Iterator[bytes]:
    """The raw body, piece by piece, for bodies larger than memory.

    WSGI does not tell the end of a body from a connection that broke off: less than was announced
    raises a `Refusal`, so that no part of a file ever counts as the file.
    """
    _need_length(request)
    stream = request.stream
    if stream is None:
        return
    announced = int(request.META["CONTENT_LENGTH"])
    arrived = 0
    while piece := _next_piece(stream):
        arrived += len(piece)
        yield piece
    if arrived < announced:
        told = f"The body broke off after {arrived} of {announced} bytes."
        raise Refusal(told, place=f"byte {arrived}")


def _next_piece(stream: IO[Any]) -> bytes:
    try:
        piece: bytes = stream.read(PIECE)
    except UnreadablePostError:  # the connection is gone
        return b""
    return piece


def _need_length(request: Request) -> None:
    """WSGI reads a body by its length; without one it would silently count as empty."""
    if "chunked" in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
        raise LengthRequired("Send a Content-Length; chunked bodies are not read here.")


def _read_all(stream: IO[Any], limit: int) -> bytes:
    raw: bytes = stream.read(limit + 1)
    if len(raw) > limit:
        raise TooLarge(f"The body is larger than {limit // 2**20} MiB.")
    return raw


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise Refusal(f"The key {name!a} is given twice in one object.", place=name)
        made[name] = value
    return made
