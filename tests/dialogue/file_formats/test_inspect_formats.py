"""Logs and samples of Inspect AI."""

import json
from typing import Any

from hypothesis import given

from apps.dialogue.blocks import ReasoningBlock, ToolResultBlock
from apps.dialogue.file_formats import FORMATS, Loss, TaskContent
from apps.dialogue.message import Message
from tests.dialogue.conversations import conversations
from tests.dialogue.file_formats.reading import codes, read_all, read_one, said, task_of

HASH = "0123456789abcdef0123456789abcdef"
USER = {"role": "user", "content": "Q", "source": "input"}
CALL = {"id": "k", "function": "f", "arguments": {"x": 1}, "type": "function"}


def log(*samples: dict[str, Any], **keys: Any) -> dict[str, Any]:
    head = {"task": "demo", "model": "m", "config": keys.pop("config", {})}
    return {"version": 2, "status": "success", "eval": head, "samples": list(samples), **keys}


def sample(*messages: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"id": 1, "epoch": 1, "input": "Q", "target": "A", "messages": list(messages), **keys}


def test_each_sample_of_a_log_is_a_task() -> None:
    row = log(sample(USER), sample(USER, epoch=2), config={"epochs": 2})
    read = read_all([row])
    assert [each.format for each in read] == ["inspect_log"] * 2
    assert [each.task.key for each in read if each.task] == ["1_epoch_1", "1_epoch_2"]
    (content, _) = [each.task for each in read if each.task]
    assert content.attributes["target"] == "A"
    assert content.attributes["eval"] == {"task": "demo", "model": "m"}


def test_reasoning_calls_and_failed_tools_are_read() -> None:
    parts = [
        {"type": "reasoning", "reasoning": "hm", "signature": "s", "redacted": False},
        {"type": "reasoning", "reasoning": "sealed", "redacted": True, "summary": "why"},
        {"type": "text", "text": "Look."},
        {"type": "image", "image": "data:image/png;base64,UE5H"},
        {"type": "audio", "audio": "a.wav", "format": "wav"},
    ]
    row = log(
        sample(
            USER,
            {"role": "assistant", "content": parts, "tool_calls": [CALL]},
            {"role": "tool", "content": "", "tool_call_id": "k", "function": "f",
             "error": {"type": "timeout", "message": "too slow"}},
        )
    )  # fmt: skip
    messages = task_of(row).messages
    first, second, text, image, call = messages[1].blocks
    assert isinstance(first, ReasoningBlock)
    assert isinstance(second, ReasoningBlock)
    assert (first.text, first.signature) == ("hm", "s")
    assert (second.text, second.detail) == ("why", {"redacted_data": "sealed"})
    assert [text.type, image.type, call.type] == ["text", "image", "tool_call"]
    assert messages[1].detail == {"unread_parts": [parts[4]]}
    (result,) = messages[2].blocks
    assert isinstance(result, ToolResultBlock)
    assert result.is_error
    assert result.blocks[0].to_wire()["text"] == "too slow"
    assert {"tool_error", "unsupported_block"} <= codes(row)


def test_texts_that_were_kept_once_are_put_back_and_missing_ones_named() -> None:
    kept = {"role": "user", "content": f"attachment://{HASH}"}
    gone = {"role": "user", "content": [{"type": "text", "text": "attachment://gone"}]}
    row = log(sample(kept, gone, attachments={HASH: "long"}))
    assert said(task_of(row).messages) == [("user", "long"), ("user", "attachment://gone")]
    assert {"attachments", "missing_attachments"} <= codes(row)


def test_a_sample_that_was_cut_off_is_read_from_its_last_call() -> None:
    pool = [{"role": "system", "content": "S"}, USER, {"role": "user", "content": "other"}]
    answer = {"choices": [{"message": {"role": "assistant", "content": "A"}}]}
    event = {"event": "model", "input": [], "input_refs": [[0, 2]], "output": answer}
    for pooled in ({"message_pool": pool}, {"events_data": {"messages": pool, "calls": []}}):
        row = log(sample(events=[{"event": "info"}, event], **pooled))
        assert read_one(row).roles == "sua"
    wrong = log(sample(message_pool=pool, events=[{**event, "input_refs": [[0, 9]]}]))
    assert read_one(wrong).notes[-1].kind == "refused"


def test_a_sample_without_messages_or_events_is_its_input() -> None:
    assert said(task_of(log(sample())).messages) == [("user", "Q")]


def test_a_log_without_samples_is_refused_with_its_status() -> None:
    row = {"version": 2, "status": "error", "eval": {"task": "t"}}
    read = read_one(row)
    assert (read.format, read.task) == ("inspect_log", None)
    assert "'error'" in read.notes[-1].message


def test_a_sample_of_a_dataset_keeps_its_target_and_spreads_its_metadata() -> None:
    row = {"input": [USER], "target": ["6", "six"], "id": "q", "choices": ["a"],
           "metadata": {"level": 1, "target": "x"}}  # fmt: skip
    content = task_of(row)
    assert read_one(row).format == "inspect_dataset"
    assert content.key == "q"
    assert content.attributes == {
        "target": ["6", "six"], "choices": ["a"], "level": 1, "metadata": {"target": "x"}
    }  # fmt: skip


def test_metadata_as_json_text_is_read() -> None:
    row = {"input": "Q", "target": "", "metadata": '{"level": 1}'}
    assert task_of(row).attributes["level"] == 1
    assert "stringified_json" in codes(row)


def written(task: TaskContent) -> tuple[list[dict[str, Any]], list[Loss]]:
    losses: list[Loss] = []
    write = FORMATS["inspect_dataset"].write
    assert write is not None
    return write(task, losses), losses


def test_a_question_is_written_as_a_text_and_a_conversation_as_messages() -> None:
    content = task_of({"input": "Q", "target": "A", "level": 2})
    rows, losses = written(content)
    assert rows == [{"input": "Q", "target": "A", "metadata": {"level": 2}}]
    assert losses == []


@given(conversations())
def test_what_is_written_is_what_inspects_reader_takes(messages: tuple[Message, ...]) -> None:
    """The rules of ``read_messages`` in inspect_ai/dataset/_util.py, and of its content types."""
    rows, losses = written(TaskContent("k", messages, {}, None, ()))
    assert rows or losses
    for row in rows:
        json.dumps(row, allow_nan=False)
        assert row["input"]
        for message in [] if isinstance(row["input"], str) else row["input"]:
            assert message["role"] in ("system", "user", "assistant", "tool")
            content = message["content"]
            assert isinstance(content, str | list)
            for part in [] if isinstance(content, str) else content:
                assert part["type"] in ("text", "reasoning", "image")
                assert isinstance(
                    part["reasoning" if part["type"] == "reasoning" else part["type"]], str
                )
            for call in message.get("tool_calls", ()):
                assert set(call) == {"id", "function", "arguments", "type"}
            if message["role"] == "tool":
                assert isinstance(message["tool_call_id"], str)


def test_results_carry_the_name_of_their_tool_and_their_error() -> None:
    row = {"input": [
        USER,
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        {"role": "tool", "content": "no", "tool_call_id": "k", "function": "f",
         "error": {"type": "unknown", "message": "no"}},
    ], "target": ""}  # fmt: skip
    rows, _ = written(task_of(row))
    assert rows[0]["input"][2] == {
        "role": "tool",
        "content": "no",
        "tool_call_id": "k",
        "function": "f",
        "error": {"type": "unknown", "message": "no"},
    }


def test_what_is_said_of_the_log_alone_is_told() -> None:
    row = log(sample(USER), plan={"name": "p"}, stats={"started_at": "x"}, config={"epochs": 1})
    (left,) = [note for note in read_one(row).notes if note.code == "log_header"]
    assert left.kind == "dropped"
    assert all(name in left.message for name in ("plan", "stats", "eval.config"))


def test_a_log_that_failed_says_so_in_each_sample() -> None:
    row = {**log(sample(USER)), "status": "error", "error": {"message": "boom"}}
    known = task_of(row).attributes["eval"]
    assert (known["status"], known["error"]) == ("error", {"message": "boom"})
