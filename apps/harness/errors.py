"""Every refusal of the protocol leaves here: JSON ``{"detail": ...}`` with the right status.

The clients give four statuses a meaning, so they are not used for anything else: 401 is a key that
is not good, 404 something that is not there, 405 a wrong method, 410 a session that has ended.
"""

import logging
from typing import ClassVar

from django.db import OperationalError
from django.http import HttpResponse

from apps.accounts.errors import Conflict, Forbidden, Refusal
from apps.dialogue.errors import DialogueError
from apps.harness.answers import json_answer

logger = logging.getLogger(__name__)

BUSY_FOR_SECONDS = 1


class ProtocolError(Exception):
    """A request that the protocol refuses; ``headers`` go out with the answer."""

    status: ClassVar[int] = 400

    def __init__(self, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.headers = headers or {}


class BadRequest(ProtocolError):
    """A header, an index or a body that is not even JSON."""


class NotAuthenticated(ProtocolError):
    """No key, or one that may not serve harnesses. Never 403, which no client understands."""

    status = 401

    def __init__(self, detail: str) -> None:
        super().__init__(detail, {"WWW-Authenticate": 'Bearer realm="Turnwright"'})


class UnknownAddress(ProtocolError):
    status = 404


class WrongMethod(ProtocolError):
    status = 405


class TooLarge(ProtocolError):
    status = 413


class WrongShape(ProtocolError):
    """JSON, but not what this address takes; the detail names the places."""

    status = 422


def answer_error(error: Exception) -> HttpResponse:
    """The answer to a refusal, and to a failure of our own."""
    match error:
        case ProtocolError():
            return _refused(error.status, error.detail, error.headers)
        case Conflict():
            return _refused(400, error.message)
        case Forbidden():
            return answer_error(NotAuthenticated(error.message))
        case Refusal():
            return _refused(error.status, error.message)
        case DialogueError():
            return _refused(422, str(error))
        case OperationalError():
            logger.warning("The database could not be reached: %s", error)
            retry = {"Retry-After": str(BUSY_FOR_SECONDS)}
            return _refused(503, "The server is busy; ask again.", retry)
        case _:
            logger.exception("A harness request failed", exc_info=error)
            return _refused(500, "The server failed at this request.")


def _refused(status: int, detail: str, headers: dict[str, str] | None = None) -> HttpResponse:
    answer = json_answer({"detail": detail}, status=status)
    for name, value in (headers or {}).items():
        answer[name] = value
    return answer
