"""Rule 12: a recorded trace becomes part of the conversation as it is."""

import json
from typing import Any

import pytest

from apps.dialogue.errors import SpecError
from tests.dialogue.solver.stage import GENERATE, loop, play_builders, say, solver

LOAD = {"type": "load_trace", "trace_column": "t"}
USER = {"type": "message", "id": "", "status": "completed", "role": "user",
        "content": [{"type": "input_text", "text": "1"}]}  # fmt: skip
REPLY = {"role": "assistant", "content": [{"type": "output_text", "text": "2", "annotations": []}]}
CALL = {"type": "function_call", "id": "", "call_id": "c1", "name": "f", "arguments": '{"a": 1}',
        "status": "completed"}  # fmt: skip
OUTPUT = {"type": "function_call_output", "id": "", "call_id": "c1", "output": "ok",
          "status": "completed"}  # fmt: skip


@pytest.mark.parametrize(
    "trace",
    [
        {"items": [USER, REPLY]},
        [USER, REPLY],
        json.dumps({"items": [USER, REPLY], "metadata": None, "events": None}),
        json.dumps([USER, REPLY]),
        {"trace": {"items": [USER, REPLY]}, "raw_outputs": []},
        [{"role": "user", "content": "1"}, {"role": "assistant", "content": "2"}],
        {"messages": [{"role": "user", "content": "1"}, {"role": "assistant", "content": "2"}]},
        [
            {"role": "user", "blocks": [{"type": "text", "text": "1"}]},
            {"role": "assistant", "blocks": [{"type": "text", "text": "2"}]},
        ],
    ],
    ids=["trace", "items", "text", "text of items", "output", "easy", "messages", "canonical"],
)
def test_a_trace_is_appended_and_a_reply_may_follow_an_assistant_turn(trace: Any) -> None:
    played = play_builders(LOAD, GENERATE, sample={"t": trace}, main=["C"])
    assert played.said == ["u:1", "a:2", "a:C"]
    assert played.ending.answer == "C"


def test_a_recorded_reply_is_not_the_evaluated_model_s_answer() -> None:
    played = play_builders(LOAD, sample={"t": [USER, REPLY]})
    assert played.ending.reason == "completed"
    assert played.ending.answer is None


def test_assistant_turns_in_a_row_stay_apart() -> None:
    trace = [{"role": "assistant", "content": text} for text in ("a", "b", "c")]
    played = play_builders(LOAD, sample={"t": trace})
    assert played.said == ["a:a", "a:b", "a:c"]


def test_calls_and_outputs_are_kept_and_paired() -> None:
    played = play_builders(LOAD, sample={"t": [USER, REPLY, CALL, OUTPUT]})
    kinds = [[block.type for block in each.blocks] for each in played.transcript.messages]
    assert kinds == [["text"], ["text", "tool_call"], ["tool_result"]]


def test_a_missing_type_is_told_from_the_fields() -> None:
    bare = [{k: v for k, v in item.items() if k != "type"} for item in (USER, CALL, OUTPUT)]
    played = play_builders(LOAD, sample={"t": bare})
    kinds = [[block.type for block in each.blocks] for each in played.transcript.messages]
    assert kinds == [["text"], ["tool_call"], ["tool_result"]]


def test_reasoning_is_kept_with_what_follows_it() -> None:
    thought = {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]}
    played = play_builders(LOAD, sample={"t": [USER, REPLY, thought, REPLY]})
    kinds = [[block.type for block in each.blocks] for each in played.transcript.messages]
    assert kinds == [["text"], ["text"], ["reasoning", "text"]]


@pytest.mark.parametrize(
    ("trace", "naming"),
    [
        ("not json", "not JSON"),
        (5, "not a number"),
        (None, "not null"),
        ({"steps": []}, "this one has steps"),
        ([{"role": "robot", "content": "x"}], "'robot'"),
        ([USER, {"type": "item_reference", "id": "x"}], "items[1]"),
        ([USER, CALL], "'c1'"),
        ([USER, CALL, USER], "'c1'"),
        ([USER, OUTPUT], "'c1'"),
        ([USER, CALL, OUTPUT, CALL, OUTPUT], "'c1' is used twice"),
        ([REPLY, REPLY, {"type": "nope"}], "items[2]"),
        ([USER, {**CALL, "arguments": "[1]"}, OUTPUT], "c1"),
        ('[{"role": "user", "content": NaN}]', "NaN"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(trace: Any, naming: str) -> None:
    played = play_builders(LOAD, GENERATE, sample={"t": trace}, main=["never"])
    assert played.model.calls == []
    assert played.ending.reason == "template_error"
    assert played.ending.path == "message_builders[0]"
    assert "'t'" in played.ending.message
    assert naming in played.ending.message


def test_two_traces_with_one_call_id_are_refused() -> None:
    again = {"type": "load_trace", "trace_column": "t"}
    played = play_builders(LOAD, again, sample={"t": [USER, CALL, OUTPUT]})
    assert "'c1' is already used" in played.ending.message


def test_it_stands_at_the_top_level_only() -> None:
    with pytest.raises(SpecError, match="top level only"):
        solver(say("Q"), loop(GENERATE, LOAD))
