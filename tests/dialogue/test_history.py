"""A bounded history keeps instructions and complete turns; a call leaves with its result."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.errors import ModelCallFailed
from apps.dialogue.history import fit, keep_last_turns, turn_starts
from apps.dialogue.message import Message, parse_conversation, text_message
from apps.dialogue.pairing import pairing_problems
from tests.dialogue.conversations import conversations
from tests.dialogue.test_pairing import answers, asks, says

TOOLS = parse_conversation(
    [
        says("system", "Be kind."),
        says("user", "one"),
        asks("a", "b"),
        answers("a"),
        answers("b"),
        says("assistant", "done"),
        says("system", "Now French."),
        says("user", "two"),
        says("assistant", "deux"),
        says("user", "three"),
    ]
)


def errors(messages: tuple[Message, ...]) -> list[str]:
    return [each.message for each in pairing_problems(messages) if each.severity == "error"]


def length(message: Message) -> int:
    return len(message.blocks)


@given(conversations(), st.integers(0, 6))
def test_cutting_history_never_parts_a_call_from_its_result(
    messages: tuple[Message, ...], count: int
) -> None:
    fitted = keep_last_turns(messages, count)
    assert errors(fitted.messages) == []
    kept = [each for i, each in enumerate(messages) if i not in fitted.left_out]
    assert list(fitted.messages) == kept
    assert all(messages[i].role != "system" for i in fitted.left_out)


@given(conversations(), st.integers(0, 20))
def test_what_fits_is_within_the_limit_and_ends_as_the_history_does(
    messages: tuple[Message, ...], limit: int
) -> None:
    try:
        fitted = fit(messages, size=length, limit=limit, policy="trim")
    except ModelCallFailed:
        assert sum(map(length, messages)) > limit
        return
    assert sum(map(length, fitted.messages)) <= limit
    assert errors(fitted.messages) == []
    assert fitted.messages[-1:] == messages[-1:]


def test_a_turn_begins_with_what_a_user_says_not_with_results() -> None:
    assert turn_starts(TOOLS) == [1, 7, 9]


def test_user_messages_that_follow_one_another_are_one_turn() -> None:
    messages = [
        text_message("user", "a"),
        text_message("user", "b"),
        text_message("assistant", "c"),
    ]
    assert turn_starts(messages) == [0]


def test_the_last_turns_are_kept_with_every_instruction() -> None:
    fitted = keep_last_turns(TOOLS, 2)
    assert [each.text for each in fitted.messages] == [
        "Be kind.", "Now French.", "two", "deux", "three"
    ]  # fmt: skip
    assert fitted.left_out == (1, 2, 3, 4, 5)


def test_everything_is_kept_while_it_fits() -> None:
    assert fit(TOOLS, size=length, limit=11).messages == TOOLS
    assert keep_last_turns(TOOLS, 3).messages == TOOLS
    assert keep_last_turns(TOOLS, 99).left_out == ()


def test_refuse_sends_nothing_that_is_too_long() -> None:
    with pytest.raises(ModelCallFailed, match="size 11 and the limit is 10") as refused:
        fit(TOOLS, size=length, limit=10)
    assert refused.value.reason == "context_window"


def test_trim_leaves_out_no_more_turns_than_it_must() -> None:
    assert fit(TOOLS, size=length, limit=10, policy="trim").left_out == (1, 2, 3, 4, 5)
    assert fit(TOOLS, size=length, limit=4, policy="trim").left_out == (1, 2, 3, 4, 5, 7, 8)


def test_trim_refuses_when_the_last_turn_alone_is_too_long() -> None:
    with pytest.raises(ModelCallFailed, match="last turn alone does not fit"):
        fit(TOOLS, size=length, limit=2, policy="trim")


def test_a_negative_number_of_turns_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="-1"):
        keep_last_turns(TOOLS, -1)
