"""Scoring a group of candidates: each one's closing text is graded, the episode does not move."""

from typing import Any

import pytest

from apps.episodes.models import Session
from tests.harness.bundle import says, text
from tests.harness.harnesses import Harness, Heard


def score(harness: Harness, sid: str, *candidates: Any, **more: Any) -> Heard:
    body = {"candidates": list(candidates), **more}
    return harness.post("/riddles/score_group", sid, body)


def candidate(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"messages": list(messages), **more}


def test_the_last_assistant_message_of_each_candidate_is_graded(harness: Harness) -> None:
    sid = harness.session("riddles", "capital")
    heard = score(
        harness,
        sid,
        candidate(says("assistant", "Graz")),
        candidate(says("assistant", "Graz?"), says("assistant", "Vienna"), metadata={"n": 1}),
        candidate(
            says("user", "?"),
            says("assistant", {"type": "reasoning", "text": "easy"}, "Vienna"),
            says("user", "thanks"),
        ),
    )
    assert set(heard.result) == {"scores"}
    assert [each["reward"] for each in heard.result["scores"]] == [0.0, 1.0, 1.0]
    assert all(set(each) == {"reward", "metadata"} for each in heard.result["scores"])


def test_an_empty_group_has_no_scores(harness: Harness) -> None:
    assert score(harness, harness.session("riddles", "capital")).result == {"scores": []}


def test_scoring_leaves_the_episode_as_it_was_and_works_after_its_end(harness: Harness) -> None:
    sid = harness.session("riddles", "capital")
    assert score(harness, sid, candidate(says("assistant", "Vienna"))).result["scores"]
    assert Session.objects.get(sid=sid).finished_at is None
    assert harness.call(sid, "reply", {"text": "Vienna"}, "riddles").result["output"]["finished"]
    after = score(harness, sid, candidate(says("assistant", "Graz"))).result
    assert after["scores"][0]["reward"] == 0.0


@pytest.mark.parametrize(
    ("key", "messages", "reason"),
    [
        ("capital", [says("user", "no reply")], "no assistant message"),
        ("moon", [says("assistant", "the moon")], "no scorer"),
    ],
)
def test_what_cannot_be_graded_fails_the_call_and_never_scores_zero(
    harness: Harness, key: str, messages: Any, reason: str
) -> None:
    sid = harness.session("riddles", key)
    heard = score(harness, sid, candidate(*messages))
    assert [name for name, _ in heard.events] == ["task_id", "error"]
    assert reason in heard.error
    assert harness.post("/ping", sid).status == 200


def test_a_group_is_resumed_by_its_id_and_by_no_calls_id(harness: Harness) -> None:
    sid = harness.session("riddles", "capital")
    first = score(harness, sid, candidate(says("assistant", "Vienna")))
    assert score(harness, sid, task_id=first.task_id).body == first.body
    called = harness.call(sid, "reply", {"text": "Vienna"}, "riddles").task_id
    assert [name for name, _ in score(harness, sid, task_id=called).events] == ["error"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"candidates": {}},
        {"candidates": [{}]},
        {"candidates": [[says("assistant", "Vienna")]]},
        {"candidates": [candidate(says("user", {"type": "reasoning", "text": "?"}))]},
        {"candidates": [candidate({"role": "robot", "blocks": [text("x")]})]},
        {"candidates": [candidate("Vienna")]},
    ],
)
def test_a_wrong_group_is_refused_with_its_place(harness: Harness, body: Any) -> None:
    sid = harness.session("riddles", "capital")
    heard = harness.post("/riddles/score_group", sid, body)
    assert heard.status == 422
    assert "candidates" in heard.detail


def test_an_environment_that_does_not_score_groups_says_so_before_the_stream(
    harness: Harness,
) -> None:
    sid = harness.session("counter", "sum")
    heard = harness.post("/counter/score_group", sid, {"candidates": []})
    assert heard.status == 404
    assert "does not score groups" in heard.detail
