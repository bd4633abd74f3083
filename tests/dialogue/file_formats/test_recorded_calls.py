"""Examples and runs of LangSmith, items and observations of Langfuse."""

import json
from typing import Any

import pytest

from apps.dialogue.blocks import ToolCallBlock, ToolResultBlock
from tests.dialogue.file_formats.reading import codes, read_all, read_one, said, task_of

ASKED = {"role": "user", "content": "Q"}
ANSWERED = {"role": "assistant", "content": "A"}
PAIR = [("user", "Q"), ("assistant", "A")]


def lc(kind: str, **kwargs: Any) -> dict[str, Any]:
    path = ["langchain", "schema", "messages", f"{kind}Message"]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": kwargs}


@pytest.mark.parametrize(
    "outputs",
    [
        {"message": ANSWERED},
        {"messages": [ASKED, ANSWERED]},
        {"messages": [ANSWERED]},
        ANSWERED,
        {"choices": [{"index": 0, "message": ANSWERED}]},
        {"generations": [[{"text": "A", "message": lc("AI", content="A")}]]},
        {"generations": [[{"text": "A"}]]},
        {"output": lc("AI", content="A")},
        {"output": {"role": "assistant", "content": "A"}},
        {"answer": "A"},
    ],
)
def test_the_reference_output_of_an_example_is_the_last_turn(outputs: dict[str, Any]) -> None:
    row = {"id": "e", "inputs": {"messages": [ASKED]}, "outputs": outputs}
    read = read_one(row)
    assert read.format == "langsmith_examples"
    assert read.task is not None
    assert said(read.task.messages) == PAIR
    assert read.task.attributes == {}


@pytest.mark.parametrize(
    "messages",
    [
        [[lc("Human", content="Q")]],
        [{"type": "human", "data": {"content": "Q", "additional_kwargs": {}}}],
        [{"type": "human", "content": "Q", "example": False}],
        [["human", "Q"]],
    ],
)
def test_messages_of_langchain_are_read_in_their_spellings(messages: list[Any]) -> None:
    row = {"inputs": {"messages": messages}, "outputs": None}
    assert said(task_of(row).messages) == [("user", "Q")]


def test_calls_and_failed_results_of_langchain_become_blocks() -> None:
    call = {"name": "f", "args": {"x": None}, "id": "k", "type": "tool_call"}
    content = [{"type": "text", "text": "Look."}, {"type": "tool_use", "id": "k", "name": "f"}]
    messages = [
        lc("Human", content="Q"),
        lc("AI", content=content, tool_calls=[call], usage_metadata={"n": 1}),
        lc("Tool", content="no", tool_call_id="k", status="error"),
    ]
    row = {"inputs": {"messages": messages}, "outputs": {}}
    read = task_of(row).messages
    _, called = read[1].blocks
    assert isinstance(called, ToolCallBlock)
    assert (called.id, called.input) == ("k", {"x": None})
    assert read[1].detail == {"usage_metadata": {"n": 1}}
    (result,) = read[2].blocks
    assert isinstance(result, ToolResultBlock)
    assert result.is_error
    assert "lc_serialised" in codes(row)


def test_a_lone_text_is_taken_for_the_question_and_a_mapping_is_asked_for() -> None:
    row = {"inputs": {"topic": "2+2"}, "outputs": {"sum": "4"}}
    assert said(task_of(row).messages) == [("user", "2+2"), ("assistant", "4")]
    assert "needs_column_mapping" in codes(row)


def test_inputs_that_tell_no_question_are_refused_with_their_names() -> None:
    read = read_one({"inputs": {"first": "a", "second": "b"}, "outputs": {}})
    assert read.task is None
    assert read.notes[-1].code == "needs_column_mapping"
    assert "first, second" in read.notes[-1].message


def test_history_tools_and_what_else_was_put_in_are_kept() -> None:
    inputs = {
        "chat_history": [ASKED, ANSWERED],
        "input": "And?",
        "tools": [{"name": "f", "parameters": {}}],
        "k": 3,
    }
    content = task_of({"inputs": inputs, "outputs": {"odd": [1]}})
    assert said(content.messages) == [*PAIR, ("user", "And?")]
    assert content.tools == [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    assert content.attributes == {"inputs": {"k": 3}, "outputs": {"odd": [1]}}


def run(name: str, kind: str, **keys: Any) -> dict[str, Any]:
    return {"run_id": name, "trace_id": "t", "run_type": kind, "inputs": {}, **keys}


def test_the_last_call_of_a_model_tells_the_conversation_of_a_trace() -> None:
    rows = [
        run("2", "llm", start_time="2026-01-01T00:00:02", inputs={"messages": [[ASKED]]},
            outputs={"generations": [[{"message": lc("AI", content="A")}]]},
            extra={"invocation_params": {"tools": [{"type": "function"}]}}),
        run("1", "llm", start_time="2026-01-01T00:00:01", inputs={"messages": [[ASKED]]}),
        run("0", "chain"),
    ]  # fmt: skip
    (read,) = read_all(rows)
    assert (read.format, read.line) == ("langsmith_runs", 1)
    assert read.task is not None
    assert (read.task.key, said(read.task.messages)) == ("2", PAIR)
    assert read.task.tools == [{"type": "function"}]
    assert "skipped_spans" in {note.code for note in read.notes}


def test_a_trace_without_a_call_of_a_model_is_read_from_its_first_run() -> None:
    rows = [
        run("b", "tool", parent_run_id="a"),
        run("a", "chain", inputs={"question": "Q"}, outputs={"output": "A"}),
    ]
    (read,) = read_all(rows)
    assert read.task is not None
    assert said(read.task.messages) == PAIR


def test_runs_without_a_trace_stay_apart() -> None:
    rows = [{"run_type": "llm", "inputs": {"messages": [{**ASKED, "content": t}]}} for t in "xy"]
    assert len(read_all(rows)) == 2


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ([ASKED], ANSWERED),
        (json.dumps([ASKED]), json.dumps(ANSWERED)),
        ({"messages": [ASKED]}, "A"),
        ("Q", "A"),
        ({"args": [], "kwargs": {"messages": [ASKED]}}, [ANSWERED]),
    ],
)
def test_an_item_of_langfuse_ends_with_the_expected_output(asked: Any, expected: Any) -> None:
    row = {"id": "i", "input": asked, "expectedOutput": expected, "status": "ACTIVE"}
    read = read_one(row)
    assert read.format == "langfuse_items"
    assert read.task is not None
    assert said(read.task.messages) == PAIR


def test_archived_items_and_json_in_texts_are_noted() -> None:
    row = {"input": json.dumps([ASKED]), "expectedOutput": None, "status": "ARCHIVED",
           "metadata": '{"k": 1}'}  # fmt: skip
    assert {"archived", "stringified_json"} <= codes(row)
    assert task_of(row).attributes["metadata"] == {"k": 1}


def seen(name: str, kind: str = "GENERATION", **keys: Any) -> dict[str, Any]:
    return {"id": name, "traceId": "t", "type": kind, "startTime": f"2026-01-01T0{name}", **keys}


def test_a_generation_that_a_later_one_goes_on_with_is_a_part_of_it() -> None:
    call = {"role": "assistant", "tool_calls": [{"id": "k", "name": "f", "arguments": "{}{}"}]}
    result = {"role": "tool", "tool_call_id": "k", "content": "ok"}
    rows = [
        seen("1", input=[ASKED], output=call),
        seen("2", input=[ASKED, call, result], output=ANSWERED),
        seen("3", input=[{"role": "user", "content": "Title?"}], output="T"),
        seen("0", "SPAN", input={"q": 1}),
    ]
    read = read_all(rows)
    assert [each.task.key for each in read if each.task] == ["2", "3"]
    assert [each.roles for each in read] == ["uata", "ua"]
    assert {"skipped_spans", "flat_tool_calls"} <= {n.code for each in read for n in each.notes}


def test_a_trace_of_spans_alone_is_refused() -> None:
    (read,) = read_all([seen("0", "SPAN"), seen("1", "EVENT")])
    assert read.format == "langfuse_observations"
    assert read.notes[-1].code == "skipped_spans"


def test_a_whole_trace_is_read_from_its_observations() -> None:
    row = {"id": "t", "observations": [seen("1", input=[ASKED], output=ANSWERED)]}
    assert said(task_of(row).messages) == PAIR


@pytest.mark.parametrize(
    ("outputs", "left"),
    [
        (
            {"choices": [{"index": 0, "message": ANSWERED, "finish_reason": "stop"}]},
            {"choices": [{"finish_reason": "stop"}]},
        ),
        (
            {"choices": [{"message": ANSWERED}, {"index": 1, "message": {"content": "B"}}]},
            {"choices": [{"index": 1, "message": {"content": "B"}}]},
        ),
        (
            {"generations": [[{"text": "A", "generation_info": {"logprobs": [1]}}, {"text": "B"}]]},
            {"generations": [{"generation_info": {"logprobs": [1]}}, {"text": "B"}]},
        ),
        (
            {"generations": [[{"text": "other", "message": lc("AI", content="A")}]]},
            {"generations": [{"text": "other"}]},
        ),
    ],
)
def test_what_stands_beside_the_answer_stays_an_attribute(
    outputs: dict[str, Any], left: dict[str, Any]
) -> None:
    row = {"id": "e", "inputs": {"messages": [ASKED]}, "outputs": outputs}
    assert said(task_of(row).messages) == PAIR
    assert task_of(row).attributes["outputs"] == left


def test_a_text_in_quotes_keeps_them() -> None:
    row = {"id": "i", "input": '"Q"', "expectedOutput": "A", "status": "ACTIVE"}
    assert said(task_of(row).messages)[0] == ("user", '"Q"')


def test_a_list_of_traces_has_what_was_asked_and_answered() -> None:
    row = {"id": "t", "timestamp": "2026", "name": "n", "sessionId": None, "observations": ["o"]}
    (read,) = read_all([{**row, "input": {"messages": [ASKED]}, "output": ANSWERED}])
    assert (read.format, read.roles) == ("langfuse_observations", "ua")
    assert read.task is not None
    assert (read.task.key, read.task.attributes["observations"]) == ("t", ["o"])
