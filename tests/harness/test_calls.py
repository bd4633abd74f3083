"""Calling tools: what is graded, what is refused, what is said again."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from apps.accounts.models import Project
from apps.accounts.permissions import OPERATOR
from apps.episodes.models import Session, ToolRun
from apps.tasks.actions import update_environment
from apps.tasks.queries import get_environment
from tests.harness.bundle import RESULTS
from tests.harness.harnesses import Harness, Heard

NOON = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("environment", "key", "answer", "reward"),
    [
        ("riddles", "capital", "Vienna", 1.0),
        ("riddles", "capital", "  Vienna\n", 1.0),
        ("riddles", "capital", "vienna", 0.0),
        ("riddles", "capital", "Vienna.", 0.0),
        ("riddles", "capital", "", 0.0),
        ("riddles", "look-up", "in ROW 4, I think", 1.0),
        ("riddles", "digits", "how about 17?", 1.0),
        ("riddles", "digits", "117", 0.0),
        ("counter", "sum", "42", 1.0),
        ("counter", "sum", "43", 0.0),
        ("counter", "sum", "\0", 0.0),
    ],
)
def test_an_answer_is_graded_by_the_tasks_own_grader_and_ends_the_episode(
    harness: Harness, environment: str, key: str, answer: str, reward: float
) -> None:
    sid = harness.session(environment, key)
    name, argument = ("reply", "text") if environment == "riddles" else ("submit", "answer")
    heard = harness.call(sid, name, {argument: answer}, environment)
    assert heard.result["ok"] is True
    output = heard.result["output"]
    assert set(output) == {"blocks", "metadata", "reward", "finished"}
    assert (output["reward"], output["finished"]) == (reward, True)
    session = Session.objects.get(sid=sid)
    assert session.reward == reward
    assert session.finished_at is not None
    assert session.ended_at is None


def test_without_a_grader_of_its_own_a_task_is_graded_by_its_environment(
    harness: Harness, kit: Project
) -> None:
    riddles = get_environment(OPERATOR, kit, "riddles")
    scorer = {"type": "string_equals", "ground_truth": "the moon"}
    update_environment(actor=OPERATOR, environment=riddles, scorers=[scorer])
    for answer, reward in (("the moon", 1.0), ("a lamp", 0.0)):
        sid = harness.session("riddles", "moon")
        output = harness.call(sid, "reply", {"text": answer}, "riddles").result["output"]
        assert output["reward"] == reward


def test_what_nobody_can_grade_has_no_reward_and_never_a_zero(harness: Harness) -> None:
    sid = harness.session("riddles", "moon")
    output = harness.call(sid, "reply", {"text": "the moon"}, "riddles").result["output"]
    assert output["reward"] is None
    assert output["finished"] is True
    assert "no scorer" in str(output["metadata"]["unscored"])


def test_the_expected_answer_is_not_told(harness: Harness) -> None:
    sid = harness.session("riddles", "capital")
    assert b"Vienna" not in harness.call(sid, "reply", {"text": "no"}, "riddles").body


@pytest.mark.parametrize(
    ("name", "given", "reason"),
    [
        ("ghost", {}, "not_found"),
        ("__class__", {}, "not_found"),
        ("", {}, "not_found"),
        ("\0", {}, "not_found"),
        ("x" * 5000, {}, "not_found"),
        ("reply", {"text": "x"}, "not_found"),
        ("submit", {}, "input_validation"),
        ("submit", {"answer": 42}, "input_validation"),
        ("submit", {"answer": None}, "input_validation"),
        ("submit", {"answer": ["42"]}, "input_validation"),
        ("find_order", {"id": ["7302"]}, "input_validation"),
        ("find_order", {"id": "x" * 100_000, "deep": "y"}, "input_validation"),
    ],
)
def test_a_wrong_call_is_a_result_with_a_reason_and_costs_nothing(
    harness: Harness, name: str, given: Any, reason: str
) -> None:
    sid = harness.session("counter", "sum")
    result = harness.call(sid, name, given).result
    assert set(result) == {"ok", "error", "reason"}
    assert (result["ok"], result["reason"]) == (False, reason)
    assert 0 < len(result["error"]) < 10_000
    assert harness.submit(sid, "42").result["output"]["reward"] == 1.0


def test_after_the_end_known_tools_say_so_and_unknown_ones_stay_unknown(harness: Harness) -> None:
    sid = harness.session("counter", "sum")
    assert harness.submit(sid, "0").result["output"]["finished"]
    for name, given in [("submit", {"answer": "42"}), ("submit", {}), ("find_order", {"id": "1"})]:
        assert harness.call(sid, name, given).result["reason"] == "episode_finished"
    assert harness.call(sid, "ghost", {}).result["reason"] == "not_found"
    assert Session.objects.get(sid=sid).reward == 0.0


@pytest.mark.parametrize(
    "body",
    [
        {}, {"name": "submit"}, {"input": {}}, {"name": 5, "input": {}}, [], "submit", None,
        {"name": "submit", "input": []}, {"name": "submit", "input": None},
        {"name": "submit", "input": {"answer": "42"}, "extra": 1},
        {"name": "submit", "input": {"answer": "42"}, "task_id": 5},
    ],
)  # fmt: skip
def test_a_body_of_the_wrong_shape_is_refused_and_costs_nothing(
    harness: Harness, body: Any
) -> None:
    sid = harness.session("counter", "sum")
    heard = harness.post("/counter/call", sid, b"null" if body is None else body)
    assert heard.status == 422
    assert heard.detail
    assert not ToolRun.objects.exists()


@pytest.mark.parametrize("entry", RESULTS[:4])
def test_an_authored_result_answers_the_arguments_it_was_written_for(
    harness: Harness, entry: dict[str, Any]
) -> None:
    output = harness.call(harness.session("counter", "lab"), "find_order", entry["input"]).result[
        "output"
    ]
    assert output["blocks"] == [{**block, "detail": None} for block in entry["blocks"]]
    assert (output["metadata"], output["reward"], output["finished"]) == (None, None, False)


@pytest.mark.parametrize(
    "given",
    [
        {"id": "9999"},
        {"id": "7302", "deep": {}},
        {"id": "7302", "deep": {"b": True, "a": [True, None]}},
        {"id": "7302", "deep": {"b": 1, "a": [1, None]}},
        {"id": "7302", "deep": {"b": 1, "a": [True]}},
    ],
)
def test_other_arguments_have_an_ordinary_result(harness: Harness, given: Any) -> None:
    result = harness.call(harness.session("counter", "lab"), "find_order", given).result
    assert result["ok"] is True
    assert "no result" in result["output"]["blocks"][0]["text"]


def test_the_order_of_arguments_does_not_matter(harness: Harness) -> None:
    given = {"deep": {"a": [True, None], "b": 1.0}, "id": "7302"}
    result = harness.call(harness.session("counter", "lab"), "find_order", given).result
    assert result["output"]["blocks"][0]["text"] == "deep"


def test_a_failing_tool_is_an_error_event_on_one_line_and_not_the_sessions_end(
    harness: Harness,
) -> None:
    sid = harness.session("counter", "lab")
    heard = harness.call(sid, "find_order", {"id": "crash"})
    assert [name for name, _ in heard.events] == ["task_id", "error"]
    assert heard.error == "the depot is on fire"
    assert harness.submit(sid, "done").result["output"]["reward"] == 1.0


def test_resuming_says_the_same_and_runs_nothing(harness: Harness) -> None:
    sid = harness.session("counter", "sum")
    first = harness.submit(sid, "42")
    again = harness.submit(sid, "42", task_id=first.task_id)
    with_other_input = harness.submit(sid, "0", task_id=first.task_id)
    assert first.body == again.body == with_other_input.body
    assert ToolRun.objects.count() == 1


@pytest.mark.parametrize("name", ["ghost", "find_order"])
def test_refusals_and_failures_are_resumed_as_they_were(harness: Harness, name: str) -> None:
    sid = harness.session("counter", "lab")
    first = harness.call(sid, name, {"id": "crash"})
    harness.submit(sid, "done")
    assert harness.call(sid, name, {"id": "crash"}, task_id=first.task_id).body == first.body


@pytest.mark.parametrize("task_id", ["nope", "0" * 32, "../../etc", "'; --", "", "\0"])
def test_an_unknown_call_is_an_error_event(harness: Harness, task_id: str) -> None:
    sid = harness.session("counter", "sum")
    assert [n for n, _ in harness.submit(sid, "42", task_id=task_id).events] == ["error"]
    assert harness.submit(sid, "42").result["ok"]


def test_a_call_belongs_to_its_session(harness: Harness, other: Harness) -> None:
    yours = harness.submit(harness.session("counter", "sum"), "42").task_id
    for asker in (harness, other):
        mine = asker.session("counter", "sum")
        assert [n for n, _ in asker.submit(mine, "42", task_id=yours).events] == ["error"]


def test_results_are_ascii_in_short_lines_none_of_which_begins_with_a_space(
    harness: Harness,
) -> None:
    heard = harness.call(harness.session("counter", "lab"), "find_order", {"id": "spaces"})
    assert heard.body.isascii()
    assert len(heard.events) > 4
    assert max(map(len, heard.body.split(b"\n"))) <= 65_536
    assert [data for _, data in heard.events if data != data.lstrip()] == []
    assert heard.result["output"]["blocks"][0]["text"] == RESULTS[2]["blocks"][0]["text"]


def test_a_delay_is_waited_for_and_calls_of_one_tool_follow_each_other(harness: Harness) -> None:
    sid = harness.session("counter", "lab")
    for _ in range(2):
        assert _text(harness.call(sid, "find_order", {"id": "slow"})) == "slow"
    first, second = ToolRun.objects.order_by("pk")
    assert first.ready_at is not None
    assert second.settled_at is not None
    assert first.settled_at is not None
    assert first.ready_at - first.settled_at >= timedelta(milliseconds=600)
    assert second.settled_at >= first.ready_at


def test_an_answer_overtakes_a_slow_call_which_then_finds_the_episode_finished(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the reference: the first call that finishes the episode wins."""
    sid = harness.session("counter", "lab")
    with time_machine.travel(NOON, tick=False) as clock:
        slow = _started(harness, monkeypatch, sid, {"id": "later"})
        assert harness.submit(sid, "done").result["output"]["reward"] == 1.0
        clock.shift(6)
        resumed = harness.call(sid, "find_order", {"id": "later"}, task_id=slow)
        assert resumed.result["reason"] == "episode_finished"
        again = harness.call(sid, "find_order", {"id": "later"}, task_id=slow)
        assert again.body == resumed.body


def test_a_stream_that_may_not_wait_ends_without_end_and_is_resumed(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    sid = harness.session("counter", "lab")
    with time_machine.travel(NOON, tick=False) as clock:
        slow = _started(harness, monkeypatch, sid, {"id": "later"})
        early = harness.call(sid, "find_order", {"id": "later"}, task_id=slow)
        assert [name for name, _ in early.events] == ["task_id"]
        clock.shift(5)
        assert _text(harness.call(sid, "find_order", {"id": "later"}, task_id=slow)) == "later"
    assert ToolRun.objects.count() == 1


def _started(harness: Harness, monkeypatch: pytest.MonkeyPatch, sid: str, given: Any) -> str:
    """The id of a call whose stream found every thread for long waits taken."""
    taken = threading.BoundedSemaphore(1)
    taken.acquire()
    monkeypatch.setattr("apps.harness.streams._LONG_WAITS", taken)
    heard = harness.call(sid, "find_order", given)
    assert [name for name, _ in heard.events] == ["task_id"]
    return heard.task_id


def test_a_long_wait_sends_comments(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clients give a silent stream up after 30 seconds."""
    monkeypatch.setattr("apps.harness.streams.HEARTBEAT_SECONDS", 1.5)
    heard = harness.call(harness.session("counter", "lab"), "find_order", {"id": "later"})
    assert heard.body.count(b"\n: waiting\n") == 3
    assert _text(heard) == "later"


def _text(heard: Heard) -> str:
    return str(heard.result["output"]["blocks"][0]["text"])
