"""What we write is what the providers' own packages call a request."""

from functools import cache
from typing import Any

import pytest
from anthropic.types import MessageParam
from google.genai.types import Content
from hypothesis import given, settings
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

from apps.dialogue.message import Message
from apps.dialogue.provider_formats import convert
from tests.dialogue.conversations import plain_conversations
from tests.kits.test_conversion import CASES

CONVERTED = [case for case in CASES if case["kind"] == "convert" and "expect" in case]
few = settings(max_examples=25, deadline=None)


@cache
def adapter(of: Any) -> TypeAdapter[Any]:
    return TypeAdapter(of)


def drained(value: Any) -> Any:
    """Read the lazy parts of a validated value, so that they are validated too."""
    if isinstance(value, dict):
        return {key: drained(each) for key, each in value.items()}
    if isinstance(value, list) or type(value).__name__ == "ValidatorIterator":
        return [drained(each) for each in value]
    return value


def check(name: str, payload: Any) -> None:
    match name:
        case "openai" | "openrouter":
            drained(adapter(list[ChatCompletionMessageParam]).validate_python(payload))
        case "responses":
            drained(adapter(list[ResponseInputItemParam]).validate_python(payload))
        case "anthropic":
            drained(adapter(list[MessageParam]).validate_python(payload["messages"]))
        case _:
            for content in payload["contents"]:
                Content.model_validate(content)


def has_unsigned_thinking(value: Any) -> bool:
    """Rule A3: reasoning without a signature goes out without one, which the API refuses."""
    if isinstance(value, dict):
        unsigned = value.get("type") == "thinking" and "signature" not in value
        return unsigned or any(map(has_unsigned_thinking, value.values()))
    return isinstance(value, list) and any(map(has_unsigned_thinking, value))


TYPED = [case for case in CONVERTED if case["format"] and not has_unsigned_thinking(case["expect"])]
CHAT = [case for case in CONVERTED if case["format"] == "openai"]


@pytest.mark.parametrize("case", TYPED, ids=[case["id"] for case in TYPED])
def test_a_handed_case_has_the_types_of_its_provider(case: dict[str, Any]) -> None:
    check(case["format"], convert(case["input"], case["format"]))


@pytest.mark.parametrize("case", CHAT, ids=[case["id"] for case in CHAT])
def test_what_chat_completions_take_the_responses_api_takes_too(case: dict[str, Any]) -> None:
    items = convert(case["input"], "responses")
    # A reasoning item needs an id there, which we have only where it was received with one.
    check("responses", [{"id": "rs_1", **item} if item["type"] == "reasoning" else item
                        for item in items if not _is_list_of_output(item)])  # fmt: skip


def _is_list_of_output(item: dict[str, Any]) -> bool:
    """Rule R1: only a single text has a form that is valid in every type set."""
    return item.get("role") == "assistant" and isinstance(item["content"], list)


@few
@given(plain_conversations())
def test_a_plain_conversation_has_the_types_of_openai(messages: tuple[Message, ...]) -> None:
    check("openai", convert(messages, "openai"))


@few
@given(plain_conversations(reasoning=False, images_in_results=True, errors=True))
def test_a_plain_conversation_has_the_types_of_anthropic(messages: tuple[Message, ...]) -> None:
    check("anthropic", convert(messages, "anthropic"))


@few
@given(plain_conversations(reasoning=False, errors=True))
def test_a_plain_conversation_has_the_types_of_google(messages: tuple[Message, ...]) -> None:
    check("google", convert(messages, "google"))


@few
@given(plain_conversations(reasoning=False, images_in_results=True, errors=True))
def test_a_plain_conversation_has_the_types_of_responses(messages: tuple[Message, ...]) -> None:
    check("responses", convert(messages, "responses"))
