"""Conversations for property tests: any the rules allow, and those that a format carries whole."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from apps.dialogue.blocks import (
    Block,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from apps.dialogue.message import Message

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
visible_texts = texts.filter(lambda text: bool(text.strip()) and text == text.strip())
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)  # fmt: skip
json_objects = st.dictionaries(texts, json_values, max_size=3)
details = st.none() | json_objects

call_ids = st.sampled_from(
    [
        "call_1",
        "call_2",
        "toolu_3",
        "functions.find:0",
        "functions_find_0",
        "é 4",
        "x" * 64,
        "y" * 65,
    ]
)
tool_names = st.sampled_from(["find", "order_status", "a-b", "f", "g", "read file", "n" * 65])
legal_names = st.sampled_from(["find", "order_status", "a-b"])
media_types = st.sampled_from(["image/png", "image/JPG", "image/webp", "image/gif", "image/bmp"])

text_blocks = st.builds(TextBlock, text=texts, detail=details)
image_blocks = st.builds(
    ImageBlock, data=st.sampled_from(["UE5H", "SlBH"]), mimeType=media_types, detail=details
)
reasoning_blocks = st.builds(
    ReasoningBlock, text=texts, signature=st.none() | texts, detail=details
) | st.builds(ReasoningBlock, text=st.just(""), detail=st.just({"redacted_data": "sealed"}))


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    """Any conversation whose calls and results belong together (rules P1 to P5 and C3)."""
    messages: list[Message] = []
    for role in draw(
        st.lists(st.sampled_from(["system", "user", "assistant", "tools"]), max_size=5)
    ):
        match role:
            case "system" | "user" as spoken:
                blocks = draw(st.lists(text_blocks | image_blocks, min_size=1, max_size=3))
                messages.append(Message(role=spoken, blocks=tuple(blocks), detail=draw(details)))
            case "assistant":
                content = st.lists(
                    text_blocks | image_blocks | reasoning_blocks, min_size=1, max_size=3
                )
                messages.append(Message(role="assistant", blocks=tuple(draw(content))))
            case _:
                messages += draw(_tool_turn())
    if draw(st.booleans()):
        messages.append(draw(_call_message(call_ids, tool_names)))
    return tuple(messages)


@st.composite
def _call_message(
    draw: st.DrawFn, ids: st.SearchStrategy[str], names: st.SearchStrategy[str]
) -> Message:
    blocks: list[Block] = [
        ToolCallBlock(id=call_id, name=draw(names), input=draw(json_objects), detail=draw(details))
        for call_id in draw(st.lists(ids, min_size=1, max_size=3, unique=True))
    ]
    for block in draw(st.lists(text_blocks | reasoning_blocks, max_size=2)):
        blocks.insert(draw(st.integers(0, len(blocks))), block)
    return Message(role="assistant", blocks=tuple(blocks))


@st.composite
def _tool_turn(draw: st.DrawFn) -> Sequence[Message]:
    """Calls, and their results in any order, over one or two user messages."""
    asked = draw(_call_message(call_ids, tool_names))
    calls = [block for block in asked.blocks if isinstance(block, ToolCallBlock)]
    results: list[Block] = [
        ToolResultBlock(
            tool_call_id=call.id,
            blocks=tuple(draw(st.lists(text_blocks | image_blocks, max_size=2))),
            is_error=draw(st.booleans()),
            detail=draw(details),
        )
        for call in draw(st.permutations(calls))
    ]
    cut = draw(st.integers(1, len(results)))
    answers = []
    for part in (results[:cut], results[cut:]):
        if part:
            blocks = list(part)
            for block in draw(st.lists(text_blocks, max_size=2)):
                blocks.insert(draw(st.integers(0, len(blocks))), block)
            answers.append(Message(role="user", blocks=tuple(blocks)))
    return [asked, *answers]


@st.composite
def plain_conversations(
    draw: st.DrawFn,
    *,
    reasoning: bool = True,
    images_in_results: bool = False,
    errors: bool = False,
) -> tuple[Message, ...]:
    """Conversations in the normal form that every format which takes their blocks carries whole.

    A system message in front, then turns of a user and an assistant; reasoning before a lone text
    before the calls; call ids that differ; results in call order; nothing empty.
    """
    said = st.builds(TextBlock, text=visible_texts)
    messages: list[Message] = []
    if draw(st.booleans()):
        messages.append(Message(role="system", blocks=(draw(said),)))
    result_part = said | st.builds(
        ImageBlock, data=st.just("UE5H"), mimeType=st.just("image/png")
    ) if images_in_results else said  # fmt: skip
    for turn in range(draw(st.integers(1, 4))):
        messages.append(Message(role="user", blocks=(draw(said),)))
        blocks: list[Block] = []
        if reasoning and draw(st.booleans()):
            blocks.append(ReasoningBlock(text=draw(visible_texts)))
        calls = [
            ToolCallBlock(id=f"call_{turn}_{i}", name=draw(legal_names), input=draw(json_objects))
            for i in range(draw(st.integers(0, 2)))
        ]
        if not calls or draw(st.booleans()):
            blocks.append(draw(said))
        messages.append(Message(role="assistant", blocks=(*blocks, *calls)))
        if calls:
            results = tuple(
                ToolResultBlock(
                    tool_call_id=call.id,
                    blocks=(draw(result_part),),
                    is_error=errors and draw(st.booleans()),
                )
                for call in calls
            )
            messages.append(Message(role="user", blocks=results))
            messages.append(Message(role="assistant", blocks=(draw(said),)))
    return tuple(messages)


@st.composite
def careless_conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    """Conversations whose blocks may stand where they are, and nothing else: drafts, open calls,
    results of no call, ids used twice, illegal names."""
    ids = st.sampled_from(["a", "b", "é 4", "y" * 65])
    call = st.builds(ToolCallBlock, id=ids, name=tool_names, input=json_objects)
    result = st.builds(
        ToolResultBlock,
        tool_call_id=ids,
        blocks=st.lists(text_blocks | image_blocks, max_size=2).map(tuple),
        is_error=st.booleans(),
    )
    said = text_blocks | image_blocks
    holds: dict[Any, st.SearchStrategy[Block]] = {
        "system": said,
        "user": said | result,
        "assistant": said | reasoning_blocks | call,
    }
    messages = []
    for role in draw(st.lists(st.sampled_from(sorted(holds)), max_size=5)):
        blocks = draw(st.lists(holds[role], max_size=3))
        messages.append(Message(role=role, blocks=tuple(blocks), detail=draw(details)))
    return tuple(messages)
