"""A good conversation is read whatever stands beside it under a name that a task has itself."""

from typing import Any

import pytest

from apps.dialogue.file_formats import Note
from tests.dialogue.file_formats.reading import read_one, said, task_of

TURNS = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
ROWS: list[dict[str, Any]] = [
    {"messages": TURNS},
    {"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]},
    {"instruction": "a", "output": "b"},
    {"prompt": "a", "completion": "b"},
    {"system": "", "messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}]},
    {"contents": [{"role": "user", "parts": [{"text": "a"}]}]},
    {"dialog": TURNS},
]


def noted(row: dict[str, Any], code: str) -> list[Note]:
    return [note for note in read_one(row).notes if note.code == code]


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("value", ["y", ["y"], {"y": 1}, 7])
def test_a_column_called_like_the_conversation_becomes_another_attribute(
    row: dict[str, Any], value: Any
) -> None:
    task = task_of({**row, "conversation": value})
    assert said(task.messages) == said(task_of(row).messages)
    assert task.attributes["conversation_column"] == value
    assert "conversation" not in task.attributes
    assert [n.place for n in noted({**row, "conversation": value}, "name_taken")] == [
        "conversation"
    ]


def test_the_other_name_is_a_free_one() -> None:
    row = {"question": "x", "conversation": "y", "conversation_column": "z"}
    attributes = task_of(row).attributes
    assert attributes == {"question": "x", "conversation_column_2": "y", "conversation_column": "z"}


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("value", [["x"], {"a": 1}, []])
def test_an_id_that_can_be_no_key_becomes_an_attribute(row: dict[str, Any], value: Any) -> None:
    task = task_of({**row, "id": value, "task_id": "t-1"})
    assert (task.key, task.attributes["id_column"]) == ("t-1", value)
    assert [note.place for note in noted({**row, "id": value}, "name_taken")] == ["id"]


def test_the_id_of_a_line_of_a_batch_is_kept_beside_its_key() -> None:
    task = task_of({"id": "batch_1", "custom_id": "mine", "body": {"messages": TURNS}})
    assert (task.key, task.attributes) == ("mine", {"id_column": "batch_1"})


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize(
    "tools",
    ["[{", "none", '"text"', "7", ["search", "calculator"], {"a": 1}, 3,
     [{"function": {"name": "f", "parameters": "{broken"}}]],
)  # fmt: skip
def test_tools_that_cannot_be_read_are_kept_unread(row: dict[str, Any], tools: Any) -> None:
    task = task_of({**row, "tools": tools})
    assert said(task.messages) == said(task_of(row).messages)
    assert (task.tools, task.attributes["tools_unread"]) == (None, tools)
    assert "tools" not in task.attributes
    (note,) = noted({**row, "tools": tools}, "bad_tools")
    assert note.place.startswith("tools")


def test_functions_of_old_that_cannot_be_read_stay_where_they_are() -> None:
    task = task_of({"messages": TURNS, "functions": "[{"})
    assert (task.tools, task.attributes) == (None, {"functions": "[{"})
    assert noted({"messages": TURNS, "functions": "[{"}, "bad_tools")


@pytest.mark.parametrize("tools", [None, "", " ", []])
def test_no_tools_are_neither_tools_nor_attribute(tools: Any) -> None:
    task = task_of({"messages": TURNS, "tools": tools})
    assert (task.tools, task.attributes) == (None, {})


def test_the_names_of_tools_beside_messages_do_not_make_them_those_of_anthropic() -> None:
    row = {"system": "S", "tools": ["search"], "messages": TURNS}
    assert read_one(row).format == "openai_chat"
    assert said(task_of(row).messages)[0] == ("system", "S")
