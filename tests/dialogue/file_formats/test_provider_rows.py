"""Rows in the shapes of providers: requests, responses, batches, logs, evaluations."""

from typing import Any

import pytest

from apps.dialogue.blocks import ReasoningBlock, TextBlock, ToolCallBlock, ToolResultBlock
from tests.dialogue.file_formats.reading import codes, read_one, said, task_of

HI = {"role": "user", "content": "hi"}
HELLO = {"role": "assistant", "content": "hello"}
MESSAGE = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "A"}],
}
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"n": 1}'}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "r"}
THOUGHT = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "t"}],
    "encrypted_content": "sealed",
}
ASKED = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Q"}]}


@pytest.mark.parametrize(
    ("row", "name", "roles"),
    [
        ({"messages": [HI]}, "openai_chat", "u"),
        ({"messages": [HI], "system": None}, "openai_chat", "u"),
        ({"request": {"messages": [HI]}, "response": {"choices": [{"message": HELLO}]}},
         "openai_chat", "ua"),
        ({"object": "chat.completion", "choices": [{"message": HELLO}]}, "openai_chat", "a"),
        ({"custom_id": "r", "body": {"messages": [HI]}}, "openai_batch", "u"),
        ({"custom_id": "r", "body": {"input": "hi", "instructions": "s"}}, "openai_batch", "su"),
        ({"custom_id": "r", "body": {"input": [ASKED]}}, "openai_batch", "u"),
        ({"custom_id": "r", "response": {"body": {"choices": [{"message": HELLO}]}}},
         "openai_batch", "a"),
        ({"custom_id": "r", "response": {"body": {"output": [MESSAGE]}}}, "openai_batch", "a"),
        ({"object": "response", "instructions": "s", "output": [MESSAGE]},
         "openai_responses", "sa"),
        ({"input": "hi", "output": [THOUGHT, MESSAGE]}, "openai_responses", "ua"),
        ({"request": {"input": [ASKED]}, "response": {"output": [MESSAGE]}},
         "openai_responses", "ua"),
        ({"items": [ASKED, CALL, OUTPUT, MESSAGE]}, "open_responses_trace", "uata"),
        ({"system": "s", "messages": [HI, HELLO]}, "anthropic", "sua"),
        ({"messages": [{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c"}, {"type": "text", "text": "x"}]}]},
         "anthropic", "tu"),
        ({"custom_id": "r", "params": {"system": "s", "messages": [HI]}}, "anthropic", "su"),
        ({"system": "s", "messages": [HI, {**HELLO, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}]},
         "openai_chat", "sua"),
        ({"system": "s", "messages": [HI], "images": ["1.png"]}, "openai_chat", "su"),
        ({"system": "s", "messages": [HI], "tools": "[]"}, "openai_chat", "su"),
        ({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}, "google", "u"),
        ({"key": "k", "request": {"contents": [{"parts": [{"text": "hi"}]}]}}, "google", "u"),
        ({"input": [HI], "ideal": "x"}, "openai_evals", "u"),
        ({"item": {"messages": [HI]}, "sample": {}}, "openai_evals", "u"),
        ({"prompt": "p", "completion": "c"}, "prompt_completion", "ua"),
        ({"prompt": [HI], "completion": [HELLO]}, "prompt_completion", "ua"),
        ({"conversation": [{"role": "user", "text": "hi"}]}, "role_text", "u"),
        ({"request": {"messages": [HI]}, "response": {"type": "message", "content": [
            {"type": "text", "text": "x"}]}}, "anthropic", "ua"),
        ({"trace": {"items": [ASKED]}}, "open_responses_trace", "u"),
        ({"messages": {"role": ["user", "assistant"], "content": ["x", "y"]}}, "openai_chat", "ua"),
        ({"dialog": [HI, HELLO]}, "turns_column", "ua"),
        ({"prompt": [HI], "reward_model": {"ground_truth": "1"}}, "turns_column", "u"),
    ],
)  # fmt: skip
def test_a_row_is_recognised_by_its_own_keys(row: dict[str, Any], name: str, roles: str) -> None:
    read = read_one(row)
    assert (read.format, read.roles) == (name, roles), read.notes


# ----------------------------------------------------------------------------------- OpenAI
def test_tools_may_be_json_text_at_every_level() -> None:
    schema = '{"type": "object"}'
    row = {"messages": [HI], "tools": [{"type": "function", "function": {"parameters": schema}}]}
    assert task_of(row).tools == [
        {"type": "function", "function": {"parameters": {"type": "object"}}}
    ]
    assert "stringified_tools" in codes(row)


def test_images_beside_the_turns_take_the_place_of_their_markers() -> None:
    data = "data:image/png;base64,UE5H"
    turn = {"role": "user", "content": "<image>What is it, beside <image>?"}
    row = {"messages": [turn], "images": [data, data]}
    (message,) = task_of(row).messages
    assert [block.type for block in message.blocks] == ["image", "text", "image", "text"]
    assert message.text == "What is it, beside \n?"
    assert "placeholder_image" in codes(row)


def test_images_that_lie_elsewhere_leave_their_markers() -> None:
    row = {"messages": [{"role": "user", "content": "<image> what?"}], "images": ["a.png", "b.png"]}
    content = task_of(row)
    assert content.messages[0].text == "<image> what?"
    assert content.attributes == {"images": ["a.png", "b.png"]}
    (note,) = [note for note in read_one(row).notes if note.code == "placeholder_image"]
    assert "1 markers" in note.message
    assert "2 images, not as many" in note.message


def test_a_batch_keeps_its_id_as_the_key_and_the_rest_as_attributes() -> None:
    row = {
        "custom_id": "row-1",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": "m", "messages": [HI], "tools": [{"type": "function"}]},
    }
    content = task_of(row)
    assert content.key == "row-1"
    assert content.tools == [{"type": "function"}]
    assert content.attributes == {
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": "m"},
    }


def test_a_batch_without_a_conversation_is_refused() -> None:
    row = {"custom_id": "r", "body": {"model": "text-embedding-3-small", "input": "x"}}
    assert read_one(row).task is None
    assert "missing_messages" in codes(row)


@pytest.mark.parametrize("url", ["/v1/embeddings", "https://api.example/v1/moderations/"])
def test_a_batch_for_another_endpoint_is_refused_by_its_name(url: str) -> None:
    read = read_one({"custom_id": "r", "url": url, "body": {"model": "m", "input": "x"}})
    assert read.task is None
    assert (read.notes[-1].place, read.notes[-1].code) == ("url", "missing_messages")


def test_functions_of_old_are_told_also_where_none_is_called() -> None:
    read = read_one({"messages": [HI], "functions": [{"name": "f", "parameters": {}}]})
    assert "legacy_function_call" in {note.code for note in read.notes}
    assert read.task is not None
    assert read.task.tools == [{"type": "function", "function": {"name": "f", "parameters": {}}}]


@pytest.mark.parametrize("name", ["anthropic", "openreward"])
def test_an_image_in_a_result_is_told_whatever_the_format(name: str) -> None:
    result: dict[str, Any]
    if name == "anthropic":
        source = {"type": "base64", "media_type": "image/png", "data": "eA=="}
        result = {"type": "tool_result", "tool_use_id": "c",
                  "content": [{"type": "image", "source": source}]}  # fmt: skip
        call = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
        row = {"messages": [HI, {"role": "assistant", "content": [call]},
                            {"role": "user", "content": [result]}]}  # fmt: skip
    else:
        image = {"type": "image", "data": "eA==", "mimeType": "image/png"}
        result = {"type": "tool_result", "tool_call_id": "c", "blocks": [image]}
        call = {"type": "tool_call", "id": "c", "name": "f", "input": {}}
        row = {"conversation": [{"role": "assistant", "blocks": [call]},
                                {"role": "user", "blocks": [result]}]}  # fmt: skip
    read = read_one(row)
    assert read.format == name
    assert "image_in_tool_result" in {note.code for note in read.notes}


def test_results_of_a_batch_ask_for_the_requests() -> None:
    row = {"custom_id": "r", "response": {"status_code": 200, "body": {"choices": [
        {"message": HELLO}], "model": "m"}}}  # fmt: skip
    assert "needs_request_file" in codes(row)
    assert task_of(row).attributes["response"] == {"status_code": 200, "body": {"model": "m"}}


@pytest.mark.parametrize("item", [{"question": "x", "expected": "y"}, {}, {"input": 7}])
def test_an_item_with_columns_of_its_own_asks_for_a_mapping(item: dict[str, Any]) -> None:
    read = read_one({"item": item})
    assert read.task is None
    (note,) = [note for note in read.notes if note.kind == "refused"]
    assert note.code == "needs_column_mapping"
    assert all(name in note.message for name in item)


def test_what_is_ideal_stays_an_attribute() -> None:
    assert task_of({"input": "x", "ideal": ["a", "b"]}).attributes == {"ideal": ["a", "b"]}


@pytest.mark.parametrize(
    ("prompt", "completion", "texts"),
    [
        ("Capital of Chad?\n\n###\n\n", " N'Djamena END", ("Capital of Chad?", "N'Djamena")),
        ("x ->", " y\n###", ("x", "y")),
        ("no marks", " kept as it is", ("no marks", " kept as it is")),
        ("The WEEKEND", "is the END", ("The WEEKEND", "is the")),
        ("in the", "BACKEND", ("in the", "BACKEND")),
        ("###", "x", ("###", "x")),
    ],
)
def test_marks_of_old_fine_tuning_are_taken_off_and_kept(
    prompt: str, completion: str, texts: tuple[str, str]
) -> None:
    row = {"prompt": prompt, "completion": completion}
    asked, answered = task_of(row).messages
    assert (asked.text, answered.text) == texts
    details = [asked.detail or {}, answered.detail or {}]
    rebuilt = (
        asked.text + details[0].get("separator", ""),
        details[1].get("leading", "") + answered.text + details[1].get("stop", ""),
    )
    assert rebuilt == (prompt, completion)
    assert ("stop_markers" in codes(row)) == (rebuilt != texts)


# --------------------------------------------------------------------- Responses and traces
def test_neighbouring_items_of_a_response_are_one_message() -> None:
    row = {"object": "response", "output": [THOUGHT, MESSAGE, MESSAGE, CALL]}
    (message,) = task_of(row).messages
    assert [block.type for block in message.blocks] == ["reasoning", "text", "text", "tool_call"]
    assert message.blocks[0].detail == {"id": "rs_1", "encrypted_content": "sealed"}
    assert "opaque_reasoning" in codes(row)


def test_two_messages_of_a_trace_are_two_turns() -> None:
    row = {"items": [ASKED, MESSAGE, THOUGHT, MESSAGE]}
    assert read_one(row).roles == "uaa"
    last = task_of(row).messages[2]
    assert [type(block) for block in last.blocks] == [ReasoningBlock, TextBlock]


def test_items_and_parts_without_a_block_are_kept_in_detail() -> None:
    search = {"type": "web_search_call", "id": "ws_1"}
    file = {"type": "input_file", "file_id": "f"}
    image = {"type": "input_image", "image_url": "https://x.invalid/a.png"}
    asked = {**ASKED, "content": [file, image]}
    row = {"items": [asked, search, MESSAGE]}
    user, assistant = task_of(row).messages
    assert (user.blocks, user.detail) == ((), {"unread_parts": [file, image]})
    assert assistant.detail == {"unread_parts": [search]}
    assert {"unsupported_block", "remote_image"} <= codes(row)


def test_ids_that_a_trace_lacks_are_made() -> None:
    call = {"type": "function_call", "name": "f", "arguments": {"n": 1}}
    row = {"items": [ASKED, call, {"type": "function_call_output", "output": {"x": 1}}]}
    _, asked, answered = task_of(row).messages
    assert asked.blocks == (ToolCallBlock(id="call_0", name="f", input={"n": 1}),)
    result = ToolResultBlock(tool_call_id="call_0", blocks=(TextBlock(text='{"x": 1}'),))
    assert answered.blocks == (result,)
    assert "ids_invented" in codes(row)


def test_the_place_of_a_fault_is_the_items_place_in_the_file() -> None:
    row = {"items": [ASKED, MESSAGE, ASKED, {**CALL, "arguments": "{broken"}]}
    (note,) = [note for note in read_one(row).notes if note.kind == "refused"]
    assert (note.place, note.code) == ("items[3]", "bad_arguments")
    row = {"items": [ASKED, {**MESSAGE, "role": "critic"}, CALL]}
    read = read_one(row)
    assert read.roles == "u?a"
    assert "unknown_role" in codes(row)


def test_the_metadata_of_a_trace_give_key_and_tags() -> None:
    metadata = {"trace_id": "tr1", "source_type": "latticeflow", "tags": ["demo"]}
    content = task_of({"items": [ASKED], "metadata": metadata, "events": None})
    assert (content.key, content.tags) == ("tr1", ("demo",))
    assert content.attributes == {"metadata": metadata}


# ------------------------------------------------------------------------ Anthropic and Google
def test_blocks_of_anthropic_are_read_in_their_order() -> None:
    row = {
        "messages": [
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "t", "signature": "s"},
                {"type": "redacted_thinking", "data": "sealed"},
                {"type": "tool_use", "id": "c", "name": "f", "input": {"n": 1}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c", "is_error": True, "content": [
                    {"type": "text", "text": "r"}, {"type": "search_result", "title": "x"}]},
                {"type": "text", "text": "and?"},
                {"type": "document", "source": {"type": "url", "url": "https://x.invalid"}}]},
        ]
    }  # fmt: skip
    assistant, user = task_of(row).messages
    assert assistant.blocks == (
        ReasoningBlock(text="t", signature="s"),
        ReasoningBlock(text="", detail={"redacted_data": "sealed"}),
        ToolCallBlock(id="c", name="f", input={"n": 1}),
    )
    result, text = user.blocks
    assert isinstance(result, ToolResultBlock)
    assert result.is_error
    assert result.detail == {"unread_parts": [{"type": "search_result", "title": "x"}]}
    assert text == TextBlock(text="and?")
    assert user.detail is not None
    assert [part["type"] for part in user.detail["unread_parts"]] == ["document"]
    assert codes(row) >= {"opaque_reasoning", "unsupported_block"}


def test_a_remote_image_of_anthropic_is_listed_not_fetched() -> None:
    part = {"type": "image", "source": {"type": "url", "url": "https://x.invalid/a.png"}}
    row = {"messages": [{"role": "user", "content": [part]}]}
    (message,) = task_of(row).messages
    assert (message.blocks, message.detail) == ((), {"unread_parts": [part]})
    assert "remote_image" in codes(row)


def test_an_unknown_role_of_anthropic_is_refused_with_all_letters() -> None:
    row = {"system": "s", "messages": [HI, {"role": "critic", "content": [
        {"type": "thinking", "thinking": "x"}]}]}  # fmt: skip
    assert read_one(row).roles == "u?"
    assert "unknown_role" in codes(row)


def test_calls_of_gemini_get_ids_and_results_the_id_of_their_name() -> None:
    row = {
        "systemInstruction": {"parts": [{"text": "s"}]},
        "contents": [
            {"role": "model", "parts": [
                {"text": "t", "thought": True},
                {"functionCall": {"name": "f", "args": {}}},
                {"function_call": {"name": "g", "args": None}}]},
            {"role": "function", "parts": [
                {"functionResponse": {"name": "g", "response": {"error": "no"}}},
                {"functionResponse": {"name": "f", "response": {"x": 1}}}]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "h", "response": {"output": "r"}}}]},
        ],
    }  # fmt: skip
    _, asked, answered, orphan = task_of(row).messages
    assert asked.blocks == (
        ReasoningBlock(text="t"),
        ToolCallBlock(id="call_0", name="f", input={}),
        ToolCallBlock(id="call_1", name="g", input={}),
    )
    assert answered.blocks == (
        ToolResultBlock(tool_call_id="call_1", blocks=(TextBlock(text="no"),), is_error=True),
        ToolResultBlock(tool_call_id="call_0", blocks=(TextBlock(text='{"x": 1}'),)),
    )
    assert orphan.blocks[0].tool_call_id == "call_2"  # type: ignore[union-attr]
    assert "ids_invented" in codes(row)


def test_what_gemini_says_beside_calls_and_images_is_kept() -> None:
    read = read_one({"contents": [
        {"role": "user", "parts": [
            {"inlineData": {"mimeType": "image/png", "data": "UE5H", "displayName": "a.png"}}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}, "more": 1}}]},
        {"role": "user", "parts": [{"functionResponse": {
            "name": "f", "response": {"output": "x"}, "willContinue": False}}]},
    ]})  # fmt: skip
    assert read.task is not None, read.notes
    details = [message.blocks[0].detail for message in read.task.messages]
    assert details == [{"displayName": "a.png"}, {"more": 1}, {"willContinue": False}]


def test_ids_of_items_and_a_status_that_is_not_complete_are_told() -> None:
    items = [{**ASKED, "id": ""}, {**MESSAGE, "id": "m1", "status": "incomplete"}]
    (note,) = [each for each in read_one({"items": items}).notes if each.code == "item_ids"]
    assert note.kind == "dropped"
    assert "the ids of 1 items and the status incomplete" in note.message
    plain = {key: value for key, value in MESSAGE.items() if key != "id"}
    assert "item_ids" not in {note.code for note in read_one({"items": [ASKED, plain]}).notes}


def test_parts_of_gemini_without_a_block_are_kept() -> None:
    file = {"fileData": {"fileUri": "gs://x/a.png"}}
    code = {"executableCode": {"code": "1"}}
    row = {"contents": [{"role": "user", "parts": [{"text": "x"}, file, code]}]}
    (message,) = task_of(row).messages
    assert message.detail == {"unread_parts": [file, code]}
    assert {"remote_image", "unsupported_block"} <= codes(row)


def test_a_logged_answer_of_gemini_ends_the_conversation() -> None:
    row = {
        "contents": [{"parts": [{"text": "Q"}]}],
        "candidates": [{"content": {"role": "model", "parts": [{"text": "A"}]}}],
    }
    assert said(task_of(row).messages) == [("user", "Q"), ("assistant", "A")]
    assert task_of(row).attributes == {}


def test_two_columns_of_turns_ask_which_is_the_conversation() -> None:
    row = {"before": [HI], "after": [HELLO]}
    assert read_one(row).task is None
    assert "needs_column_mapping" in codes(row)


# --------------------------------------------------------------------------------- canonical
def test_candidates_of_a_canonical_task_are_read() -> None:
    answer = {"role": "assistant", "blocks": [{"type": "text", "text": "A"}]}
    asked = {"role": "user", "blocks": [{"type": "text", "text": "Q"}]}
    row = {
        "conversation": [asked],
        "candidates": [{"messages": [answer], "verdict": "chosen", "model": "m"}],
    }
    (candidate,) = task_of(row).candidates
    assert (candidate.verdict, candidate.model) == ("chosen", "m")
    assert task_of({"conversation": [asked], "candidates": 3}).attributes == {"candidates": 3}


def test_the_canonical_format_has_two_names() -> None:
    row = {"conversation": [{"role": "user", "blocks": []}]}
    assert read_one(row, format="canonical").format == "openreward"
    assert read_one(row, format="openreward").format == "openreward"


def test_a_question_of_mt_bench_without_turns_is_empty() -> None:
    read = read_one({"question_id": 1, "category": "c", "turns": []})
    assert (read.task, read.notes[-1].code) == (None, "empty_conversation")
