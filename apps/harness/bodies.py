"""Reading request bodies strictly: JSON that every other reader would read alike, in exactly the
shape that an address takes.

What cannot be told apart, stored or sent on is refused with 400: bytes that are not UTF-8, NaN and
numbers beyond a float, lone surrogates, endless nesting, integers of thousands of digits. The NUL
character is left alone here: a model may write one, and it is graded like any other.
"""

import json
from typing import Any, NoReturn, TypeVar

from django.http import HttpRequest
from pydantic import BaseModel, ConfigDict, ValidationError

from apps.dialogue.blocks.json_values import DEEPEST
from apps.harness.errors import BadRequest, TooLarge, WrongShape

LARGEST_BODY = 32 * 2**20
PIECE = 64 * 1024
MOST_PROBLEMS = 4


class Shape(BaseModel):
    """Exactly these keys, exactly these types: ``"1"`` and true are not numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class InSplit(Shape):
    split: str


class AtIndex(Shape):
    split: str
    index: int


class InRange(Shape):
    split: str
    start: int | None = None
    stop: int | None = None


class Create(Shape):
    """``secrets`` is what the published specification puts here; nothing reads it."""

    env_name: str | None = None
    task_spec: dict[str, Any] | None = None
    split: str | None = None
    index: int | None = None
    toolset_name: str | None = None
    secrets: dict[str, Any] | None = None


class Call(Shape):
    name: str
    input: dict[str, Any]
    task_id: str | None = None


class Candidate(Shape):
    messages: list[Any]
    metadata: dict[str, Any] | None = None


class Group(Shape):
    candidates: list[Candidate]
    task_id: str | None = None


AnyShape = TypeVar("AnyShape", bound=Shape)


def read_body(request: HttpRequest, shape: type[AnyShape]) -> AnyShape:
    """The request's body; `BadRequest`, `TooLarge` or `WrongShape` without repeating it."""
    value = parse_json(_read(request))
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        raise WrongShape(_problems(error)) from None


def parse_json(raw: bytes) -> Any:
    """The JSON value that ``raw`` holds."""
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
        # Writing it finds, at the speed of C, what could be read but never be written again.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRequest(f"The body is not UTF-8 (byte {error.start}).") from None
    except UnicodeEncodeError:
        raise BadRequest("The body holds a lone surrogate, which is not Unicode text.") from None
    except json.JSONDecodeError as error:
        raise BadRequest(f"The body is not JSON: {error.msg} (character {error.pos}).") from None
    except ValueError as error:
        raise BadRequest(f"The body holds a number that JSON cannot carry: {error}.") from None
    except RecursionError:
        raise BadRequest(_TOO_DEEP) from None
    _check_depth(value)
    return value


_TOO_DEEP = f"The body is nested more than {DEEPEST} levels deep."


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(DEEPEST + 1):
        level = (
            [
                child
                for each in level
                for child in (each.values() if isinstance(each, dict) else each)
                if isinstance(child, dict | list)
            ]
            if isinstance(value, dict | list)
            else []
        )
        if not level:
            return
    raise BadRequest(_TOO_DEEP)


def _read(request: HttpRequest) -> bytes:
    announced = request.META.get("CONTENT_LENGTH") or ""
    if announced and not (announced.isascii() and announced.isdigit()):
        raise BadRequest("Content-Length is not a number.")
    if announced:
        length = int(announced)
        if length > LARGEST_BODY:
            raise _too_large()
        body = _read_up_to(request, length)
        if len(body) < length:
            raise BadRequest("The body ended before its announced length.")
        return body
    if "chunked" not in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
        return b""
    body = _read_up_to(request, LARGEST_BODY + 1)
    if len(body) > LARGEST_BODY:
        raise _too_large()
    return body


def _read_up_to(request: HttpRequest, size: int) -> bytes:
    """From the server's own stream: Django's takes a chunked body for an empty one."""
    stream = request.META["wsgi.input"]
    pieces = []
    while size > 0:
        piece = stream.read(min(size, PIECE))
        if not piece:
            break
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _too_large() -> TooLarge:
    # What was not read would otherwise be taken for the connection's next request.
    return TooLarge(f"The body is larger than {LARGEST_BODY // 2**20} MiB.")


def _problems(error: ValidationError) -> str:
    listed = error.errors(include_url=False, include_context=False, include_input=False)
    told = [f"{_place(each['loc'])}{each['msg']}" for each in listed[:MOST_PROBLEMS]]
    if len(listed) > MOST_PROBLEMS:
        told.append(f"and {len(listed) - MOST_PROBLEMS} more")
    return "; ".join(told)


def _place(steps: tuple[int | str, ...]) -> str:
    """Where, like ``candidates[0].messages: ``; a key that somebody invented is cut short."""
    written = "".join(
        f"[{step}]" if isinstance(step, int) else f".{ascii(step)[1:-1][:60]}" for step in steps
    )
    return f"{written.removeprefix('.')}: " if written else ""
