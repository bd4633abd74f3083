"""Each row is recognised by its own shape, and everything in it is kept, converted or refused."""

import io
import json
from typing import Any

import pytest
from hypothesis import given

from apps.dialogue.file_formats import Note, ReadRow, TaskContent, read_tasks
from apps.dialogue.message import Message, conversation_to_wire
from tests.dialogue.conversations import conversations, json_objects

USER = {"role": "user", "blocks": [{"type": "text", "text": "hi"}]}
SAID = {"role": "user", "content": "hi"}


def read(row: Any) -> ReadRow:
    (read_row,) = read_tasks(io.BytesIO(json.dumps(row).encode()))
    return read_row


def task(row: Any) -> TaskContent:
    content = read(row).task
    assert content is not None
    return content


def refused(row: Any) -> Note:
    read_row = read(row)
    assert read_row.task is None
    (note,) = [each for each in read_row.notes if each.kind == "refused"]
    return note


def said(content: TaskContent) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in content.messages]


@pytest.mark.parametrize(
    ("row", "name"),
    [
        ({"conversation": [USER]}, "openreward"),
        ({"messages": [USER]}, "openreward"),
        ({"messages": [SAID]}, "openai_chat"),
        ({"messages": [SAID], "question_id": 1, "turns": ["x"]}, "openai_chat"),
        ({"question_id": 1, "turns": ["x"]}, "mt_bench"),
        ({"question": "x"}, "attribute_rows"),
    ],
)
def test_a_row_is_recognised_by_its_own_keys(row: dict[str, Any], name: str) -> None:
    read_row = read(row)
    assert read_row.format == name
    assert read_row.task is not None


def test_rows_of_different_formats_may_stand_in_one_file() -> None:
    rows = [{"question": "x"}, {"messages": [SAID]}, {"conversation": [USER]}]
    data = b"\n".join(json.dumps(row).encode() for row in rows)
    assert [row.format for row in read_tasks(io.BytesIO(data))] == [
        "attribute_rows", "openai_chat", "openreward"
    ]  # fmt: skip


@given(conversations(), json_objects)
def test_a_canonical_task_is_read_as_it_was_written(
    messages: tuple[Message, ...], attributes: dict[str, Any]
) -> None:
    if not messages:
        return
    attributes = {f"x-{name}": value for name, value in attributes.items()}
    row = {"id": "k", "conversation": conversation_to_wire(messages), **attributes}
    assert task(row) == TaskContent("k", messages, attributes, None, ())
    assert {note.kind for note in read(row).notes} <= {"kept"}


def test_what_is_wrong_in_a_canonical_row_is_named() -> None:
    note = refused({"conversation": [USER, {"role": "user", "blocks": [], "name": "x"}]})
    assert note.place == "conversation[1].name"


def test_tools_tags_and_every_other_key_of_a_chat_row_are_kept() -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    row = {
        "id": "k",
        "messages": [SAID],
        "tools": tools,
        "tags": ["a", "a"],
        "split": None,
        "n": 1.0,
    }
    content = task(row)
    assert content.tools == tools
    assert content.tags == ("a",)
    assert content.attributes == {"split": None, "n": 1.0}


def test_stringified_tools_and_functions_of_old_become_tools() -> None:
    function = {"name": "f", "parameters": "{}"}
    made = [{"type": "function", "function": function}]
    read_tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    assert task({"messages": [SAID], "tools": json.dumps(made)}).tools == read_tools
    content = task({"messages": [SAID], "functions": [function]})
    assert content.tools == read_tools
    assert content.attributes == {}


def test_the_ledger_says_what_became_of_a_chat_row() -> None:
    messages = [
        {"role": "developer", "content": "d"},
        {"role": "user", "content": "u", "name": "ann"},
        {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "x"},
    ]
    noted = {(note.kind, note.place) for note in read({"messages": messages}).notes}
    assert noted == {
        ("converted", "messages[0].role"),
        ("kept", "messages[1].detail"),
        ("invented", "messages[2].function_call"),
    }


@pytest.mark.parametrize(
    ("messages", "place"),
    [
        ([], "messages"),
        (None, "messages"),
        ("text", "messages"),
        ([None], "messages[0]"),
        ([SAID, {"role": "critic", "content": "x"}], "messages[1]"),
    ],
)
def test_a_chat_row_that_cannot_be_read_is_refused_with_its_place(
    messages: Any, place: str
) -> None:
    assert refused({"messages": messages}).place == place


def test_the_turns_of_mt_bench_are_user_messages_in_a_row() -> None:
    row = {"question_id": 81, "category": "writing", "turns": ["One.", "Two."], "reference": ["R"]}
    content = task(row)
    assert content.key == "81"
    assert said(content) == [("user", "One."), ("user", "Two.")]
    assert content.attributes == row
    assert refused({**row, "turns": ["x", 5]}).place == "turns[1].blocks[0].text"
    assert refused({**row, "turns": []}).place == "turns"


@pytest.mark.parametrize("column", ["question", "prompt", "input"])
def test_a_question_becomes_a_user_message_and_stays_an_attribute(column: str) -> None:
    row = {"id": "k", column: "Why?", "target": "Because."}
    content = task(row)
    assert (content.key, said(content)) == ("k", [("user", "Why?")])
    assert content.attributes == {column: "Why?", "target": "Because."}
    notes = [(note.kind, note.place) for note in read(row).notes]
    assert notes == [("converted", column), ("kept", "")]


def test_the_ledger_names_the_attributes_that_were_kept() -> None:
    row = {"id": "k", "conversation": [USER], "target": "Vienna", "a\nb": 1, "tags": ["x"]}
    (note,) = read(row).notes
    assert (note.kind, note.message) == ("kept", "attributes target, 'a\\nb'")
    (note,) = read({"conversation": [USER], **{f"x{n}": n for n in range(40)}}).notes
    assert note.message.endswith("x28, x29 and 10 more")
    assert read({"id": "k", "conversation": [USER]}).notes == ()


@pytest.mark.parametrize(
    "row",
    [
        {"answer": "x"},
        {"question": "  "},
        {"input": ["x"]},
        {"instruction": "Do", "input": "x"},
    ],
)
def test_a_row_without_a_conversation_is_told_what_would_be_right(row: dict[str, Any]) -> None:
    note = refused(row)
    for wanted in ("conversation", "messages", "turns", "question, prompt or input"):
        assert wanted in note.message


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("7", "7"),
        (True, "true"),
        (7, "7"),
        (7.0, "7.0"),
        (10**22, str(10**22)),
        (None, None),
        ("", None),
    ],
)
def test_a_number_as_id_becomes_a_text_with_a_note(value: Any, key: str | None) -> None:
    row = {"id": value, "question": "x"}
    assert task(row).key == key
    assert "id" not in task(row).attributes
    converted = [note.place for note in read(row).notes if note.code == "id_not_string"]
    assert converted == (["id"] if isinstance(value, int | float) else [])


def test_other_key_columns_give_the_key_and_stay_attributes() -> None:
    content = task({"task_id": "t-1", "question": "x"})
    assert content.key == "t-1"
    assert content.attributes == {"task_id": "t-1", "question": "x"}
    assert task({"id": "a", "key": "b", "question": "x"}).key == "a"


@pytest.mark.parametrize(
    ("row", "kept", "place", "code"),
    [
        ('{"question": "x", "a": NaN}', None, "a", "non_finite"),
        ('{"question": "x", "a": [1, 1e999]}', [1, None], "a[1]", "non_finite"),
        ('{"question": "x", "a": {"b": "n\\u0000ul"}}', {"b": "nul"}, "a.b", "nul_char"),
        ('{"question": "x", "a": "\\ud83d!"}', "\ufffd!", "a", "lone_surrogate"),
        ('{"question": "x", "a": "\\ud83d\\ude00"}', "\U0001f600", "", "attributes"),
    ],
)
def test_what_cannot_be_stored_is_taken_out_of_a_row_with_a_note(
    row: str, kept: Any, place: str, code: str
) -> None:
    (read_row,) = read_tasks(io.BytesIO(row.encode()))
    assert read_row.task is not None
    assert read_row.task.attributes["a"] == kept
    assert (place, code) in [(note.place, note.code) for note in read_row.notes]
