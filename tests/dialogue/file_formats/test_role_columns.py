"""A column for each speaker becomes a turn of it."""

from typing import Any

import pytest

from tests.dialogue.file_formats.reading import codes, read_one, said, task_of


@pytest.mark.parametrize(
    "row",
    [
        {"user": "hi", "assistant": "ho"},
        {"assistant": "ho", "user": "hi"},
        {"Human": "hi", "Bot": "ho"},
        {"prompt": "hi", "assistant": "ho"},
        {"prompt_1": "hi", "response_1": "ho"},
        {"user_1": "hi", "assistant_1": "ho", "user_2": None, "assistant_2": ""},
        {"turn_1_user": "hi", "turn_1_assistant": "ho"},
    ],
)
def test_columns_of_speakers_are_turns(row: dict[str, Any]) -> None:
    assert said(task_of(row).messages) == [("user", "hi"), ("assistant", "ho")]
    assert "role_columns" in codes(row)


def test_numbers_put_turns_in_order_and_a_system_text_comes_first() -> None:
    row = {"user 10": "e", "assistant 2": "d", "user 2": "c", "assistant 1": "b", "user 1": "a",
           "system": "s", "mood": "good", "score": 3}  # fmt: skip
    task = task_of(row)
    assert "".join(message.text for message in task.messages) == "sabcde"
    assert task.attributes == {"mood": "good", "score": 3}


@pytest.mark.parametrize(
    "row",
    [
        {"question": "hi", "model": "m-1"},  # the name of a model
        {"user": "u-9", "text": "x"},
        {"user": "a", "human": "b", "assistant": "c"},  # two for one turn
        {"prompt": "p", "chosen": "a", "rejected": "b", "response": "c"},
    ],
)
def test_other_columns_are_not_taken_for_speakers(row: dict[str, Any]) -> None:
    assert read_one(row).format != "role_columns"


def test_columns_that_say_nothing_are_refused() -> None:
    read = read_one({"user": "", "assistant": None})
    assert read.task is None
    assert read.notes[-1].code == "empty_conversation"
