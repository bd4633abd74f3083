"""A message is checked once, and what is wrong is one short sentence with its place (P1 to P6)."""

import json
from typing import Any

import pytest
from hypothesis import given
from openreward.environments.types import Message as ReferenceMessage
from pydantic import TypeAdapter, ValidationError

from apps.dialogue.blocks import BLOCK_TYPES, ReasoningBlock, TextBlock
from apps.dialogue.errors import InvalidMessage
from apps.dialogue.message import (
    PLACEMENT,
    Message,
    conversation_to_wire,
    make_message,
    parse_block,
    parse_conversation,
    parse_message,
    text_message,
)
from tests.dialogue.conversations import conversations

TEXT = {"type": "text", "text": "x"}


@given(conversations())
def test_reading_what_was_written_gives_the_same(messages: tuple[Message, ...]) -> None:
    assert parse_conversation(conversation_to_wire(messages)) == messages


@given(conversations())
def test_the_wire_is_byte_for_byte_what_the_reference_server_sends(
    messages: tuple[Message, ...],
) -> None:
    wire = conversation_to_wire(messages)
    reference = TypeAdapter(list[ReferenceMessage])
    served = reference.dump_json(reference.validate_python(wire))
    assert json.dumps(wire, ensure_ascii=False, separators=(",", ":")) == json.dumps(
        json.loads(served), ensure_ascii=False, separators=(",", ":")
    )


@pytest.mark.parametrize("role", PLACEMENT)
@pytest.mark.parametrize("block", BLOCK_TYPES)
def test_a_block_stands_only_where_the_reference_lets_it(role: str, block: str) -> None:
    wire = {
        "text": TEXT,
        "image": {"type": "image", "data": "UE5H", "mimeType": "image/png"},
        "reasoning": {"type": "reasoning", "text": "r"},
        "tool_call": {"type": "tool_call", "id": "a", "name": "f", "input": {}},
        "tool_result": {"type": "tool_result", "tool_call_id": "a", "blocks": []},
    }[block]
    message = {"role": role, "blocks": [TEXT, wire]}
    try:
        ReferenceMessage.model_validate(message)
        allowed = True
    except ValidationError:
        allowed = False
    assert (block in PLACEMENT[role]) is allowed
    if allowed:
        parse_message(message)
    else:
        with pytest.raises(InvalidMessage, match=rf"^blocks\[1\]: a {block} block .* {role} mess"):
            parse_message(message)


@pytest.mark.parametrize(
    ("wire", "place", "fault"),
    [
        (5, "messages[0]", "must be an object, not a number"),
        ({"role": "tool", "blocks": []}, "messages[0].role", "'tool' is not one of system, user"),
        ({"blocks": []}, "messages[0].role", "is missing"),
        ({"role": "user", "blocks": None}, "messages[0].blocks", "a list of blocks, not null"),
        ({"role": "user", "blocks": [5]}, "messages[0].blocks[0]", "must be an object"),
        ({"role": "user", "blocks": [{}]}, "messages[0].blocks[0].type", "is missing"),
        (
            {"role": "user", "blocks": [TEXT, {"type": "video"}]},
            "messages[0].blocks[1].type",
            "text, image, reasoning, tool_call or tool_result, not 'video'",
        ),
        (
            {"role": "user", "blocks": [{**TEXT, "x": 1}]},
            "messages[0].blocks[0].x",
            "is not a key of this shape",
        ),
        (
            {"role": "user", "blocks": [{**TEXT, "detail": {"a": [{"b": float("inf")}]}}]},
            "messages[0].blocks[0].detail.a[0].b",
            "is inf, which is not JSON",
        ),
        (
            {
                "role": "user",
                "blocks": [
                    {"type": "tool_result", "tool_call_id": "a", "blocks": [TEXT, {"type": "x"}]}
                ],
            },
            "messages[0].blocks[0].blocks[1].type",
            "a tool_result holds text or image, not 'x'",
        ),
    ],
)
def test_one_wrong_thing_is_one_sentence_with_its_place(
    wire: object, place: str, fault: str
) -> None:
    with pytest.raises(InvalidMessage) as refused:
        parse_conversation([wire])
    assert refused.value.place == place
    assert fault in refused.value.message
    assert str(refused.value).startswith(f"{place}: ")
    assert "\n" not in str(refused.value)


def test_a_hundred_wrong_things_are_still_one_short_sentence() -> None:
    wire = {"role": "user", "blocks": [{"type": "text", "text": 1}] * 100}
    with pytest.raises(InvalidMessage) as refused:
        parse_conversation([wire])
    assert str(refused.value).endswith("and 96 more")
    assert len(str(refused.value)) < 400


def test_a_conversation_is_a_list() -> None:
    with pytest.raises(InvalidMessage, match=r"^messages: must be a list of messages, not a text"):
        parse_conversation("hello")
    assert parse_conversation([]) == ()


def test_messages_that_are_already_read_pass_as_they_are() -> None:
    message = text_message("user", "hi")
    (same,) = parse_conversation([message])
    assert same is message
    assert parse_message(message) is message


def test_the_visible_text_is_the_text_blocks_joined() -> None:
    blocks = (TextBlock(text="a"), ReasoningBlock(text="hidden"), TextBlock(text="b"))
    assert Message(role="assistant", blocks=blocks).text == "a\nb"
    assert Message(role="user", blocks=()).text == ""


def test_a_text_message_obeys_the_rules_of_text() -> None:
    assert text_message("user", "hi").to_wire() == {
        "role": "user",
        "blocks": [{"text": "hi", "detail": None, "type": "text"}],
        "detail": None,
    }
    with pytest.raises(InvalidMessage, match="NUL"):
        text_message("user", "\x00")


def test_a_message_is_made_of_blocks_only_where_they_may_stand() -> None:
    thought = parse_block({"type": "reasoning", "text": "r"}, "items[3]")
    assert make_message("assistant", [thought]).blocks == (thought,)
    with pytest.raises(InvalidMessage, match=r"^items\[3\]\.blocks\[0\]: a reasoning block"):
        make_message("user", [thought], place="items[3]")
    with pytest.raises(InvalidMessage, match=r"^items\[3\]\.text: must be a text, not a number"):
        parse_block({"type": "text", "text": 5}, "items[3]")


def test_reading_changes_nothing_in_what_it_reads() -> None:
    wire: list[dict[str, Any]] = [
        {"role": "user", "blocks": [{"type": "text", "text": "x", "detail": {"a": [1]}}]}
    ]
    kept = json.dumps(wire)
    parse_conversation(wire)
    assert json.dumps(wire) == kept
