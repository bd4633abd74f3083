"""Each result answers a call of the message before it, once; no call is left behind (rule C3)."""

from typing import Any

import pytest
from hypothesis import given

from apps.dialogue.errors import PairingError
from apps.dialogue.message import Message, parse_conversation
from apps.dialogue.pairing import Problem, check_pairing, pairing_problems
from tests.dialogue.conversations import conversations


def asks(*ids: str) -> dict[str, Any]:
    calls = [{"type": "tool_call", "id": each, "name": "f", "input": {}} for each in ids]
    return {"role": "assistant", "blocks": calls}


def answers(*ids: str) -> dict[str, Any]:
    results = [{"type": "tool_result", "tool_call_id": each, "blocks": []} for each in ids]
    return {"role": "user", "blocks": results}


def says(role: str, text: str = "x") -> dict[str, Any]:
    return {"role": role, "blocks": [{"type": "text", "text": text}]}


def problems(*messages: dict[str, Any]) -> list[Problem]:
    return pairing_problems(parse_conversation(list(messages)))


@pytest.mark.parametrize(
    "messages",
    [
        [asks("a", "b"), answers("b", "a")],
        [asks("a", "b"), answers("b"), says("user"), answers("a"), says("assistant")],
        [asks("a"), answers("a"), asks("a"), answers("a")],
        [],
        [says("user"), says("user")],
    ],
    ids=["any order", "over several messages", "an id again later", "nothing", "no calls"],
)
def test_what_belongs_together_is_no_problem(messages: list[dict[str, Any]]) -> None:
    assert problems(*messages) == []
    check_pairing(parse_conversation(messages))


def test_a_call_left_open_at_the_end_is_only_noted() -> None:
    (noted,) = problems(says("user"), asks("a"))
    assert noted == Problem("messages[1].blocks[0]", "the call 'a' waits for its result", "warning")
    check_pairing(parse_conversation([says("user"), asks("a")]))


@pytest.mark.parametrize(
    ("messages", "place", "fault"),
    [
        ([answers("zz")], "messages[0].blocks[0]", "'zz' answers no call"),
        ([asks("a"), answers("a", "a")], "messages[1].blocks[1]", "'a' is answered a second time"),
        (
            [asks("a"), answers("a"), says("assistant"), answers("a")],
            "messages[3].blocks[0]",
            "'a'",
        ),
        ([asks("a"), says("assistant"), answers("a")], "messages[0].blocks[0]", "no result"),
        ([asks("a"), says("system"), answers("a")], "messages[0].blocks[0]", "no result"),
        ([asks("a"), says("user")], "messages[0].blocks[0]", "no result"),
        ([asks("a", "b"), answers("a")], "messages[0].blocks[1]", "'b' has no result"),
        ([asks("x", "x"), answers("x")], "messages[0].blocks[1]", "'x' is used by two calls"),
    ],
)
def test_what_does_not_belong_together_is_refused_with_its_place(
    messages: list[dict[str, Any]], place: str, fault: str
) -> None:
    first = problems(*messages)[0]
    assert (first.place, first.severity) == (place, "error")
    assert fault in first.message
    with pytest.raises(PairingError) as refused:
        check_pairing(parse_conversation(messages))
    assert refused.value.place == place


def test_every_problem_is_told() -> None:
    found = problems(answers("y"), asks("a"), says("assistant"), answers("z"))
    assert [each.place for each in found] == [f"messages[{i}].blocks[0]" for i in (0, 1, 3)]


@given(conversations())
def test_conversations_that_keep_the_rules_have_no_errors(messages: tuple[Message, ...]) -> None:
    assert [each for each in pairing_problems(messages) if each.severity == "error"] == []
