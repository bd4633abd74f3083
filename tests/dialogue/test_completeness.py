"""A reply becomes a turn only if it is complete; everything else fails with its reason."""

import json
from typing import Any

import pytest
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from apps.dialogue.completeness import (
    CompleteReply,
    Usage,
    complete_chat_reply,
    complete_responses_reply,
    usage_of,
)
from apps.dialogue.errors import IncompleteReply, ModelCallFailed
from apps.dialogue.message import conversation_to_wire, text_message
from apps.dialogue.provider_formats import to_responses

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}


def chat(message: dict[str, Any], finish: Any = "stop", **more: Any) -> dict[str, Any]:
    full = {"role": "assistant", "content": None, "refusal": None, **message}
    choice = {"index": 0, "message": full, "finish_reason": finish, "logprobs": None}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [choice], **more}  # fmt: skip


def answer(*items: dict[str, Any], status: str = "completed", **more: Any) -> dict[str, Any]:
    return {"id": "r", "object": "response", "status": status, "output": list(items), **more}


def said(text: str = "Hello.", **more: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [part], **more}  # fmt: skip


REASONING = {
    "type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}],
    "encrypted_content": "gAAA",
}  # fmt: skip
FUNCTION_CALL = {
    "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}",
    "status": "completed",
}  # fmt: skip


def test_a_complete_chat_reply_becomes_a_message() -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15,
             "prompt_tokens_details": {"cached_tokens": 4}}  # fmt: skip
    reply = complete_chat_reply(chat({"content": "Hello."}, usage=usage))
    assert reply == CompleteReply(text_message("assistant", "Hello."), Usage(12, 4, 3), "stop")


def test_a_dump_of_the_sdk_is_read() -> None:
    response = ChatCompletion.model_validate(chat({"content": "Hello."})).model_dump()
    assert complete_chat_reply(response).message == text_message("assistant", "Hello.")


def test_reasoning_is_kept_and_an_empty_field_of_it_is_none() -> None:
    reply = complete_chat_reply(chat({"content": "4", "reasoning_content": "2+2"}))
    assert [block.type for block in reply.message.blocks] == ["reasoning", "text"]
    for field in ("reasoning", "reasoning_content"):
        reply = complete_chat_reply(chat({"content": "4", field: ""}))
        assert [block.type for block in reply.message.blocks] == ["text"]


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (chat({"content": "Hal"}, "length"), "length"),
        (chat({"content": ""}, "content_filter"), "content_filter"),
        (chat({"refusal": "No."}), "refusal"),
        (chat({"content": "Well", "refusal": "No."}), "refusal"),
        (chat({"content": ""}), "empty"),
        (chat({"content": " \n"}), "empty"),
        (chat({}), "empty"),
        (chat({"reasoning_content": "only a thought"}), "empty"),
        (chat({"content": "x"}, None), "incomplete"),
        (chat({"content": "x"}, "error"), "incomplete"),
        (chat({"tool_calls": [CALL]}, "tool_calls"), "unexpected_tool_call"),
        (chat({"content": "x", "tool_calls": [CALL]}), "unexpected_tool_call"),
        ({"choices": []}, "empty"),
    ],
)
def test_an_incomplete_chat_reply_fails_with_its_reason(
    response: dict[str, Any], reason: str
) -> None:
    with pytest.raises(IncompleteReply) as failed:
        complete_chat_reply(response)
    assert failed.value.reason == reason
    assert failed.value.response is response


def test_tool_calls_are_a_turn_where_tools_were_offered() -> None:
    for finish in ("tool_calls", "stop"):
        reply = complete_chat_reply(chat({"tool_calls": [CALL]}, finish), tools_offered=True)
        assert [block.type for block in reply.message.blocks] == ["tool_call"]
        assert reply.finish == finish
    with pytest.raises(IncompleteReply) as failed:
        complete_chat_reply(chat({"content": "x"}, "tool_calls"), tools_offered=True)
    assert failed.value.reason == "incomplete"


@pytest.mark.parametrize(
    "response",
    [
        None,
        [],
        {},
        {"error": {"message": "no"}},
        {"choices": "x"},
        {"choices": [None]},
        {"choices": [{"finish_reason": "stop"}]},
        chat({"role": "user", "content": "x"}),
        chat({"content": 5}),
        chat({"content": "a\x00b"}),
        chat({"content": "a\ud800b"}),
    ],
)
def test_what_is_no_chat_reply_is_a_bad_response(response: Any) -> None:
    with pytest.raises(ModelCallFailed) as failed:
        complete_chat_reply(response)
    assert failed.value.reason == "bad_response"
    assert failed.value.response is response


def test_broken_arguments_of_a_call_are_a_bad_response() -> None:
    broken = {**CALL, "function": {"name": "f", "arguments": '{"x": '}}
    with pytest.raises(ModelCallFailed, match="not valid JSON") as failed:
        complete_chat_reply(chat({"tool_calls": [broken]}, "tool_calls"), tools_offered=True)
    assert failed.value.reason == "bad_response"


def test_a_complete_response_becomes_a_message_that_replays_whole() -> None:
    usage = {"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 8}}
    response = answer(REASONING, said("Hello.", phase="final_answer"), usage=usage)
    reply = complete_responses_reply(response)
    assert reply.message.text == "Hello."
    assert reply.usage == Usage(9, 8, 2)
    assert reply.finish == "completed"
    replayed = to_responses([reply.message])
    assert replayed[0] == REASONING
    assert replayed[1]["phase"] == "final_answer"


def test_a_dump_of_a_response_of_the_sdk_is_read() -> None:
    body = answer(REASONING, said(), created_at=1, model="m", parallel_tool_calls=True,
                  tool_choice="auto", tools=[])  # fmt: skip
    dumped = Response.model_validate(body).model_dump(exclude_none=True)
    assert complete_responses_reply(dumped).message.text == "Hello."


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (answer(said(), status="incomplete",
                incomplete_details={"reason": "max_output_tokens"}), "length"),
        (answer(said(), status="incomplete",
                incomplete_details={"reason": "content_filter"}), "content_filter"),
        (answer(said(), status="incomplete"), "incomplete"),
        (answer(said(), status="in_progress"), "incomplete"),
        (answer(said(status="incomplete")), "incomplete"),
        (answer(said(content=[{"type": "refusal", "refusal": "No."}])), "refusal"),
        (answer(said(content=[{"type": "output_audio"}])), "incomplete"),
        (answer(said("")), "empty"),
        (answer(said(" ")), "empty"),
        (answer(REASONING), "empty"),
        (answer(), "empty"),
        (answer(FUNCTION_CALL), "unexpected_tool_call"),
        (answer({"type": "web_search_call", "id": "ws"}, said()), "unexpected_tool_call"),
        (answer({"type": "image", "id": "i"}, said()), "incomplete"),
    ],
)  # fmt: skip
def test_an_incomplete_response_fails_with_its_reason(
    response: dict[str, Any], reason: str
) -> None:
    with pytest.raises(IncompleteReply) as failed:
        complete_responses_reply(response)
    assert failed.value.reason == reason
    assert failed.value.response is response


def test_function_calls_are_a_turn_where_tools_were_offered() -> None:
    reply = complete_responses_reply(answer(REASONING, FUNCTION_CALL), tools_offered=True)
    assert [block.type for block in reply.message.blocks] == ["reasoning", "tool_call"]
    cut = {**FUNCTION_CALL, "status": "incomplete"}
    with pytest.raises(IncompleteReply) as failed:
        complete_responses_reply(answer(cut), tools_offered=True)
    assert failed.value.reason == "incomplete"


def test_a_failed_response_is_a_failed_call() -> None:
    response = answer(status="failed", error={"code": "server_error", "message": "Sorry."})
    with pytest.raises(ModelCallFailed, match=r"Sorry\.") as failed:
        complete_responses_reply(response)
    assert failed.value.reason == "server_error"


@pytest.mark.parametrize(
    "response",
    [
        None,
        {},
        {"output": "x"},
        {"output": [None]},
        answer(said(content="x")),
        answer(said("\x00")),
    ],
)
def test_what_is_no_response_is_a_bad_response(response: Any) -> None:
    with pytest.raises(ModelCallFailed) as failed:
        complete_responses_reply(response)
    assert failed.value.reason == "bad_response"


@pytest.mark.parametrize(
    "usage",
    [None, "x", {}, {"prompt_tokens": 5}, {"prompt_tokens": "5", "completion_tokens": 1},
     {"prompt_tokens": -1, "completion_tokens": 1},
     {"prompt_tokens": True, "completion_tokens": 1}],
)  # fmt: skip
def test_usage_that_is_not_told_is_none(usage: Any) -> None:
    assert usage_of({"usage": usage}) is None


def test_usage_without_details_counts_nothing_as_cached() -> None:
    counts = {"prompt_tokens": 5, "completion_tokens": 0, "prompt_tokens_details": None}
    assert usage_of({"usage": counts}) == Usage(5, 0, 0)


def test_a_reply_is_read_without_changing_the_response() -> None:
    response = chat({"content": "x", "reasoning": "", "extra": {"kept": True}})
    kept = json.dumps(response)
    reply = complete_chat_reply(response)
    assert json.dumps(response) == kept
    assert conversation_to_wire([reply.message])[0]["detail"] == {"extra": {"kept": True}}
