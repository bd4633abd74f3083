"""A session from its opening to its end."""

import base64
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from apps.episodes.actions import NowAndThen
from apps.episodes.models import Session
from tests.harness.harnesses import Harness

NOON = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)
INSIDE = [
    ("GET", "/counter/prompt", None),
    ("GET", "/counter/messages", None),
    ("GET", "/counter/task_tools", None),
    ("POST", "/counter/call", {"name": "submit", "input": {"answer": "42"}}),
    ("POST", "/counter/score_group", {"candidates": []}),
    ("POST", "/ping", None),
]


def minutes(count: float) -> datetime:
    return NOON + timedelta(minutes=count)


@pytest.mark.parametrize("body", [b"{}", b"", b'{"env": {"A": "b"}}', b"not json", b"\xff"])
def test_opening_is_a_stream_of_the_id_whatever_the_body(harness: Harness, body: bytes) -> None:
    heard = harness.post("/create_session", body=body)
    assert [name for name, _ in heard.events] == ["task_id", "end"]
    assert heard.events[1][1] == ""
    assert re.fullmatch(r"[\w-]{48}", heard.task_id)
    assert heard.headers["X-Accel-Buffering"] == "no"
    assert "no-cache" in heard.headers["Cache-Control"]
    assert "Content-Length" not in heard.headers


def test_opening_writes_nothing(harness: Harness) -> None:
    harness.get("/list_environments")  # the key's first use of the minute is remembered
    with CaptureQueriesContext(
        connection,
    ) as queries:
        harness.opened()
    assert [q["sql"].split()[0] for q in queries] == ["SELECT"]


def test_a_session_begins_with_create(harness: Harness) -> None:
    sid = harness.opened()
    assert harness.post("/ping", sid).status == 404
    body = {"env_name": "riddles", "split": "test", "index": 0}
    assert harness.post("/create", sid, body).json == {"sid": sid}
    assert harness.post("/ping", sid).json == {"status": "ok"}


def test_a_session_is_created_once(harness: Harness) -> None:
    sid = harness.session("riddles", "capital")
    heard = harness.post("/create", sid, {"env_name": "counter", "split": "test", "index": 0})
    assert heard.status == 400
    assert harness.get("/riddles/prompt", sid).json[0]["text"] == "Capital of Austria, one word?"


def test_without_a_name_the_default_environment_is_played(harness: Harness) -> None:
    sid = harness.opened()
    assert harness.post("/create", sid, {"split": "train", "index": 0}).status == 200
    assert harness.get("/riddles/prompt", sid).json[0]["text"] == "What lights the night?"


def test_a_task_is_found_by_the_id_in_its_spec_and_the_rest_is_ignored(harness: Harness) -> None:
    sid = harness.opened()
    spec = {"id": "sum", "grader": {"type": "equals", "value": "0"}, "answer": "0"}
    body = {"env_name": "Counter", "task_spec": spec}
    assert harness.post("/create", sid, body).status == 200
    assert harness.submit(sid, "0").result["output"]["reward"] == 0.0


@pytest.mark.parametrize(
    "spec", [{"id": "ghost"}, {}, {"id": None}, {"id": ["sum"]}, {"id": 7}, {"id": "\0"}]
)
def test_an_unknown_task_is_refused_and_leaves_the_id_free(harness: Harness, spec: Any) -> None:
    sid = harness.opened()
    assert harness.post("/create", sid, {"env_name": "counter", "task_spec": spec}).status == 404
    assert harness.post("/create", sid, {"split": "test", "index": 0}).status == 200


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"env_name": "riddles"}, 422),
        ({"split": "test"}, 422),
        ({"index": 0}, 422),
        ({"task_spec": {"id": "moon"}, "split": "test", "index": 0}, 422),
        ({"task_spec": {"id": "moon"}, "split": "test"}, 422),
        ({"split": "test", "index": "0"}, 422),
        ({"split": "test", "index": True}, 422),
        ({"split": "test", "index": 0, "surprise": 1}, 422),
        ({"task_spec": ["moon"]}, 422),
        ([], 422),
        ({"env_name": "ghost", "split": "test", "index": 0}, 404),
        ({"split": "nope", "index": 0}, 400),
        ({"split": "test", "index": 2}, 400),
    ],
)
def test_a_wrong_create_is_refused_and_leaves_the_id_free(
    harness: Harness, body: Any, status: int
) -> None:
    sid = harness.opened()
    heard = harness.post("/create", sid, body)
    assert heard.status == status
    assert heard.detail
    assert harness.post("/create", sid, {"split": "test", "index": 0}).status == 200


def test_secrets_in_the_body_are_tolerated_as_the_specification_shows_them(
    harness: Harness,
) -> None:
    body = {"split": "test", "index": 0, "secrets": {"a": "b"}}
    assert harness.post("/create", harness.opened(), body).status == 200


def test_a_toolset_is_refused_by_a_400_that_says_so(harness: Harness) -> None:
    """Harnesses ask again without one if the answer mentions it."""
    body = {"split": "test", "index": 0, "toolset_name": "codex"}
    heard = harness.post("/create", harness.opened(), body)
    assert heard.status == 400
    assert "toolset" in heard.detail


@pytest.mark.parametrize("path", ["/create_session", "/create"])
def test_malformed_secrets_are_refused_and_not_repeated(harness: Harness, path: str) -> None:
    for secrets in (
        "!!!", "bm90IGpzb24=", "WzFd", "eyJhIjogMX0=", "eyJhIjogeyJiIjogMX19", "AAAA", "x" * 4000,
    ):  # fmt: skip
        body = {"split": "test", "index": 0}
        heard = harness.post(path, harness.opened(), body, X_SECRETS=secrets)
        assert heard.status == 400
        assert secrets not in heard.detail


def test_secrets_are_accepted_with_and_without_domains(harness: Harness) -> None:
    held = {"a": {"value": "s", "allowed_domains": ["example.com"]}, "b": {"value": "t"}}
    header = base64.b64encode(json.dumps(held).encode()).decode()
    body = {"split": "test", "index": 0}
    assert harness.post("/create", harness.opened(), body, X_SECRETS=header).status == 200


@pytest.mark.parametrize(("method", "path", "body"), INSIDE)
def test_the_session_header_is_required(
    harness: Harness, method: str, path: str, body: Any
) -> None:
    assert harness.ask(method, path, None, body).status == 400
    assert harness.ask(method, path, "11111111-2222-4333-8444-555555555555", body).status == 404


@pytest.mark.parametrize("path", ["/create", "/delete", "/delete_session"])
def test_opening_and_ending_need_the_session_header_too(harness: Harness, path: str) -> None:
    assert harness.post(path, None, {"split": "test", "index": 0}).status == 400


@pytest.mark.parametrize(
    "sid", ["x" * 4000, "../../x", "' OR 1=1 --", "%00", "{{7*7}}", "\u00e9", "0" * 48]
)
def test_an_invented_session_id_is_no_session(harness: Harness, sid: str) -> None:
    body = {"split": "test", "index": 0}
    assert harness.post("/ping", sid).status == 404
    assert harness.get("/riddles/prompt", sid).status == 404
    assert harness.post("/create", sid, body).status == 404
    assert not Session.objects.exists()


@pytest.mark.parametrize("path", ["/delete", "/delete_session"])
def test_a_deleted_session_is_gone_for_good(harness: Harness, path: str) -> None:
    sid = harness.session("counter", "sum")
    for _ in range(2):
        assert harness.post(path, sid).json == {"sid": sid}
    for method, where, body in INSIDE:
        assert harness.ask(method, where, sid, body).status == 410
    again = harness.post("/create", sid, {"split": "test", "index": 0})
    assert again.status == 400
    assert Session.objects.get(sid=sid).end_reason == "deleted"


def test_deleting_what_was_never_created_is_fine(harness: Harness) -> None:
    sid = harness.opened()
    assert harness.post("/delete", sid).json == {"sid": sid}
    assert harness.post("/create", sid, {"split": "test", "index": 0}).status == 200


@pytest.mark.parametrize(("method", "path", "body"), INSIDE)
def test_a_session_dies_after_a_quarter_of_an_hour_of_silence(
    harness: Harness, method: str, path: str, body: Any
) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        sid = harness.session("counter", "sum")
        clock.move_to(minutes(15.1))
        assert harness.ask(method, path, sid, body).status == 410
    session = Session.objects.get(sid=sid)
    assert session.end_reason == "expired"
    assert session.ended_at == minutes(15.1)


@pytest.mark.parametrize(("method", "path", "body"), [*INSIDE[:4], INSIDE[5]])
def test_every_request_of_a_session_is_a_sign_of_life(
    harness: Harness, method: str, path: str, body: Any
) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        sid = harness.session("counter", "sum")
        for minute in (14, 28, 42):
            clock.move_to(minutes(minute))
            assert harness.ask(method, path, sid, body).status == 200


def test_pings_write_once_a_minute_at_most(harness: Harness) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        sid = harness.session("counter", "sum")
        writes = 0
        for second in range(10, 190, 10):
            clock.move_to(NOON + timedelta(seconds=second))
            with CaptureQueriesContext(connection) as queries:
                assert harness.post("/ping", sid).status == 200
            writes += sum(q["sql"].startswith("UPDATE episodes_session") for q in queries)
        assert writes == 2
        assert Session.objects.get(sid=sid).last_seen_at == NOON + timedelta(seconds=140)


def test_an_id_that_is_not_used_in_time_is_gone(harness: Harness) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        sid = harness.opened()
        clock.move_to(minutes(15.1))
        assert harness.post("/create", sid, {"split": "test", "index": 0}).status == 410


def test_silent_sessions_are_written_down_as_ended_by_later_ones(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.episodes.actions._SWEEPS", NowAndThen(0.0))
    with time_machine.travel(NOON, tick=False) as clock:
        silent = harness.session("counter", "sum")
        clock.move_to(minutes(10))
        lively = harness.session("counter", "sum")
        clock.move_to(minutes(16))
        harness.session("counter", "sum")
    assert Session.objects.get(sid=silent).end_reason == "expired"
    assert Session.objects.get(sid=lively).ended_at is None
