"""All errors of the API leave through here, in one shape: problem details (RFC 9457).

    {"type", "title", "status", "detail", "place"?, "problems"?, "current"?, "reason"?}

``type`` and ``title`` follow from the status. ``place`` is where in the request the fault is
(``messages[2].blocks[0].text``, ``query.limit``, ``byte 17``); ``problems`` lists every fault when
there are several; ``current`` is, for a conflict, what is there now.
"""

import logging
import secrets
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import OperationalError
from django.http import Http404, HttpResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, to_json
from rest_framework.exceptions import APIException
from rest_framework.response import Response
from rest_framework.views import set_rollback

from apps.accounts.errors import DISK_FULL, Conflict, Refusal, is_disk_full
from apps.dialogue.errors import DialogueError, IncompleteReply, ModelCallFailed, SpecError

CONTENT_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:turnwright:problem:"

logger = logging.getLogger(__name__)


class Fault(BaseModel):
    """One thing wrong at one place."""

    place: str
    message: str


class Problem(BaseModel):
    """What went wrong, for people (``detail``) and for programs (``type``, ``place``)."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": True})

    type: str = Field(description="urn:turnwright:problem:... ; follows from the status")
    title: str
    status: int
    detail: str = Field(description="One or two sentences: what is wrong, and what would be right")
    place: str = Field("", description="Where in the request: messages[2].role, query.limit, ...")
    problems: list[Fault] = Field([], description="All faults, when there are several")
    reason: str = Field("", description="Why a model call brought nothing: timeout, refusal, ...")
    current: Any = Field(None, description="For a conflict: what is there now")


def problem_response(error: Exception, context: dict[str, Any]) -> Response:
    """Answer ``error`` as problem details; what nobody foresaw is logged and told without text."""
    set_rollback()
    found = problem_of(error)
    return Response(
        as_json(found), status=found.status, headers=_headers(error), content_type=CONTENT_TYPE
    )


def plain_problem_response(error: Exception) -> HttpResponse:
    """The same answer for a view outside of REST framework."""
    found = problem_of(error)
    body = to_json(as_json(found))
    return HttpResponse(body, status=found.status, content_type=CONTENT_TYPE)


def problem_of(error: Exception) -> Problem:
    """The problem details of any exception."""
    match error:
        case Conflict():
            return make_problem(
                error.status, error.message, place=error.place, current=error.current
            )
        case Refusal():
            return make_problem(error.status, error.message, place=error.place)
        case DialogueError():
            return _of_dialogue(error)
        case ValidationError():
            return _of_validation(error)
        case APIException():
            return make_problem(error.status_code, _words(error.detail))
        case Http404():
            return make_problem(404, str(error) or "There is no such thing.")
        case PermissionDenied():
            return make_problem(403, str(error) or "You may not do this.")
        case RequestDataTooBig():
            return make_problem(413, "The body is larger than this server reads at once.")
        case _:
            return _unforeseen(error)


def make_problem(
    status: int,
    detail: str,
    *,
    place: str = "",
    problems: list[Fault] | None = None,
    reason: str = "",
    current: Any = None,
) -> Problem:
    title = HTTPStatus(status).phrase
    return Problem(
        type=TYPE_PREFIX + title.lower().replace(" ", "-"),
        title=title,
        status=status,
        detail=_encodable(detail),
        place=_encodable(place),
        problems=problems or [],
        reason=reason,
        current=current if isinstance(current, dict | BaseModel) else None,
    )


def as_json(problem: Problem) -> dict[str, Any]:
    """What is sent: members that say nothing are left out."""
    optional = ("place", "problems", "reason", "current")
    empty = {name for name in optional if not getattr(problem, name)}
    return problem.model_dump(mode="json", exclude=empty)


def place_of(steps: tuple[int | str, ...], prefix: str = "") -> str:
    """``("messages", 2, "role")`` as ``messages[2].role``."""
    written = prefix
    for step in steps:
        if isinstance(step, int):
            written += f"[{step}]"
        else:
            written += f".{step}" if written else step
    return written


def _of_dialogue(error: DialogueError) -> Problem:
    match error:
        case ModelCallFailed() | IncompleteReply():
            return make_problem(502, error.message, place=error.place, reason=error.reason)
        case SpecError():
            return make_problem(422, error.message, place=error.place, problems=_all_of(error))
        case _:
            return make_problem(422, error.message, place=error.place)


def _all_of(error: SpecError) -> list[Fault]:
    """Every problem of a specification, unless there is only the one."""
    faults = [
        Fault(place=_encodable(place), message=_encodable(message))
        for place, message in error.problems
    ]
    return faults if len(faults) > 1 else []


def _of_validation(error: ValidationError) -> Problem:
    """pydantic's list, first fault first. A title ``query`` marks faults of the address."""
    prefix = "query" if error.title.endswith("Query") else ""
    faults = [_fault(each, prefix) for each in error.errors(include_url=False)]
    first = faults[0]
    detail = f"{first.place}: {first.message}" if first.place else first.message
    if len(faults) > 1:
        detail += f" (and {len(faults) - 1} more)"
    return make_problem(
        422, detail, place=first.place, problems=faults if len(faults) > 1 else None
    )


def _fault(found: ErrorDetails, prefix: str) -> Fault:
    """A rule of the dialogue floor that a body broke knows the place inside of its field."""
    place = place_of(found["loc"], prefix)
    match found.get("ctx", {}).get("error"):
        case DialogueError() as broken:
            between = "." if place and broken.place[:1] not in {"", "["} else ""
            place = f"{place}{between}{broken.place}"
            message = broken.message
        case _:
            message = _sentence(found)
    return Fault(place=_encodable(place), message=_encodable(message))


def _sentence(found: ErrorDetails) -> str:
    match found["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not known here"
        case _:
            return found["msg"].removeprefix("Value error, ")


def _unforeseen(error: Exception) -> Problem:
    incident = secrets.token_hex(4)
    logger.error("Incident %s", incident, exc_info=error)
    if is_disk_full(error):
        return make_problem(507, f"{DISK_FULL} (Logged as {incident}.)")
    if isinstance(error, OperationalError):
        return make_problem(
            503, f"The database did not answer in time; try again. (Logged as {incident}.)"
        )
    return make_problem(500, f"Something went wrong on our side. It is logged as {incident}.")


def _words(detail: Any) -> str:
    """REST framework's detail is a text, a list or a dict of them."""
    match detail:
        case list() | tuple():
            return " ".join(_words(each) for each in detail)
        case dict():
            return " ".join(f"{name}: {_words(each)}" for name, each in detail.items())
        case _:
            return str(detail)


def _headers(error: Exception) -> dict[str, str]:
    headers: dict[str, str] = {}
    if challenge := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = challenge
    if wait := getattr(error, "wait", None):
        headers["Retry-After"] = str(int(wait))
    return headers


def _encodable(text: str) -> str:
    """A message may quote what it refuses; half a surrogate pair could not be sent."""
    return text.encode("utf-8", "backslashreplace").decode()
