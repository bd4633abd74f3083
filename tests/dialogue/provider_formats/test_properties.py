"""What holds for every conversation and every format: render or refuse, never drop."""

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from openreward.api.environments.client import convert_messages

from apps.dialogue.blocks import (
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from apps.dialogue.errors import DialogueError
from apps.dialogue.message import Message, conversation_to_wire
from apps.dialogue.provider_formats import FORMATS, convert
from tests.dialogue.conversations import conversations, plain_conversations
from tests.dialogue.reference import as_the_client_holds

# Many conversations are refused by some format; that is the other half of each property.
settings.register_profile(
    "conversations",
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much],
)
few = settings(settings.get_profile("conversations"))

formats = st.sampled_from(sorted(FORMATS))
whole = st.sampled_from(["openai", "anthropic", "responses"])


def rendered(messages: Any, name: str) -> Any:
    try:
        return convert(messages, name)
    except DialogueError:
        assume(False)


def texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each)


def count_of(value: Any, key: str, wanted: str) -> int:
    if isinstance(value, dict):
        here = value.get(key) == wanted or (key in value and wanted == "*")
        return here + sum(count_of(each, key, wanted) for each in value.values())
    if isinstance(value, list):
        return sum(count_of(each, key, wanted) for each in value)
    return 0


def authored_texts(messages: tuple[Message, ...]) -> Iterator[str]:
    for message in messages:
        for block in message.blocks:
            match block:
                case TextBlock() | ReasoningBlock():
                    yield block.text
                case ToolResultBlock():
                    yield from (each.text for each in block.blocks if isinstance(each, TextBlock))
                case ImageBlock() | ToolCallBlock():
                    pass


@few
@given(conversations(), formats)
def test_no_visible_text_is_dropped(messages: tuple[Message, ...], name: str) -> None:
    written = "\n\n".join(texts_in(rendered(messages, name)))
    for text in authored_texts(messages):
        # Anthropic leaves out blank texts and trims the end of the last one (rules A6 and A7).
        assert (text.rstrip() if name == "anthropic" else text) in written


CALL = {
    "openai": ("type", "function"),
    "openrouter": ("type", "function"),
    "anthropic": ("type", "tool_use"),
    "google": ("function_call", "*"),
    "responses": ("type", "function_call"),
}
RESULT = {
    "openai": ("role", "tool"),
    "openrouter": ("role", "tool"),
    "anthropic": ("type", "tool_result"),
    "google": ("function_response", "*"),
    "responses": ("type", "function_call_output"),
}
IMAGE = {
    "openai": ("type", "image_url"),
    "openrouter": ("type", "image_url"),
    "anthropic": ("type", "image"),
    "google": ("inline_data", "*"),
    "responses": ("type", "input_image"),
}


def without_inputs(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """The conversation with empty tool inputs, so that counting keys counts only the format's."""
    return tuple(
        message.model_copy(
            update={
                "blocks": tuple(
                    block.model_copy(update={"input": {}})
                    if isinstance(block, ToolCallBlock)
                    else block
                    for block in message.blocks
                )
            }
        )
        for message in messages
    )


@few
@given(conversations(), formats)
def test_no_call_result_or_image_is_dropped(messages: tuple[Message, ...], name: str) -> None:
    messages = without_inputs(messages)
    payload = rendered(messages, name)
    blocks = [block for message in messages for block in message.blocks]
    results = [block for block in blocks if isinstance(block, ToolResultBlock)]
    inner = [each for block in results for each in block.blocks]
    images = [block for block in [*blocks, *inner] if isinstance(block, ImageBlock)]
    calls = [block for block in blocks if isinstance(block, ToolCallBlock)]
    assert count_of(payload, *CALL[name]) == len(calls)
    assert count_of(payload, *RESULT[name]) == len(results)
    assert count_of(payload, *IMAGE[name]) == len(images)


LEGAL_ID = {
    "openai": r".{1,64}",
    "openrouter": r".{1,64}",
    "responses": r".{1,64}",
    "anthropic": r"[a-zA-Z0-9_-]+",
}
ID_KEYS = {
    "openai": ("id", "tool_call_id"),
    "openrouter": ("id", "tool_call_id"),
    "responses": ("call_id", "call_id"),
    "anthropic": ("id", "tool_use_id"),
}


def ids_of(value: Any, kind: tuple[str, str], key: str) -> list[str]:
    """The ids of all objects of a kind, in order."""
    if isinstance(value, dict):
        here = [value[key]] if value.get(kind[0]) == kind[1] else []
        return here + [each for held in value.values() for each in ids_of(held, kind, key)]
    if isinstance(value, list):
        return [each for held in value for each in ids_of(held, kind, key)]
    return []


@few
@given(conversations(), st.sampled_from(sorted(LEGAL_ID)))
def test_ids_are_legal_and_the_legal_ones_untouched(
    messages: tuple[Message, ...], name: str
) -> None:
    messages = without_inputs(messages)
    stored = [b.id for m in messages for b in m.blocks if isinstance(b, ToolCallBlock)]
    payload = rendered(messages, name)
    calls = ids_of(payload, CALL[name], ID_KEYS[name][0])
    results = ids_of(payload, RESULT[name], ID_KEYS[name][1])
    assert len(calls) == len(stored)
    assert all(re.fullmatch(LEGAL_ID[name], each, re.DOTALL) for each in calls)
    assert set(results) <= set(calls)
    if name == "anthropic":
        assert len(set(calls)) == len(calls)
        assert len(set(results)) == len(results)
    for position, (was, written) in enumerate(zip(stored, calls, strict=True)):
        is_legal = re.fullmatch(LEGAL_ID[name], was, re.DOTALL)
        if is_legal and (name != "anthropic" or was not in stored[:position]):
            assert written == was


def refusal_of(messages: tuple[Message, ...], name: str) -> DialogueError | None:
    try:
        convert(messages, name)
    except DialogueError as error:
        return error
    return None


@few
@given(conversations(), formats)
def test_a_refusal_names_its_place_in_one_line(messages: tuple[Message, ...], name: str) -> None:
    refusal = refusal_of(messages, name)
    assume(refusal is not None)
    assert refusal is not None
    assert refusal.place.startswith("messages[")
    assert str(refusal).startswith(refusal.place)
    assert "\n" not in str(refusal)


@few
@given(conversations(), formats)
def test_the_input_is_not_changed_and_the_answer_is_the_same(
    messages: tuple[Message, ...], name: str
) -> None:
    wire = conversation_to_wire(messages)
    before = copy.deepcopy(wire)
    first = rendered(wire, name)
    assert wire == before
    assert (
        json.dumps(first) == json.dumps(convert(wire, name)) == json.dumps(convert(messages, name))
    )


@few
@given(conversations(), formats)
def test_what_was_rendered_is_json_and_shares_nothing(
    messages: tuple[Message, ...], name: str
) -> None:
    payload = rendered(messages, name)
    kept = json.dumps(payload, allow_nan=False)
    spoil(payload)
    assert json.dumps(convert(messages, name)) == kept


def spoil(value: Any) -> None:
    for each in list(value.values()) if isinstance(value, dict) else list(value):
        if isinstance(each, dict | list):
            spoil(each)
    value.clear()


def has_empty_text_beside_calls(messages: tuple[Message, ...]) -> bool:
    """O8 writes such a text as "", which I1 reads as absent."""
    for message in messages:
        shown = [block for block in message.blocks if isinstance(block, TextBlock)]
        others = [b for b in message.blocks if isinstance(b, ReasoningBlock | ToolCallBlock)]
        if len(shown) == 1 and not shown[0].text and others:
            return True
    return False


@few
@given(conversations(), formats)
def test_export_import_export_does_not_drift(messages: tuple[Message, ...], name: str) -> None:
    assume(name == "google" or not has_empty_text_beside_calls(messages))
    first = rendered(messages, name)
    again = FORMATS[name].read(copy.deepcopy(first))
    assert json.dumps(convert(again, name)) == json.dumps(first)


@given(plain_conversations(), st.sampled_from(["openai", "openrouter"]))
def test_chat_completions_carry_a_plain_conversation_whole(
    messages: tuple[Message, ...], name: str
) -> None:
    assert FORMATS[name].read(convert(messages, name)) == messages


@given(plain_conversations(images_in_results=True, errors=True))
def test_anthropic_carries_a_plain_conversation_whole(messages: tuple[Message, ...]) -> None:
    assert FORMATS["anthropic"].read(convert(messages, "anthropic")) == messages


@given(plain_conversations(images_in_results=True))
def test_responses_carry_a_plain_conversation_whole(messages: tuple[Message, ...]) -> None:
    assert FORMATS["responses"].read(convert(messages, "responses")) == messages


@given(plain_conversations(reasoning=False, errors=True))
def test_google_carries_a_plain_conversation_whole_but_for_the_ids(
    messages: tuple[Message, ...],
) -> None:
    again = FORMATS["google"].read(convert(messages, "google"))
    assert json.dumps(convert(again, "google")) == json.dumps(convert(messages, "google"))
    assert [message.role for message in again] == [message.role for message in messages]


@given(plain_conversations(), st.sampled_from(["openai", "openrouter", "anthropic"]))
def test_a_plain_conversation_is_what_the_real_client_builds(
    messages: tuple[Message, ...], name: Any
) -> None:
    assert convert(messages, name) == convert_messages(as_the_client_holds(messages), name)


@given(plain_conversations(reasoning=False))
def test_google_gets_what_the_real_client_builds(messages: tuple[Message, ...]) -> None:
    held = as_the_client_holds(messages)
    assert convert(messages, "google") == convert_messages(held, "google")


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_format_is_listed_under_its_own_name(name: str) -> None:
    assert FORMATS[name].name == name
    assert FORMATS[name].title
