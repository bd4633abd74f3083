"""What we write is what the providers' own packages call a request."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from anthropic.types import MessageParam, TextBlockParam
from google.genai.types import Content, GenerateContentConfig
from hypothesis import given, settings
from openai.types.chat import ChatCompletionMessageParam
from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter, ValidationError

from apps.dialogue.message import Message
from apps.dialogue.preflight import preflight
from apps.dialogue.provider_formats import FORMATS, convert
from tests.dialogue.conversations import plain_conversations
from tests.kits.test_conversion import CASES

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
            drained(adapter(str | list[TextBlockParam] | None).validate_python(payload["system"]))
        case "google":
            for content in payload["contents"]:
                Content.model_validate(content)
            system = payload["system_instruction"]
            GenerateContentConfig.model_validate({"system_instruction": system})
        case _:
            raise AssertionError(name)


def refuses(name: str, payload: Any) -> bool:
    try:
        check(name, payload)
    except ValidationError:
        return True
    return False


def payloads_in(case: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The payloads of providers that a case holds: what is converted, and what is imported."""
    if "expect" not in case:
        return
    match case["kind"], case["format"]:
        case ("convert", str() as name):
            yield name, case["expect"]
        case ("responses", "to" | "roundtrip"):
            yield "responses", case["expect"]
        case ("responses", "from_to_openai"):
            yield "openai", case["expect"]
        case ("import", "openai_to_google"):
            yield "google", case["expect"]


GOLDENS = [(case, *each) for case in CASES for each in payloads_in(case)]
IDS = [case["id"] for case, _, _ in GOLDENS]


def without_excuse(value: Any, name: str) -> Any:
    """The payload with what the rules want and the types do not: said once, here.

    A3: reasoning without a signature goes out without one. R9: a reasoning item has an id only
    where it was received with encrypted content. R1 and R10: a list of output_text has neither the
    id nor the status of an item that a server made.
    """
    if isinstance(value, list):
        return [without_excuse(each, name) for each in value]
    if not isinstance(value, dict):
        return value
    filled = {key: without_excuse(each, name) for key, each in value.items()}
    match name, value.get("type"):
        case ("anthropic", "thinking"):
            return {"signature": "", **filled}
        case ("responses", "reasoning"):
            return {"id": "rs_1", **filled}
        case ("responses", "output_text"):
            return {"annotations": [], **filled}
        case ("responses", "message") if value["role"] == "assistant":
            made = {} if isinstance(value["content"], str) else {"id": "m", "status": "completed"}
            return {**made, **filled}
        case _:
            return filled


def excused(value: Any, name: str) -> bool:
    return bool(without_excuse(value, name) != value)


def test_goldens_of_every_format_are_checked() -> None:
    assert {name for _, name, _ in GOLDENS} == set(FORMATS)
    assert len(GOLDENS) > 100


@pytest.mark.parametrize(("case", "name", "payload"), GOLDENS, ids=IDS)
def test_a_golden_has_the_types_of_its_provider(
    case: dict[str, Any], name: str, payload: Any
) -> None:
    check(name, without_excuse(payload, name))
    if not excused(payload, name):
        check(name, payload)


@pytest.mark.parametrize(("case", "name", "payload"), GOLDENS, ids=IDS)
def test_a_golden_that_the_types_refuse_is_told_by_the_preflight(
    case: dict[str, Any], name: str, payload: Any
) -> None:
    """What we are made to write and a provider does not take is no surprise to anybody."""
    unsigned = "thinking without its signature", "reasoning without an id"
    if case["kind"] != "convert" or not refuses(name, payload):
        return
    told = [each.message for each in preflight(case["input"], name)]
    assert any(words in said for said in told for words in unsigned), told


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("openai", [{"role": "user", "content": 5}]),
        ("openai", [{"role": "tool", "content": "x"}]),
        ("openai", [{"role": "user", "content": [{"type": "image_url", "image_url": "data:"}]}]),
        ("responses", [{"type": "function_call", "name": "f", "arguments": "{}"}]),
        ("responses", [{"type": "message", "role": "tool", "content": "x"}]),
        ("anthropic", {"system": None, "messages": [{"role": "user", "content": [{"text": "x"}]}]}),
        ("anthropic", {"system": 5, "messages": []}),
        ("anthropic", {"system": None, "messages": [{"role": "assistant", "content": [
            {"type": "thinking", "thinking": "t"}]}]}),
        ("google", {"system_instruction": None, "contents": [{"role": "user", "parts": [
            {"txt": "x"}]}]}),
        ("google", {"system_instruction": [5.5], "contents": []}),
    ],
)  # fmt: skip
def test_the_types_do_refuse(name: str, payload: Any) -> None:
    """The checks above mean something only if they can fail."""
    assert refuses(name, payload)


CHAT = [case for case in CASES if case["kind"] == "convert" and case["format"] == "openai"]


@pytest.mark.parametrize("case", [each for each in CHAT if "expect" in each], ids=lambda c: c["id"])
def test_what_chat_completions_take_the_responses_api_takes_too(case: dict[str, Any]) -> None:
    check("responses", without_excuse(convert(case["input"], "responses"), "responses"))


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
