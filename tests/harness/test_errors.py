"""How refusals and our own failures leave: JSON with a status that the clients understand."""

import json
import logging
from typing import Any

import pytest
from django.db import OperationalError

from apps.accounts.errors import Conflict, Forbidden, Gone, Invalid, NotFound
from apps.dialogue.errors import ConversionRefused
from apps.harness.errors import BadRequest, NotAuthenticated, answer_error
from tests.harness.harnesses import Harness


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (BadRequest("no"), 400),
        (NotAuthenticated("no"), 401),
        (Forbidden("no"), 401),
        (NotFound("no"), 404),
        (Gone("no"), 410),
        (Invalid("no"), 422),
        (Conflict("no"), 400),
        (ConversionRefused("no"), 422),
    ],
)
def test_every_refusal_has_its_status_and_says_why(error: Exception, status: int) -> None:
    answer = answer_error(error)
    assert answer.status_code == status
    assert json.loads(answer.content) == {"detail": "no"}
    assert answer["Content-Type"] == "application/json"


def test_a_busy_database_asks_the_client_to_come_back(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    sid = harness.session("counter", "sum")
    monkeypatch.setattr("apps.harness.visit.find_episode", _raising(OperationalError("locked")))
    heard = harness.get("/counter/prompt", sid)
    assert (heard.status, heard.headers["Retry-After"]) == (503, "1")
    assert "locked" not in heard.detail


def test_a_failure_of_ours_is_logged_and_not_explained(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    sid = harness.session("counter", "sum")
    monkeypatch.setattr("apps.harness.visit.find_episode", _raising(ZeroDivisionError("secret")))
    with caplog.at_level(logging.ERROR, "apps.harness.errors"):
        heard = harness.get("/counter/prompt", sid)
    assert heard.status == 500
    assert "secret" not in heard.detail
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("error", [OperationalError("locked"), ZeroDivisionError("secret")])
def test_a_result_that_cannot_be_told_now_is_not_lost(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Without an end the client asks again; after an error event it would give the session up."""
    sid = harness.session("counter", "sum")
    with monkeypatch.context() as patch:
        patch.setattr("apps.harness.streams.result_of", _raising(error))
        heard = harness.submit(sid, "42")
    names = [name for name, _ in heard.events]
    assert names == (["task_id"] if isinstance(error, OperationalError) else ["task_id", "error"])
    assert b"secret" not in heard.body
    resumed = harness.submit(sid, "42", task_id=heard.task_id)
    assert resumed.result["output"]["reward"] == 1.0


def _raising(error: Exception) -> Any:
    def raise_it(*_: Any) -> None:
        raise error

    return raise_it
