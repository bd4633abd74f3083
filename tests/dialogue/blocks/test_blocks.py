"""A block checks itself, and stores and restores itself as the wire has it."""

from typing import Any, get_args

import pytest
from openreward.environments.types import SUPPORTED_MESSAGE_BLOCK_TYPES
from pydantic import TypeAdapter, ValidationError

from apps.dialogue.blocks import (
    BLOCK_MODELS,
    BLOCK_TYPES,
    Block,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)

SPECIMENS: dict[str, dict[str, Any]] = {
    "text": {"text": "hi", "detail": {"lang": "en"}, "type": "text"},
    "image": {"data": "UE5H", "mimeType": "image/png", "detail": None, "type": "image"},
    "reasoning": {"text": "r", "signature": "s", "detail": None, "type": "reasoning"},
    "tool_call": {
        "id": "a", "name": "f", "input": {"z": 1, "a": [None, True, 1.0]}, "detail": {"k": 1},
        "type": "tool_call",
    },
    "tool_result": {
        "tool_call_id": "a",
        "blocks": [{"text": "x", "detail": None, "type": "text"}],
        "is_error": True,
        "detail": None,
        "type": "tool_result",
    },
}  # fmt: skip


def test_every_block_type_is_listed_once_and_in_the_order_that_is_advertised() -> None:
    assert list(BLOCK_TYPES) == SUPPORTED_MESSAGE_BLOCK_TYPES
    members = get_args(get_args(Block)[0])
    assert tuple(BLOCK_MODELS.values()) == members
    assert set(SPECIMENS) == set(BLOCK_TYPES)


@pytest.mark.parametrize("name", BLOCK_TYPES)
def test_a_block_reads_what_it_writes_key_order_included(name: str) -> None:
    wire = SPECIMENS[name]
    block = BLOCK_MODELS[name].model_validate(wire)
    assert block.to_wire() == wire
    assert list(block.to_wire()) == list(wire)


@pytest.mark.parametrize("name", BLOCK_TYPES)
def test_a_block_refuses_keys_that_are_not_its_own(name: str) -> None:
    with pytest.raises(ValidationError):
        BLOCK_MODELS[name].model_validate({**SPECIMENS[name], "cache_control": {}})


@pytest.mark.parametrize("name", BLOCK_TYPES)
def test_a_block_is_frozen(name: str) -> None:
    block = BLOCK_MODELS[name].model_validate(SPECIMENS[name])
    with pytest.raises(ValidationError):
        block.detail = {"changed": True}


def test_what_a_block_hands_out_is_not_its_own() -> None:
    call = ToolCallBlock(id="a", name="f", input={"list": [1]}, detail={"d": [1]})
    wire = call.to_wire()
    wire["input"]["list"].append(2)
    wire["detail"]["d"].append(2)
    assert call.input == {"list": [1]}
    assert call.detail == {"d": [1]}


def test_what_a_block_was_made_from_is_not_its_own() -> None:
    given = {"list": [1]}
    call = ToolCallBlock(id="a", name="f", input=given)
    given["list"].append(2)
    assert call.input == {"list": [1]}


@pytest.mark.parametrize(
    "make",
    [
        lambda: TextBlock(text="a\x00b"),
        lambda: TextBlock(text="\ud800"),
        lambda: TextBlock.model_validate({"type": "text", "text": b"bytes"}),
        lambda: ImageBlock(data="DATA:image/png;base64,UE5H", mimeType="image/png"),
        lambda: ToolCallBlock(id="", name="f", input={}),
        lambda: ToolCallBlock(id="a", name="", input={}),
        lambda: ToolResultBlock(tool_call_id="", blocks=()),
        lambda: ToolResultBlock.model_validate(
            {"type": "tool_result", "tool_call_id": "a", "blocks": [], "is_error": 1}
        ),
        lambda: ReasoningBlock(text="r", signature="\x00"),
        lambda: ReasoningBlock(text="r", detail={"x": float("nan")}),
    ],
)
def test_nothing_that_cannot_be_stored_is_taken_or_coerced(make: Any) -> None:
    with pytest.raises(ValidationError):
        make()


def test_the_schema_of_blocks_follows_from_the_list() -> None:
    schema = TypeAdapter(Block).json_schema()
    assert set(schema["discriminator"]["mapping"]) == set(BLOCK_TYPES)
    assert schema["$defs"]["ToolCallBlock"]["properties"]["input"]["type"] == "object"
