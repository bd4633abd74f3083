"""A conversation, written as a script and read back, is the same conversation."""

import time

from hypothesis import example, given, settings
from hypothesis import strategies as st

from apps.dialogue.blocks import (
    Block,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from apps.dialogue.errors import ScriptError
from apps.dialogue.message import Message, text_message
from apps.dialogue.script_text import Script, read_script, write_script
from tests.dialogue.conversations import conversations, details, json_objects, texts

PIECES = [
    *("\n", "\r", "\r\n", "␍", "\\", "\\\\", " ", "\t", "", "u:", "a: ", "s:", "+:", "think:"),
    *("call f {}", "call f", "call me later", "result:", "result #x:", "result error:", "result+:"),
    *("result+image ", 'signature "', "detail {", "image image/png ", 'image "', "hi", "x", '"'),
    *("\u2028", "\u0085", "\x0b", "\x0c", "\ufeff", "\u00a0", "{", "#"),
]
tricky_texts = st.lists(st.sampled_from(PIECES), max_size=7).map("".join) | texts
words = tricky_texts.filter(bool)
ids = st.sampled_from(["call_1", "call_2", "call_3", "toolu_9"]) | words

text_blocks = st.builds(TextBlock, text=tricky_texts, detail=details)
image_blocks = st.builds(
    ImageBlock,
    data=(st.sampled_from(["UE5H", "A" * 200]) | tricky_texts),
    mimeType=st.sampled_from(["image/png", "image/svg+xml", "IMAGE/PNG", "", "a b"]) | tricky_texts,
    detail=details,
)
reasoning_blocks = st.builds(
    ReasoningBlock, text=tricky_texts, signature=st.none() | tricky_texts, detail=details
)
call_blocks = st.builds(ToolCallBlock, id=ids, name=words, input=json_objects, detail=details)
result_blocks = st.builds(
    ToolResultBlock,
    tool_call_id=ids,
    blocks=st.lists(text_blocks | image_blocks, max_size=3).map(tuple),
    is_error=st.booleans(),
    detail=details,
)
ALLOWED: dict[str, st.SearchStrategy[Block]] = {
    "system": text_blocks | image_blocks,
    "user": text_blocks | image_blocks | result_blocks,
    "assistant": text_blocks | image_blocks | reasoning_blocks | call_blocks,
}


@st.composite
def drafts(draw: st.DrawFn) -> tuple[Message, ...]:
    """Any conversation at all, also those that break the rules about calls and results."""
    roles = draw(st.lists(st.sampled_from(sorted(ALLOWED)), max_size=6))
    return tuple(
        Message(
            role=role,
            blocks=tuple(draw(st.lists(ALLOWED[role], max_size=3))),
            detail=draw(details),
        )
        for role in roles
    )


@settings(max_examples=300)
@given(drafts() | conversations())
def test_every_conversation_comes_back_as_it_was(messages: tuple[Message, ...]) -> None:
    script = write_script(messages)
    read = read_script(script).messages
    assert [each.model_dump_json() for each in read] == [
        each.model_dump_json() for each in messages
    ]
    assert write_script(read) == script


@settings(max_examples=100)
@given(drafts())
def test_editors_with_one_kind_of_line_end_keep_a_script_whole(
    messages: tuple[Message, ...],
) -> None:
    script = write_script(messages)
    assert "\r" not in script
    assert read_script(script.replace("\n", "\r\n")).messages == messages


@settings(max_examples=300)
@given(st.lists(tricky_texts, max_size=12).map("\n".join))
@example("u: hi\nresult #x")
@example('call "f')
@example("u:\nu: hi\n\\")
def test_whatever_is_typed_is_read_or_refused_at_a_place(typed: str) -> None:
    script, error = _read(typed)
    if error is not None:
        assert 1 <= error.line <= typed.count("\n") + typed.count("\r") + 1
        assert error.column >= 1
    if script is not None:
        assert read_script(write_script(script.messages)).messages == script.messages


def _read(typed: str) -> tuple[Script | None, ScriptError | None]:
    try:
        return read_script(typed), None
    except ScriptError as error:
        return None, error


@given(drafts())
def test_every_turn_and_block_has_its_line(messages: tuple[Message, ...]) -> None:
    lines = read_script(write_script(messages)).lines
    expected = {
        place
        for index, message in enumerate(messages)
        for place in (
            f"messages[{index}]",
            *(f"messages[{index}].blocks[{at}]" for at in range(len(message.blocks))),
        )
    }
    assert set(lines) == expected


def test_four_hundred_turns_take_less_than_fifty_milliseconds() -> None:
    said = "A line of some length, as people write them.\n" * 5
    messages = [text_message("user" if i % 2 else "assistant", said) for i in range(400)]
    best = min(_seconds(messages) for _ in range(5))
    assert best < 0.05


def _seconds(messages: list[Message]) -> float:
    begun = time.perf_counter()
    read_script(write_script(messages))
    return time.perf_counter() - begun
