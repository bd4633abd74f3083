"""What an API answered, without the request: responses, and the results of batches."""

from typing import Any

import pytest

from tests.dialogue.file_formats.reading import codes, read_one, said, task_of

CLAUDE: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "content": [{"type": "text", "text": "A"}],
    "stop_reason": "end_turn",
}
GEMINI: dict[str, Any] = {
    "candidates": [
        {"content": {"role": "model", "parts": [{"text": "A"}]}, "finishReason": "STOP"}
    ],
    "usageMetadata": {"totalTokenCount": 3},
}
GPT: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": "A"}, "finish_reason": "stop"},
        {"index": 1, "message": {"role": "assistant", "content": "B"}, "finish_reason": "stop"},
    ],
}


@pytest.mark.parametrize(
    ("row", "name", "key"),
    [
        (CLAUDE, "anthropic", "msg_1"),
        ({"custom_id": "r", "result": {"type": "succeeded", "message": CLAUDE}}, "anthropic", "r"),
        (GEMINI, "google", None),
        ({"key": "k", "response": GEMINI}, "google", "k"),
        ({"custom_id": "r", "response": {"status_code": 200, "body": GPT}, "error": None},
         "openai_batch", "r"),
    ],
)  # fmt: skip
def test_the_answer_is_the_conversation(row: dict[str, Any], name: str, key: str | None) -> None:
    assert read_one(row).format == name
    task = task_of(row)
    assert (task.key, said(task.messages)) == (key, [("assistant", "A")])
    assert "needs_request_file" in codes(row)


def test_what_is_known_of_an_answer_is_kept() -> None:
    assert task_of(CLAUDE).attributes == {"type": "message", "stop_reason": "end_turn"}
    assert task_of(GEMINI).attributes == {
        "candidates": [{"finishReason": "STOP"}],
        "usageMetadata": {"totalTokenCount": 3},
    }
    batch = {"custom_id": "r", "response": {"body": GPT}}
    body = task_of(batch).attributes["response"]["body"]
    assert body["choices"] == [{"index": 0, "finish_reason": "stop"}, GPT["choices"][1]]


def test_other_candidates_of_gemini_are_kept_as_they_are() -> None:
    other = {"content": {"parts": [{"text": "B"}]}}
    row = {"candidates": [*GEMINI["candidates"], other]}
    assert task_of(row).attributes["candidates"][1] == other


def test_a_request_with_its_response_is_one_conversation() -> None:
    row = {
        "request": {"contents": [{"role": "user", "parts": [{"text": "Q"}]}]},
        "response": GEMINI,
    }
    assert said(task_of(row).messages) == [("user", "Q"), ("assistant", "A")]
    assert "needs_request_file" not in codes(row)


@pytest.mark.parametrize(
    "row",
    [
        {"custom_id": "r", "result": {"type": "errored", "error": {"error": {"message": "no"}}}},
        {"custom_id": "r", "result": {"type": "expired"}},
        {"custom_id": "r", "response": None, "error": {"code": "x", "message": "no"}},
        {"custom_id": "r", "response": {"status_code": 400, "body": {"error": {"message": "no"}}}},
    ],
)
def test_a_request_that_was_not_answered_is_refused_with_the_reason(row: dict[str, Any]) -> None:
    read = read_one(row)
    assert (read.task, read.notes[-1].code) == (None, "missing_messages")
    assert "was not answered" in read.notes[-1].message
