"""ShareGPT in its many dialects, Alpaca, logs of arenas, MT-Bench's answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from apps.dialogue.blocks import ToolCallBlock, ToolResultBlock
from apps.dialogue.file_formats import read_tasks
from tests.dialogue.file_formats.reading import codes, read_all, read_one, said, task_of

REAL = Path(__file__).parents[4] / "shared" / "real"

ASKED = {"from": "human", "value": "Q"}
ANSWERED = {"from": "gpt", "value": "A"}
QA = [("user", "Q"), ("assistant", "A")]


@pytest.mark.parametrize(
    "row",
    [
        {"conversations": [ASKED, ANSWERED]},
        {"items": [ASKED, ANSWERED]},
        {"conversation": [ASKED, ANSWERED]},
        {"conversations": [{"from": "user", "value": "Q"}, {"from": "bard", "value": "A"}]},
        {"conversations": [{"role": "user", "content": "Q"}, ANSWERED]},
        {
            "id": "k",
            "conversations": [{"speaker": "human", "value": "Q"}, {"sender": "bot", "value": "A"}],
        },
        {"conversation": [{"human": "Q", "assistant": "A"}], "conversation_id": 3},
        {"conversation": [{"input": "Q", "output": "A"}]},
    ],
)
def test_the_dialects_of_sharegpt_are_one_format(row: dict[str, Any]) -> None:
    assert read_one(row).format == "sharegpt"
    assert said(task_of(row).messages) == QA


def test_a_system_text_beside_the_turns_comes_first_and_only_once() -> None:
    turns = [ASKED, ANSWERED]
    assert said(task_of({"conversations": turns, "system": "S"}).messages)[0] == ("system", "S")
    doubled = {"conversations": [{"from": "system", "value": "S"}, *turns], "system": "S"}
    assert said(task_of(doubled).messages) == [("system", "S"), *QA]
    in_pair = {"conversation": [{"system": "S", "input": "Q", "output": "A", "extra": 1}]}
    assert said(task_of(in_pair).messages) == [("system", "S"), *QA]
    assert task_of(in_pair).messages[2].detail == {"extra": 1}


def test_calls_and_results_are_tied_and_tools_are_read_from_their_text() -> None:
    calls = [{"name": "f", "arguments": {"n": 1}}, {"name": "g", "arguments": {}}]
    row = {
        "conversations": [
            ASKED,
            {"from": "function_call", "value": json.dumps(calls)},
            {"from": "observation", "value": "1"},
            {"from": "observation", "value": "2"},
            ANSWERED,
        ],
        "tools": json.dumps([{"name": "f", "description": "d", "parameters": {}}]),
    }
    task = task_of(row)
    assert read_one(row).roles == "uatta"
    asked = [b for b in task.messages[1].blocks if isinstance(b, ToolCallBlock)]
    results = [b for b in task.messages[2].blocks if isinstance(b, ToolResultBlock)]
    assert [(b.name, b.input) for b in asked] == [("f", {"n": 1}), ("g", {})]
    assert [b.tool_call_id for b in results] == [b.id for b in asked]
    assert task.tools == [{"name": "f", "description": "d", "parameters": {}}]
    assert {"ids_invented", "stringified_tools"} <= codes(row)


def test_a_call_that_is_none_stays_a_text() -> None:
    row = {"conversations": [ASKED, {"from": "function_call", "value": "look it up"}]}
    assert said(task_of(row).messages)[1] == ("assistant", "look it up")


@pytest.mark.parametrize("tools", ["[]", "", None, []])
def test_tools_that_are_none_are_neither_tools_nor_attribute(tools: Any) -> None:
    task = task_of({"conversations": [ASKED, ANSWERED], "tools": tools})
    assert (task.tools, task.attributes) == (None, {})


@pytest.mark.parametrize(
    ("turns", "place"),
    [
        ([], "conversations"),
        ([ASKED, {"from": "stranger", "value": "x"}], "conversations[1]"),
        ([{"human": "Q", "assistant": "A"}, {"from": "me", "value": "x"}], "conversations[1]"),
        ([ASKED, 5], "conversations[1]"),
        ([{"human": "Q", "assistant": "A"}, None], "conversations[1]"),
    ],
)
def test_turns_that_cannot_be_read_are_refused_with_their_place(turns: Any, place: str) -> None:
    read = read_one({"conversations": turns})
    assert read.format == "sharegpt"
    assert (read.task, read.notes[-1].place) == (None, place)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"instruction": "I", "input": "X", "output": "A"}, [("user", "I\nX"), ("assistant", "A")]),
        ({"instruction": "Q", "input": "", "output": "A"}, QA),
        ({"instruction": "", "input": "Q", "output": "A"}, QA),
        ({"instruction": "Q", "context": "", "response": "A"}, QA),
        ({"INSTRUCTION": "Q", "RESPONSE": "A"}, QA),
        ({"question": "Q", "answer": "A"}, QA),
        (
            {"instruction": "Q", "output": "A", "system": "S", "history": [["P", "B"]]},
            [("system", "S"), ("user", "P"), ("assistant", "B"), *QA],
        ),
    ],
)
def test_instructions_become_conversations(row: dict[str, Any], expected: Any) -> None:
    assert read_one(row).format == "alpaca"
    assert said(task_of(row).messages) == expected
    assert task_of(row).attributes == {}


def test_a_question_with_an_answer_and_more_is_a_question_with_its_target() -> None:
    row = {"question": "Q", "answer": "A", "difficulty": 3}
    assert read_one(row).format == "attribute_rows"
    assert task_of(row).attributes == row


def test_an_instruction_without_an_output_ends_with_the_question() -> None:
    row = {"instruction": "Q", "input": None, "output": ""}
    assert said(task_of(row).messages) == [("user", "Q")]
    assert "empty_turn" in codes(row)


def test_two_outputs_are_a_pair() -> None:
    row = {"instruction": "Q", "input": "", "output": ["A", "B"]}
    assert [(each.verdict, said(each.messages)) for each in task_of(row).candidates] == [
        ("chosen", [("assistant", "A")]),
        ("rejected", [("assistant", "B")]),
    ]


@pytest.mark.parametrize("place", ["conversation_id", "conversation_hash"])
def test_logs_keep_what_stands_with_every_turn(place: str) -> None:
    turns = [
        {"role": "user", "content": "Q", "hashed_ip": "0f", "header": {"accept-language": "en"}},
        {"role": "assistant", "content": "A", "turn_identifier": 7},
    ]
    row = {place: "c1", "model": "m", "conversation": turns, "turn": 1, "toxic": False}
    read = read_one(row)
    assert (read.format, read.roles) == ("wildchat", "ua")
    task = task_of(row)
    assert task.key == "c1"
    assert task.messages[0].detail == {"hashed_ip": "0f", "header": {"accept-language": "en"}}
    assert task.messages[1].detail == {"turn_identifier": 7}
    assert task.attributes == {key: value for key, value in row.items() if key != "conversation"}
    assert "turn_count" not in codes(row)
    assert "turn_count" in codes({**row, "turn": 4})


def test_choices_of_mt_bench_are_rows_of_their_own() -> None:
    choices = [{"index": 0, "turns": ["A", "B"]}, {"index": 1, "turns": ["C", "D"]}]
    row = {"question_id": 81, "answer_id": "a1", "model_id": "m", "choices": choices}
    rows = read_all([row])
    assert [(each.format, each.roles, each.line) for each in rows] == [
        ("mt_bench_answer", "aa", 1)
    ] * 2
    assert [each.task.key for each in rows if each.task] == ["a1", "a1-1"]
    assert all("needs_question_file" in {note.code for note in each.notes} for each in rows)


@pytest.mark.skipif(not REAL.exists(), reason="the real files are not here")
@pytest.mark.parametrize(
    ("name", "format_name", "count", "roles"),
    [
        ("vicuna_identity.json", "sharegpt", 500, None),
        ("mt_bench/reference_gpt-4.jsonl", "mt_bench_answer", 30, "aa"),
        ("mt_bench/question.jsonl", "mt_bench", 80, "uu"),
    ],
)
def test_real_files_are_read_whole(
    name: str, format_name: str, count: int, roles: str | None
) -> None:
    with (REAL / name).open("rb") as stream:
        rows = list(read_tasks(stream, file_name=name))
    assert len(rows) == count
    assert all(row.task is not None and row.format == format_name for row in rows)
    assert roles is None or {row.roles for row in rows} == {roles}


@pytest.mark.parametrize("asked", ["query", "question", "input"])
@pytest.mark.parametrize("answered", ["response", "output"])
def test_a_question_and_its_response_are_a_conversation(asked: str, answered: str) -> None:
    row = {"id": "k", "system_prompt": "S", asked: "Q", answered: "A", "score": 4}
    read = read_one(row)
    assert (read.format, read.roles) == ("alpaca", "sua")
    assert said(task_of(row).messages)[1:] == QA
    assert task_of(row).attributes == {"score": 4}
    assert "key_variant" in codes(row)
    assert "ambiguous" not in codes(row)


def tagged(*calls: str) -> str:
    return "\n".join(f"<tool_call>\n{call}\n</tool_call>" for call in calls)


def test_calls_and_results_between_tags_become_blocks() -> None:
    calls = [json.dumps({"name": "f", "arguments": {"x": x}}) for x in (1, 2)]
    results = "<tool_response>\nr1\n</tool_response>\n<tool_response>\nr2\n</tool_response>"
    row = {
        "conversations": [
            ASKED,
            {"from": "gpt", "value": f"Looking.\n{tagged(*calls)}", "weight": 1},
            {"from": "tool", "value": results},
            ANSWERED,
        ]
    }
    read = read_one(row)
    assert read.roles == "uatta"
    assert "tool_text" in codes(row)
    assert not codes(row) & {"mixed_role_styles", "orphan_tool_result"}
    _, calling, answered, _ = task_of(row).messages
    assert calling.text == "Looking."
    assert calling.detail == {"weight": 1}
    made = [block for block in calling.blocks if isinstance(block, ToolCallBlock)]
    assert [(block.name, block.input) for block in made] == [("f", {"x": 1}), ("f", {"x": 2})]
    assert [
        (block.tool_call_id, block.blocks[0].text)  # type: ignore[union-attr]
        for block in answered.blocks
        if isinstance(block, ToolResultBlock)
    ] == [(made[0].id, "r1"), (made[1].id, "r2")]


@pytest.mark.parametrize(
    "text",
    [
        tagged("no call"), tagged('{"name": "f"}'), tagged('{"name": 1, "arguments": {}}'),
        '<tool_call>{"name": "f", "arguments": {}}', "what is a <tool_call>?", tagged("[" * 9000),
    ],
)  # fmt: skip
def test_a_tag_without_a_call_stays_text(text: str) -> None:
    row = {"conversations": [ASKED, {"from": "gpt", "value": text}]}
    assert said(task_of(row).messages)[1] == ("assistant", text)
    assert "tool_text" not in codes(row)


def test_words_around_results_leave_them_text() -> None:
    text = "see <tool_response>r</tool_response>"
    row = {"conversations": [{"from": "human", "value": text}, ANSWERED]}
    assert said(task_of(row).messages) == [("user", text), ("assistant", "A")]


def test_sides_that_hold_the_whole_conversation_are_not_put_behind_it() -> None:
    turns = [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]
    row = {
        "conversation": [{"input": "Q", "output": "A"}],
        "chosen": turns,
        "rejected": [turns[0], {"role": "assistant", "content": "B"}],
    }
    read = read_one(row)
    assert (read.format, read.roles) == ("preference_messages", "u")
    answers = [said(each.messages) for each in task_of(row).candidates]
    assert answers == [[("assistant", "A")], [("assistant", "B")]]
    assert task_of(row).attributes == {"source_conversation": row["conversation"]}
    assert "renamed_attribute" in codes(row)
