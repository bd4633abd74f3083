"""Rows written in the shapes of providers: what they carry, and what they say they cannot."""

from typing import Any

import pytest
from anthropic.types import ToolUnionParam
from hypothesis import given
from latticeflow.core.dtypes import Trace
from openai.types.chat import ChatCompletionToolUnionParam

from apps.dialogue.blocks import (
    Block,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from apps.dialogue.candidates import Candidate
from apps.dialogue.file_formats import FORMATS, Loss, TaskContent
from apps.dialogue.message import Message, text_message
from tests.dialogue.conversations import conversations, plain_conversations
from tests.dialogue.file_formats.reading import read_one
from tests.dialogue.provider_formats.test_sdk_types import adapter, check, drained

ASKED = text_message("user", "Q")
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
OPENAI_TOOL = {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}
ANTHROPIC_TOOL = {"name": "f", "input_schema": SCHEMA}


def task(*messages: Message, **parts: Any) -> TaskContent:
    around = {"attributes": {}, "tools": None, "tags": (), **parts}
    return TaskContent("k", messages, **around)


def written(name: str, content: TaskContent) -> tuple[dict[str, Any], list[Loss]]:
    losses: list[Loss] = []
    write = FORMATS[name].write
    assert write is not None
    (row,) = write(content, losses)
    return row, losses


def said(*blocks: Block, **more: Any) -> Message:
    return Message(role="assistant", blocks=blocks, **more)


def unsigned(message: Message) -> bool:
    return any(
        isinstance(block, ReasoningBlock)
        and not block.signature
        and (block.detail or {}).get("redacted_data") is None
        for block in message.blocks
    )


def places(losses: list[Loss]) -> list[str]:
    return [loss.place for loss in losses]


# --------------------------------------------------------------------------------- OpenAI chat
def test_weight_name_and_the_role_developer_are_written_back() -> None:
    turns = [
        {"role": "developer", "content": "s"},
        {"role": "user", "content": "Q", "name": "ann"},
        {"role": "assistant", "content": None, "refusal": "no", "weight": 0},
    ]
    content = read_one({"messages": turns, "parallel_tool_calls": False}).task
    assert content is not None
    row, losses = written("openai_chat", content)
    assert row == {"messages": turns, "parallel_tool_calls": False}
    assert losses == []


def test_how_closely_to_look_at_an_image_is_written_back() -> None:
    image = {"url": "data:image/png;base64,UE5H", "detail": "low"}
    turns = [{"role": "user", "content": [{"type": "image_url", "image_url": image}]}]
    content = read_one({"messages": turns}).task
    assert content is not None
    row, losses = written("openai_chat", content)
    assert (row, losses) == ({"messages": turns}, [])


def test_key_attributes_and_tags_stand_beside_the_messages() -> None:
    content = task(ASKED, attributes={"target": "x"}, tags=("a",), tools=[ANTHROPIC_TOOL])
    row, losses = written("openai_chat", content)
    assert row == {
        "id": "k",
        "messages": [{"role": "user", "content": "Q"}],
        "tools": [OPENAI_TOOL],
        "target": "x",
        "tags": ["a"],
    }
    assert losses == []


def test_an_attribute_with_a_name_of_the_format_is_a_loss() -> None:
    row, losses = written("openai_chat", task(ASKED, attributes={"messages": 1, "n": 2}))
    assert places(losses) == ["attributes.messages"]
    assert row["n"] == 2


def test_candidates_are_a_loss_where_a_format_has_one_answer() -> None:
    answer = Candidate((text_message("assistant", "A"),), "chosen")
    for name in ("openai_chat", "anthropic", "open_responses_trace"):
        _, losses = written(name, task(ASKED, candidates=(answer,)))
        assert places(losses) == ["candidates"]
    row, losses = written("openreward", task(ASKED, candidates=(answer,)))
    assert losses == []
    read = read_one(row).task
    assert read is not None
    assert read.candidates == (answer,)


IMAGE = ImageBlock(data="UE5H", mimeType="image/png")
CALL = ToolCallBlock(id="c", name="f", input={"n": 1})


def result(*blocks: TextBlock | ImageBlock, **more: Any) -> Message:
    return Message(role="user", blocks=(ToolResultBlock(tool_call_id="c", blocks=blocks, **more),))


@pytest.mark.parametrize(
    ("messages", "place"),
    [
        ([said(ReasoningBlock(text="t", signature="s"))], "messages[0].blocks[0]"),
        (
            [said(ReasoningBlock(text="", detail={"redacted_data": "x"}))],
            "messages[0].blocks[0]",
        ),
        ([said(IMAGE)], "messages[0].blocks[0]"),
        ([said(CALL), result(IMAGE)], "messages[1].blocks[0]"),
        ([said(CALL), result(TextBlock(text="r"), is_error=True)], "messages[1].blocks[0]"),
        ([ASKED, Message(role="user", blocks=())], "messages[1]"),
        ([said(TextBlock(text="a"), detail={"score": 1})], "messages[0].detail"),
        ([said(TextBlock(text="a", detail={"score": 1}))], "messages[0].blocks[0].detail"),
        ([said(CALL, TextBlock(text="after"))], "messages[0].blocks[0]"),
        (
            [said(ReasoningBlock(text="a"), TextBlock(text="b"), ReasoningBlock(text="c"))],
            "messages[0]",
        ),
    ],
)
def test_what_a_chat_row_cannot_carry_is_named(messages: list[Message], place: str) -> None:
    _, losses = written("openai_chat", task(*messages))
    assert places(losses)[0] == place


# ---------------------------------------------------------------------------------- Anthropic
def test_tools_of_openai_become_those_of_anthropic() -> None:
    row, losses = written("anthropic", task(ASKED, tools=[OPENAI_TOOL, ANTHROPIC_TOOL]))
    assert row["tools"] == [ANTHROPIC_TOOL, ANTHROPIC_TOOL]
    assert losses == []
    _, losses = written("anthropic", task(ASKED, tools=[{"odd": 1}]))
    assert places(losses) == ["tools[0]"]


def test_what_anthropic_refuses_or_changes_is_named() -> None:
    late = Message(role="system", blocks=(TextBlock(text="s"),))
    assert places(written("anthropic", task(ASKED, late))[1]) == ["messages[1]"]
    padded = task(ASKED, text_message("assistant", "A "))
    assert places(written("anthropic", padded)[1]) == ["messages[1].blocks[0].text"]
    signed = task(ASKED, said(ReasoningBlock(text="t", signature="s"), CALL))
    assert written("anthropic", signed)[1] == []


# -------------------------------------------------------------------------------------- traces
def test_reasoning_is_what_a_trace_cannot_carry() -> None:
    content = task(ASKED, said(ReasoningBlock(text="t"), TextBlock(text="A")))
    row, losses = written("open_responses_trace", content)
    assert places(losses) == ["messages[1].blocks[0]"]
    assert [item["type"] for item in row["items"]] == ["message", "message"]


def test_key_tags_attributes_and_tools_travel_in_the_metadata_of_a_trace() -> None:
    content = task(ASKED, attributes={"target": 1}, tags=("a",), tools=[OPENAI_TOOL])
    row, losses = written("open_responses_trace", content)
    assert losses == []
    assert row["metadata"]["trace_id"] == "k"
    assert row["metadata"]["tags"] == ["a"]
    assert read_one(row).task == content


# -------------------------------------------------------------------- types that others have
@given(conversations() | plain_conversations())
def test_every_trace_is_read_by_latticeflow(messages: tuple[Message, ...]) -> None:
    row, _ = written("open_responses_trace", task(*messages))
    assert Trace.model_validate(row).items is not None


@given(conversations() | plain_conversations())
def test_every_chat_row_without_losses_is_of_openais_types(
    messages: tuple[Message, ...],
) -> None:
    row, losses = written("openai_chat", task(*messages, tools=[ANTHROPIC_TOOL]))
    if not losses:
        check("openai", row["messages"])
        drained(adapter(list[ChatCompletionToolUnionParam]).validate_python(row["tools"]))


@given(conversations() | plain_conversations())
def test_every_row_for_anthropic_without_losses_is_of_its_types(
    messages: tuple[Message, ...],
) -> None:
    row, losses = written("anthropic", task(*messages, tools=[OPENAI_TOOL]))
    # Thinking without a signature is carried, though the provider would not take it back.
    if not losses and not any(map(unsigned, messages)):
        check("anthropic", {"system": None, **row})
        drained(adapter(list[ToolUnionParam]).validate_python(row["tools"]))


def test_a_fine_tuning_row_holds_what_the_upload_takes_and_nothing_else() -> None:
    content = task(
        ASKED,
        said(ReasoningBlock(text="hm"), TextBlock(text="A"), detail={"weight": 1}),
        tools=[OPENAI_TOOL],
        attributes={"parallel_tool_calls": False, "target": "A"},
        tags=("t",),
    )
    row, losses = written("openai_finetune", content)
    assert list(row) == ["messages", "tools", "parallel_tool_calls"]
    assert row["messages"][1] == {"role": "assistant", "content": "A", "weight": 1}
    assert {"messages[1]", "attributes.target", "tags"} <= set(places(losses))


def test_a_plain_conversation_is_a_fine_tuning_row_without_a_loss() -> None:
    row, losses = written("openai_finetune", task(ASKED, said(TextBlock(text="A"))))
    assert losses == []
    assert row == {
        "messages": [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]
    }
