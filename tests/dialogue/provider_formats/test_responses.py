"""Items of the Responses API and of traces: rules R1 to R10, both ways."""

import copy
import json
from typing import Any

import pytest

from apps.dialogue.errors import DialogueError
from apps.dialogue.message import Message, conversation_to_wire
from apps.dialogue.provider_formats import from_responses, to_responses

QUESTION = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "q"}]}
PNG = "data:image/png;base64,UE5H"


def replayed(*items: dict[str, Any]) -> list[dict[str, Any]]:
    given = list(items)
    kept = copy.deepcopy(given)
    written = to_responses(from_responses(given))
    assert given == kept
    return written


def message(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": text, **more}


def kinds(messages: tuple[Message, ...]) -> list[tuple[str, list[str]]]:
    return [(each.role, [block.type for block in each.blocks]) for each in messages]


def test_what_only_these_items_know_comes_back() -> None:
    items = [
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "d"}]},
        {"type": "message", "role": "user", "content": [
            {"type": "input_image", "image_url": PNG, "detail": "high"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
        message("Looking.", phase="commentary"),
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": '{"x": 1}'},
        {"type": "function_call_output", "call_id": "a", "output": [
            {"type": "input_text", "text": "t"},
            {"type": "input_image", "image_url": PNG, "detail": "auto"}]},
        {"type": "message", "role": "assistant", "phase": "final_answer", "content": [
            {"type": "output_text", "text": "Part.", "annotations": []},
            {"type": "refusal", "refusal": "No more."}]},
    ]  # fmt: skip
    assert replayed(*items) == items


def test_a_reasoning_id_without_encrypted_content_is_not_replayed() -> None:
    reasoning = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "s"}],
    }
    assert replayed(reasoning) == [{"type": "reasoning", "summary": reasoning["summary"]}]
    assert from_responses([reasoning])[0].blocks[0].detail == {"id": "rs_1"}


def test_all_parts_of_reasoning_come_back_and_the_content_is_the_text() -> None:
    reasoning = {
        "type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA",
        "summary": [{"type": "summary_text", "text": text} for text in ("one", "two")],
        "content": [{"type": "reasoning_text", "text": "full"}],
    }  # fmt: skip
    assert replayed(reasoning) == [reasoning]
    assert from_responses([reasoning])[0].blocks[0].to_wire()["text"] == "full"
    no_content = {key: value for key, value in reasoning.items() if key != "content"}
    assert replayed(no_content) == [no_content]
    block = from_responses([no_content])[0].blocks[0]
    assert block.to_wire()["text"] == "one\n\ntwo"
    assert block.to_wire()["signature"] is None


def test_reasoning_that_was_edited_is_written_as_edited() -> None:
    summary = [{"type": "summary_text", "text": text} for text in ("one", "two")]
    (wire,) = conversation_to_wire(from_responses([{"type": "reasoning", "summary": summary}]))
    wire["blocks"][0]["text"] = "three"
    (item,) = to_responses([wire])
    assert item == {"type": "reasoning", "summary": [{"type": "summary_text", "text": "three"}]}


def test_neighbouring_messages_stay_the_items_they_were() -> None:
    items = [message("a"), message("b"), message("c", phase="x"), message("d", phase="x")]
    assert replayed(*items) == items
    assert kinds(from_responses(items)) == [("assistant", ["text"] * 4)]


def test_blocks_go_out_in_their_order_and_neighbouring_texts_as_one_item() -> None:
    def text(value: str) -> dict[str, Any]:
        return {"type": "text", "text": value}

    call = {"type": "tool_call", "id": "a", "name": "f", "input": {}}
    thought = {"type": "reasoning", "text": "hm"}
    blocks = [text("1"), text("2"), thought, text("3"), call, text("4")]
    items = to_responses([{"role": "assistant", "blocks": blocks}])
    assert [each["type"] for each in items] == [
        "message", "reasoning", "message", "function_call", "message"
    ]  # fmt: skip
    assert [part["text"] for part in items[0]["content"]] == ["1", "2"]
    assert items[2]["content"] == "3"
    assert all("id" not in each for each in items)


@pytest.mark.parametrize(
    ("blocks", "error", "output"),
    [
        ([], False, ""),
        ([], True, "[tool_result (error)]"),
        (["x"], False, "x"),
        (["x"], True, "[tool_result (error)]\nx"),
        ([""], True, "[tool_result (error)]"),
        (["x", "y"], False, ["x", "y"]),
        (["x", "y"], True, ["[tool_result (error)]", "x", "y"]),
    ],
)
def test_an_output_is_a_text_for_one_text_and_a_list_for_more(
    blocks: list[str], error: bool, output: Any
) -> None:
    call = {"type": "tool_call", "id": "a", "name": "f", "input": {}}
    answer = {
        "type": "tool_result", "tool_call_id": "a", "is_error": error,
        "blocks": [{"type": "text", "text": each} for each in blocks],
    }  # fmt: skip
    messages = [{"role": "assistant", "blocks": [call]}, {"role": "user", "blocks": [answer]}]
    written = to_responses(messages)[1]["output"]
    assert (written if isinstance(written, str) else [each["text"] for each in written]) == output


def test_outputs_are_one_user_message_and_what_the_user_says_another() -> None:
    items = [
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": ""},
        {"type": "function_call", "call_id": "b", "name": "f", "arguments": None},
        {"type": "function_call_output", "call_id": "b", "output": ""},
        {"type": "function_call_output", "call_id": "a", "output": []},
        QUESTION,
        QUESTION,
    ]
    read = from_responses(items)
    assert kinds(read) == [
        ("assistant", ["tool_call"] * 2), ("user", ["tool_result"] * 2), ("user", ["text"]),
        ("user", ["text"]),
    ]  # fmt: skip
    assert [block.to_wire()["blocks"] for block in read[1].blocks] == [[], []]


def test_items_without_their_type_are_told_by_their_fields() -> None:
    items = [
        {"role": "user", "content": [{"text": "q"}, {"image_url": PNG}]},
        {"id": "", "summary": [{"text": "hm"}]},
        {"role": "assistant", "content": [{"text": "a", "annotations": []}, {"refusal": "no"}]},
        {"id": "", "call_id": "a", "name": "f", "arguments": "{}"},
        {"call_id": "a", "output": "x"},
    ]
    assert kinds(from_responses(items)) == [
        ("user", ["text", "image"]),
        ("assistant", ["reasoning", "text", "text", "tool_call"]),
        ("user", ["tool_result"]),
    ]


def test_everything_written_carries_its_type() -> None:
    items = replayed({"role": "user", "content": "q"}, {"role": "assistant", "content": "a"})
    assert items == [QUESTION, message("a")]


def test_a_status_other_than_completed_and_unknown_keys_are_kept() -> None:
    cut = message("Hal", status="incomplete")
    assert replayed(cut) == [cut]
    call = {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}", "agent": "x"}
    (read,) = from_responses([call])
    assert read.blocks[0].detail == {"agent": "x"}


@pytest.mark.parametrize(
    ("item", "named"),
    [
        ({"type": "item_reference", "id": "rs_1"}, "item_reference"),
        ({"type": "web_search_call", "id": "ws"}, "web_search_call"),
        ({"type": "custom_tool_call", "call_id": "a"}, "custom_tool_call"),
        ({"id": "x"}, "type"),
        ({"type": 5}, "5"),
        ({"type": "message", "role": "tool", "content": "x"}, "tool"),
        ({"type": "message", "role": "user", "content": []}, "no content"),
        ({"type": "message", "role": "user"}, "no content"),
        ({"type": "message", "role": "user", "content": 5}, "not a number"),
        ({"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}, "input_file"),
        ({"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}, "image"),
        ({"role": "user", "content": [{"type": "input_image", "image_url": "https://x"}]}, "image"),
        ({"type": "function_call", "call_id": "", "name": "f", "arguments": "{}"}, "id"),
        ({"type": "function_call", "call_id": "a", "arguments": "{}"}, "name"),
        ({"type": "function_call", "call_id": "a", "name": "f", "arguments": "[]"}, "object"),
        ({"type": "function_call_output", "call_id": "a"}, "output"),
        ({"type": "function_call_output", "call_id": "a", "output": {"x": 1}}, "not an object"),
        ({"type": "function_call_output", "output": "x"}, "tool_call_id"),
        ({"type": "reasoning", "summary": "x"}, "summary"),
        ({"type": "reasoning", "summary": [{"type": "summary_text"}]}, "must be a text"),
        ("text", "must be an object"),
        (None, "must be an object"),
    ],
)
def test_an_item_that_cannot_be_read_is_refused_by_name(item: Any, named: str) -> None:
    with pytest.raises(DialogueError) as refused:
        from_responses([QUESTION, item])
    assert "items[1]" in str(refused.value)
    assert named in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("items", [None, "x", {"items": []}, 5])
def test_what_is_no_list_of_items_is_refused(items: Any) -> None:
    with pytest.raises(DialogueError, match=r"^items"):
        from_responses(items)


def test_encrypted_content_stays_apart_from_signatures() -> None:
    signed = {"type": "reasoning", "text": "r", "signature": "sig"}
    assert "sig" not in json.dumps(to_responses([{"role": "assistant", "blocks": [signed]}]))
