"""Conversations as lists of texts in turn."""

from typing import Any

import pytest

from tests.dialogue.file_formats.reading import codes, read_one, said, task_of


@pytest.mark.parametrize(
    "row",
    [
        {"id": "0", "data": ["a", "b", "c"]},
        {"dialog": ["a", "b", "c"], "emotion": [0, 0, 1]},
        {"conversation": ["a", "b", "c"], "persona": "p"},
    ],
)
def test_texts_in_turn_are_turns_and_the_user_begins(row: dict[str, Any]) -> None:
    assert read_one(row).format == "ultrachat"
    assert said(task_of(row).messages) == [("user", "a"), ("assistant", "b"), ("user", "c")]
    assert "alternating_turns" in codes(row)


@pytest.mark.parametrize(
    "row",
    [
        {"id": "0", "data": ["a"], "question": "Q"},
        {"id": "0", "data": ["a", "b"], "question": "Q"},
        {"id": "0", "data": ["a", 2], "question": "Q"},
        {"question_id": 1, "turns": ["a", "b"]},
    ],
)
def test_other_lists_are_no_turns(row: dict[str, Any]) -> None:
    assert read_one(row).format != "ultrachat"


def test_an_empty_text_is_told() -> None:
    assert "empty_turn" in codes({"id": "0", "data": ["a", ""]})
