"""Rows that go through a column mapping become tasks."""

from typing import Any

import pytest

from apps.dialogue.column_mapping import parse_mapping
from apps.dialogue.errors import DialogueError
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.base import TaskContent
from apps.dialogue.file_formats.turns.mapped_rows import read_mapped


def read(mapping: dict[str, Any], row: dict[str, Any]) -> tuple[TaskContent, list[Note]]:
    notes: list[Note] = []
    return read_mapped(parse_mapping(mapping), row, notes), notes


def test_a_row_of_a_table_becomes_a_task() -> None:
    mapping = {
        "key": "ticket",
        "conversation": [{"role": "user", "content": "question"}],
        "chosen": "good",
        "rejected": "bad",
        "tags": "topic",
    }
    row = {"ticket": 7, "question": "a", "good": "b", "bad": "c", "topic": "x", "target": "t"}
    task, _ = read(mapping, row)
    assert task.key == "7"
    assert [message.text for message in task.messages] == ["a"]
    assert [(each.verdict, each.messages[0].text) for each in task.candidates] == [
        ("chosen", "b"),
        ("rejected", "c"),
    ]
    assert task.tags == ("x",)
    assert task.attributes == {"target": "t"}


def test_whole_conversations_beside_each_other_share_their_start() -> None:
    start = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    row = {
        "good": [*start, {"role": "user", "content": "c"}, {"role": "assistant", "content": "d"}],
        "bad": [*start, {"role": "user", "content": "c"}, {"role": "assistant", "content": "e"}],
    }
    task, _ = read({"chosen": "good", "rejected": "bad"}, row)
    assert [message.text for message in task.messages] == ["a", "b", "c"]
    assert [each.messages[0].text for each in task.candidates] == ["d", "e"]


@pytest.mark.parametrize(
    ("mapping", "row", "place"),
    [
        ({"conversation": "turns"}, {"turns": []}, "conversation"),
        ({"chosen": "a"}, {"a": "only an answer"}, "conversation"),
        ({"conversation": "turns"}, {"turns": [{"role": "uaat", "content": "a"}]}, "conversation"),
        ({"conversation": [{"role": "user", "content": "b"}]}, {"a": 1}, "conversation[0].content"),
    ],
)
def test_what_cannot_be_a_task_is_refused_at_its_place(
    mapping: dict[str, Any], row: dict[str, Any], place: str
) -> None:
    with pytest.raises(DialogueError) as refused:
        read(mapping, row)
    assert refused.value.place.startswith(place)
