"""One door for errors: what is foreseen says so, what is not is logged and told without text."""

import json
import logging

import pytest
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import OperationalError
from django.http import Http404
from rest_framework.exceptions import Throttled, ValidationError

from apps.accounts.errors import Conflict, Forbidden, Gone, Invalid, NotFound, Refusal
from apps.api.problems import as_json, problem_of, problem_response
from apps.dialogue.errors import InvalidMessage, ModelCallFailed, SpecError


@pytest.mark.parametrize(
    ("error", "status", "place"),
    [
        (Refusal("no", place="byte 3"), 400, "byte 3"),
        (Forbidden("no"), 403, None),
        (NotFound("no", place="project"), 404, "project"),
        (Conflict("no", place="base"), 409, "base"),
        (Gone("no"), 410, None),
        (Invalid("no", place="slug"), 422, "slug"),
        (InvalidMessage("no", place="messages[0].role"), 422, "messages[0].role"),
        (SpecError("no", place="definition.solver"), 422, "definition.solver"),
        (Http404("no"), 404, None),
        (PermissionDenied("no"), 403, None),
        (RequestDataTooBig("no"), 413, None),
        (ValidationError({"a": ["wrong", "more"]}), 400, None),
    ],
)
def test_every_foreseen_error_has_its_status(
    error: Exception, status: int, place: str | None
) -> None:
    told = as_json(problem_of(error))
    assert told["status"] == status
    assert told.get("place") == place
    assert set(told) <= {"type", "title", "status", "detail", "place"}


def test_a_failed_model_call_is_a_bad_gateway_with_its_reason() -> None:
    told = as_json(problem_of(ModelCallFailed("timeout", "The model did not answer in 60 s")))
    assert (told["status"], told["reason"]) == (502, "timeout")


def test_a_conflict_shows_what_is_there_now() -> None:
    told = as_json(problem_of(Conflict("stale", current={"number": 7})))
    assert told["current"] == {"number": 7}


def test_an_unforeseen_error_is_logged_and_told_without_its_text(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        response = problem_response(RuntimeError("password=hunter2"), {})
    assert response.status_code == 500
    said = json.dumps(response.data)
    assert "hunter2" not in said
    incident = caplog.records[0].getMessage().split()[-1]
    assert incident in said
    assert "hunter2" in caplog.text


def test_a_database_that_does_not_answer_is_a_matter_of_trying_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.ERROR):
        response = problem_response(OperationalError("database is locked"), {})
    assert response.status_code == 503
    assert caplog.records


def test_who_asks_too_often_is_told_when_to_come_back() -> None:
    response = problem_response(Throttled(wait=3.4), {})
    assert response.status_code == 429
    assert response["Retry-After"] == "4"


def test_a_message_may_quote_half_a_surrogate_pair() -> None:
    told = as_json(problem_of(Invalid("'\ud800' is wrong", place="a\ud800")))
    assert json.dumps(told, ensure_ascii=False).encode()
