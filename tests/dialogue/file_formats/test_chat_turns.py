"""Lists of turns as files have them: read whole, or with what could not be read kept and noted."""

from typing import Any

import pytest
from hypothesis import given

from apps.dialogue.blocks import (
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, role_letters
from apps.dialogue.file_formats.turns import read_turns
from apps.dialogue.message import Message
from apps.dialogue.provider_formats import convert, import_openai
from tests.dialogue.conversations import plain_conversations

PNG = "data:image/png;base64,UE5H"


def codes(notes: list[Note]) -> list[tuple[str, str]]:
    return [(note.code, note.place) for note in notes if note.code]


def read(turns: Any) -> tuple[tuple[Message, ...], list[tuple[str, str]]]:
    notes: list[Note] = []
    messages = read_turns(turns, notes)
    return messages, codes(notes)


def call(name: str = "f", arguments: Any = "{}", **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "arguments": arguments}, **more}


@given(plain_conversations())
def test_what_the_strict_reader_takes_is_read_the_same(messages: tuple[Message, ...]) -> None:
    turns = convert(messages, "openai")
    assert read(turns) == (import_openai(turns), [])


@pytest.mark.parametrize(
    ("role", "became", "code"),
    [
        ("user", "u", None),
        (" User ", "u", "unusual_role"),
        ("HUMAN", "u", "unusual_role"),
        ("prompter", "u", "unusual_role"),
        ("model", "a", "unusual_role"),
        ("Bot", "a", "unusual_role"),
        ("chatgpt", "a", "unusual_role"),
        ("ipython", "t", "unusual_role"),
        ("tool-response", "t", "unusual_role"),
        ("developer", "s", "developer_role"),
    ],
)
def test_words_for_roles_are_known_and_noted(role: str, became: str, code: str | None) -> None:
    messages, noted = read([{"role": role, "content": "x"}])
    assert role_letters(messages) == became
    wanted = [] if code is None else [(code, "messages[0].role")]
    assert [each for each in noted if each[0] != "ids_invented"] == wanted


def test_the_role_developer_is_kept() -> None:
    (message,), _ = read([{"role": "developer", "content": "x"}])
    assert (message.role, message.detail) == ("system", {"role": "developer"})


@pytest.mark.parametrize("role", ["critic", "", None, 7, ["user"], {"a": 1}])
def test_an_unknown_role_is_refused_with_the_letters_of_all_turns(role: Any) -> None:
    turns = [{"role": "user", "content": "x"}, {"role": role}, {"role": "assistant"}]
    with pytest.raises(ImportRefused) as caught:
        read(turns)
    assert (caught.value.place, caught.value.code) == ("messages[1]", "unknown_role")
    assert caught.value.roles == "u?a"


@pytest.mark.parametrize(
    ("turns", "place", "code"),
    [
        (None, "messages", "empty_conversation"),
        ([], "messages", "empty_conversation"),
        (7, "messages", "bad_row"),
        ("text", "messages", "bad_row"),
        ("[broken", "messages", "bad_json"),
        ([None], "messages[0]", "bad_turn"),
        (["x"], "messages[0]", "bad_turn"),
        ([{"role": "assistant", "tool_calls": ["x"]}], "messages[0].tool_calls[0]", "bad_call"),
        ([{"role": "assistant", "tool_calls": [{}]}], "messages[0].tool_calls[0]", "bad_call"),
        ([{"role": "assistant", "tool_calls": 7}], "messages[0].tool_calls", "bad_call"),
        (
            [{"role": "assistant", "tool_calls": [call(arguments="{broken")]}],
            "messages[0].tool_calls[0]",
            "bad_arguments",
        ),
    ],
)
def test_what_cannot_be_a_conversation_is_refused(turns: Any, place: str, code: str) -> None:
    with pytest.raises(ImportRefused) as caught:
        read(turns)
    assert (caught.value.place, caught.value.code) == (place, code)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (42, "42"),
        (True, "true"),
        (1.5, "1.5"),
        (["bare"], "bare"),
        ({"text": "of an object"}, "of an object"),
        ({"type": "text", "text": "of a part"}, "of a part"),
        ({"parts": ["of parts"], "content_type": "text"}, "of parts"),
        ({"place": "gate"}, '{"place": "gate"}'),
        ([7], "7"),
        ([{"type": "text", "text": 7}], "7"),
        ([None, "x"], "x"),
    ],
)
def test_contents_that_are_no_text_become_one_with_a_note(content: Any, text: str) -> None:
    (message,), noted = read([{"role": "user", "content": content}])
    assert message.text == text
    assert "content_coerced" in [code for code, _ in noted]


@pytest.mark.parametrize("turn", [{"role": "user"}, {"role": "user", "content": []}])
def test_a_turn_without_content_stays_as_a_draft(turn: dict[str, Any]) -> None:
    (message,), _ = read([turn])
    assert message.blocks == ()


def test_an_empty_text_stays_an_empty_text() -> None:
    (message,), _ = read([{"role": "user", "content": ""}])
    assert message.blocks == (TextBlock(text=""),)


@pytest.mark.parametrize(
    ("part", "code"),
    [
        ({"type": "image_url", "image_url": {"url": "https://x.invalid/a.png"}}, "remote_image"),
        ({"type": "image_url", "image_url": "file:///a.png"}, "remote_image"),
        ({"type": "image", "image": "pics/1.png"}, "remote_image"),
        ({"type": "input_audio", "input_audio": {"data": "AA=="}}, "unsupported_block"),
        ({"type": "file", "file": {"file_id": "f"}}, "unsupported_block"),
        ({"type": ["odd"]}, "unsupported_block"),
        ({"x": 1}, "unsupported_block"),
    ],
)
def test_a_part_without_a_block_is_kept_in_detail(part: dict[str, Any], code: str) -> None:
    turns = [{"role": "user", "content": [{"type": "text", "text": "see"}, part]}]
    (message,), noted = read(turns)
    assert message.text == "see"
    assert message.detail == {"unread_parts": [part]}
    assert noted == [(code, "messages[0].content[1]")]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": PNG}},
        {"type": "image_url", "image_url": PNG},
        {"type": "input_image", "image_url": PNG},
        {"type": "image_url", "value": PNG},
        {"type": "image", "image": PNG},
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "UE5H"},
        },
    ],
)
def test_an_image_whose_data_is_there_is_a_block(part: dict[str, Any]) -> None:
    (message,), noted = read([{"role": "user", "content": [part]}])
    assert message.blocks == (ImageBlock(data="UE5H", mimeType="image/png"),)
    assert noted == []


def test_how_closely_to_look_at_an_image_is_kept_and_what_its_part_says_beside() -> None:
    part = {"type": "image_url", "image_url": {"url": PNG, "detail": "low", "note": 1}, "more": 2}
    (message,), _ = read([{"role": "user", "content": [part]}])
    assert message.blocks[0].detail == {"detail": "low", "note": 1, "more": 2}
    refusal = {"type": "refusal", "refusal": "no", "more": 2}
    (message,), _ = read([{"role": "assistant", "content": [refusal]}])
    assert message.blocks[0].detail == {"refusal": True, "more": 2}


def test_an_image_in_a_tools_result_is_kept_and_noted() -> None:
    turns = [
        {"role": "assistant", "tool_calls": [call(id="c")]},
        {"role": "tool", "tool_call_id": "c", "content": [{"type": "image_url", "image_url": PNG}]},
    ]
    messages, noted = read(turns)
    result = messages[1].blocks[0]
    assert isinstance(result, ToolResultBlock)
    assert result.blocks[0].type == "image"
    assert noted == [("image_in_tool_result", "messages[1].content[0]")]


def test_what_training_adds_to_a_turn_is_kept_in_detail() -> None:
    extras = {"weight": 0, "name": "ann", "train": False, "loss_weight": 0.5}
    part = {"type": "text", "text": "x", "train": True}
    (message,), _ = read([{"role": "user", "content": [part], **extras, "tool_calls": None}])
    assert message.detail == extras
    assert message.blocks[0].detail == {"train": True}


def test_reasoning_beside_and_inside_the_content_becomes_blocks() -> None:
    turns = [
        {"role": "assistant", "reasoning_content": "a", "reasoning": "a", "content": ""},
        {"role": "assistant", "content": [{"type": "reasoning", "value": "b"}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "c", "signature": "s"}]},
    ]
    messages, _ = read(turns)
    assert [message.blocks for message in messages] == [
        (ReasoningBlock(text="a"),),
        (ReasoningBlock(text="b"),),
        (ReasoningBlock(text="c", signature="s"),),
    ]


# ------------------------------------------------------------------------------- calls and ids
def test_a_function_call_of_old_and_its_result_share_an_id() -> None:
    turns = [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "x"},
    ]
    messages, noted = read(turns)
    assert messages[0].blocks == (ToolCallBlock(id="call_0", name="f", input={}),)
    assert messages[1].blocks == (
        ToolResultBlock(tool_call_id="call_0", blocks=(TextBlock(text="x"),)),
    )
    assert noted == [("legacy_function_call", "messages[0].function_call")]


@pytest.mark.parametrize(
    ("given", "input_", "code"),
    [
        (call(id="c", arguments='{"a": 1}'), {"a": 1}, None),
        (call(id="c", arguments={"a": None}), {"a": None}, None),
        ({"id": "c", "name": "f", "arguments": '{"a": 1}'}, {"a": 1}, "flat_tool_calls"),
        ({"id": "c", "function": "f", "arguments": {"a": 1}}, {"a": 1}, "flat_tool_calls"),
        (call(id="c", arguments='{}{"a": 1}'), {"a": 1}, "concatenated_arguments"),
        (call(id="c", arguments='"{\\"a\\": 1}"'), {"a": 1}, "double_encoded"),
        (call(id="c", arguments=" "), {}, None),
        (call(arguments={"a": 1}), {"a": 1}, "ids_invented"),
    ],
)
def test_calls_are_read_in_every_shape(given: Any, input_: dict[str, Any], code: str) -> None:
    (message,), noted = read([{"role": "assistant", "tool_calls": [given]}])
    (block,) = message.blocks
    assert isinstance(block, ToolCallBlock)
    assert (block.name, block.input) == ("f", input_)
    assert [each for each, _ in noted] == ([code] if code else [])


def test_the_whole_text_of_concatenated_arguments_is_kept() -> None:
    given = call(id="c", arguments='{"a": 1}{"b": 2}')
    (message,), _ = read([{"role": "assistant", "tool_calls": [given]}])
    (block,) = message.blocks
    assert block.detail == {"arguments": '{"a": 1}{"b": 2}'}


def test_nulls_in_arguments_go_only_where_the_row_is_filled_with_nulls() -> None:
    plain = {"role": "assistant", "tool_calls": [call(id="c", arguments={"a": 1, "b": None})]}
    filled = {**plain, "name": None, "tool_call_id": None}
    (message,), noted = read([plain])
    assert message.blocks[0].input == {"a": 1, "b": None}  # type: ignore[union-attr]
    (message,), noted = read([filled])
    assert message.blocks[0].input == {"a": 1}  # type: ignore[union-attr]
    assert noted == [("null_filled_arguments", "messages[0].tool_calls[0].arguments")]


def test_results_without_ids_answer_the_calls_that_wait() -> None:
    turns = [
        {"role": "assistant", "tool_calls": [call("f", id="a"), call("g", id="b")]},
        {"role": "tool", "name": "g", "content": "of g"},
        {"role": "tool", "content": "of f"},
    ]
    messages, noted = read(turns)
    answered = [(b.tool_call_id, b.blocks[0].text) for b in messages[1].blocks]  # type: ignore[union-attr]
    assert answered == [("b", "of g"), ("a", "of f")]
    assert noted == [("ids_invented", "messages[1]"), ("ids_invented", "messages[2]")]


def test_a_result_that_answers_nothing_stays_and_its_id_is_new() -> None:
    turns = [
        {"role": "assistant", "tool_calls": [call(id="call_0")]},
        {"role": "tool", "tool_call_id": "call_0", "content": "x"},
        {"role": "tool", "content": "y"},
    ]
    messages, noted = read(turns)
    assert [block.tool_call_id for block in messages[1].blocks] == ["call_0", "call_1"]  # type: ignore[union-attr]
    assert noted == [("ids_invented", "messages[2]")]


def test_a_call_of_an_unknown_type_is_kept_in_detail() -> None:
    custom = {"id": "c", "type": "custom", "custom": {"name": "f", "input": "x"}}
    (message,), noted = read([{"role": "assistant", "tool_calls": [custom]}])
    assert message.detail == {"unread_parts": [custom]}
    assert noted == [("unsupported_block", "messages[0].tool_calls[0]")]


def test_parts_of_llama_factory_hold_calls_and_results_without_ids() -> None:
    value = '{"name": "f", "arguments": {"a": 1}}'
    turns = [
        {"role": "user", "content": [{"type": "text", "value": "q"}]},
        {"role": "assistant", "content": [{"type": "tool_call", "value": value}]},
        {"role": "tool", "content": [{"type": "text", "value": "r"}]},
    ]
    messages, noted = read(turns)
    assert messages[1].blocks == (ToolCallBlock(id="call_0", name="f", input={"a": 1}),)
    assert messages[2].blocks == (
        ToolResultBlock(tool_call_id="call_0", blocks=(TextBlock(text="r"),)),
    )
    assert ("ids_invented", "messages[1].content[0]") in noted


# ----------------------------------------------------------------------------- styles of turns
def test_turns_with_from_and_value_are_read_too() -> None:
    turns = [
        {"from": "human", "value": "q"},
        {"from": "function_call", "value": '[{"name": "f", "arguments": {}}]'},
        {"from": "observation", "value": "r"},
        {"from": "gpt", "value": "a"},
    ]
    messages, noted = read(turns)
    assert role_letters(messages) == "uata"
    assert {code for code, _ in noted} == {"ids_invented"}


def test_both_styles_in_one_list_are_noted() -> None:
    messages, noted = read([{"from": "human", "value": "a"}, {"role": "assistant", "content": "b"}])
    assert [message.text for message in messages] == ["a", "b"]
    assert noted == [("mixed_role_styles", "messages")]


def test_a_turn_of_a_call_that_holds_none_stays_a_text() -> None:
    (message,), noted = read([{"from": "function_call", "value": "calling it"}])
    assert message.blocks == (TextBlock(text="calling it"),)
    assert noted == [("unreadable_call", "messages[0].value")]


def test_a_list_written_as_a_text_is_read() -> None:
    (message,), noted = read('[{"role": "user", "content": "x"}]')
    assert message.text == "x"
    assert noted == [("stringified_json", "messages")]


def test_a_result_says_that_it_is_an_error() -> None:
    turns = [
        {"role": "assistant", "tool_calls": [call(id="c")]},
        {"role": "tool", "tool_call_id": "c", "content": "x", "is_error": True},
    ]
    messages, _ = read(turns)
    assert messages[1].blocks[0].is_error  # type: ignore[union-attr]
