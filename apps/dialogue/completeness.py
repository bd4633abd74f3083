"""A model's reply becomes a turn only if it is complete (DESIGN, section 5).

Chat Completions: there is a choice, it ended by itself (``stop``, or ``tool_calls`` where tools
were offered), it is no refusal, and it says something. Responses: the response is ``completed``,
its message items are completed texts, and it says something; reasoning is kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.dialogue.blocks import ToolCallBlock
from apps.dialogue.errors import DialogueError, IncompleteReply, ModelCallFailed
from apps.dialogue.message import Message
from apps.dialogue.provider_formats import from_responses, import_openai


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; ``cached_tokens`` are part of ``input_tokens``."""

    input_tokens: int
    cached_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class CompleteReply:
    """A reply that may become a turn; ``finish`` is the provider's own word for how it ended."""

    message: Message
    usage: Usage | None
    finish: str


_CHAT_FAULTS = {
    "length": ("length", "the reply was cut off at the limit of tokens"),
    "content_filter": ("content_filter", "the provider's filter cut the reply off"),
}
_RESPONSES_FAULTS = {
    "max_output_tokens": _CHAT_FAULTS["length"],
    "content_filter": _CHAT_FAULTS["content_filter"],
}


def complete_chat_reply(
    response: Mapping[str, Any], *, tools_offered: bool = False
) -> CompleteReply:
    """Return the turn in a Chat Completions response.

    Raises ``IncompleteReply`` with a reason for a reply that must not become a turn, and
    ``ModelCallFailed("bad_response")`` where the body is no such response.
    """
    choices = _object(response).get("choices")
    if not isinstance(choices, list):
        raise _bad("there is no list 'choices'", response)
    if not choices:
        raise IncompleteReply("empty", "the response has no choice", response=response)
    choice = _object(choices[0])
    wire = choice.get("message")
    if not isinstance(wire, Mapping) or wire.get("role", "assistant") != "assistant":
        raise _bad("the first choice has no message of the assistant", response)
    finish = choice.get("finish_reason")
    calls = bool(wire.get("tool_calls") or wire.get("function_call"))
    _check_chat_end(finish, wire, calls=calls, tools_offered=tools_offered, response=response)
    message = _read_chat(wire, response)
    _check_says_something(message, calls=calls, response=response)
    return CompleteReply(message, usage_of(response), str(finish))


def complete_responses_reply(
    response: Mapping[str, Any], *, tools_offered: bool = False
) -> CompleteReply:
    """Return the turn in a response of the Responses API; raises like ``complete_chat_reply``."""
    output = _object(response).get("output")
    if not isinstance(output, list) or not all(isinstance(item, Mapping) for item in output):
        raise _bad("there is no list 'output' of items", response)
    _check_response_end(response)
    for item in output:
        _check_item(item, tools_offered=tools_offered, response=response)
    try:
        messages = from_responses([dict(item) for item in output])
    except DialogueError as error:
        raise _bad(str(error), response) from error
    if not messages:
        raise IncompleteReply("empty", "the response has no output", response=response)
    calls = any(isinstance(block, ToolCallBlock) for block in messages[0].blocks)
    _check_says_something(messages[0], calls=calls, response=response)
    return CompleteReply(messages[0], usage_of(response), "completed")


def usage_of(response: Mapping[str, Any]) -> Usage | None:
    """Return the tokens of a response in either API, None where it does not tell them."""
    usage = _object(_object(response).get("usage"))
    for asked, answered, details in (
        ("prompt_tokens", "completion_tokens", "prompt_tokens_details"),
        ("input_tokens", "output_tokens", "input_tokens_details"),
    ):
        counts = (_count(usage.get(asked)), _count(usage.get(answered)))
        if counts[0] is not None and counts[1] is not None:
            cached = _count(_object(usage.get(details)).get("cached_tokens"))
            return Usage(counts[0], min(cached or 0, counts[0]), counts[1])
    return None


def _check_chat_end(
    finish: object,
    wire: Mapping[str, Any],
    *,
    calls: bool,
    tools_offered: bool,
    response: Mapping[str, Any],
) -> None:
    if isinstance(finish, str) and finish in _CHAT_FAULTS:
        raise IncompleteReply(*_CHAT_FAULTS[finish], response=response)
    if wire.get("refusal"):
        fault = f"the model refused: {_shown(wire['refusal'])}"
        raise IncompleteReply("refusal", fault, response=response)
    if (calls or finish in ("tool_calls", "function_call")) and not tools_offered:
        fault = "the model called a tool, though none was offered"
        raise IncompleteReply("unexpected_tool_call", fault, response=response)
    if finish != "stop" and not (calls and finish in ("tool_calls", "function_call")):
        fault = f"the reply ended with the finish_reason {finish!r}"
        raise IncompleteReply("incomplete", fault, response=response)


def _read_chat(wire: Mapping[str, Any], response: Mapping[str, Any]) -> Message:
    # Servers that send an empty reasoning field with every reply mean that there is none.
    empty = {key for key in ("reasoning_content", "reasoning") if wire.get(key) == ""}
    message = {key: value for key, value in wire.items() if key not in empty}
    if not any(message.get(key) for key in ("content", "tool_calls", "function_call")):
        raise IncompleteReply("empty", "the reply is empty", response=response)
    try:
        (read,) = import_openai([{**message, "role": "assistant"}])
    except DialogueError as error:
        raise _bad(str(error), response) from error
    return read


def _check_response_end(response: Mapping[str, Any]) -> None:
    status = response.get("status")
    if status == "failed":
        fault = f"the response failed: {_shown(_object(response.get('error')).get('message'))}"
        raise ModelCallFailed("server_error", fault, response=response)
    if status != "completed":
        reason = _object(response.get("incomplete_details")).get("reason")
        fallback = ("incomplete", f"the response has the status {status!r}")
        raise IncompleteReply(*_RESPONSES_FAULTS.get(str(reason), fallback), response=response)


def _check_item(
    item: Mapping[str, Any], *, tools_offered: bool, response: Mapping[str, Any]
) -> None:
    match item.get("type"):
        case "reasoning":
            return
        case "message":
            _check_message_item(item, response)
        case "function_call" if tools_offered:
            _check_status(item, response)
        case str() as kind if kind.endswith("_call"):
            fault = f"the model made a {kind}, though it was not offered"
            raise IncompleteReply("unexpected_tool_call", fault, response=response)
        case kind:
            fault = f"the response holds an item of the type {kind!r}"
            raise IncompleteReply("incomplete", fault, response=response)


def _check_message_item(item: Mapping[str, Any], response: Mapping[str, Any]) -> None:
    if item.get("role", "assistant") != "assistant" or not isinstance(item.get("content"), list):
        raise _bad("a message item is not one of the assistant", response)
    for part in item["content"]:
        kind = _object(part).get("type")
        if kind == "refusal":
            fault = f"the model refused: {_shown(part.get('refusal'))}"
            raise IncompleteReply("refusal", fault, response=response)
        if kind != "output_text":
            fault = f"the reply holds a part of the type {kind!r}"
            raise IncompleteReply("incomplete", fault, response=response)
    _check_status(item, response)


def _check_status(item: Mapping[str, Any], response: Mapping[str, Any]) -> None:
    if item.get("status") not in (None, "completed"):
        fault = f"an item of the reply has the status {item['status']!r}"
        raise IncompleteReply("incomplete", fault, response=response)


def _check_says_something(message: Message, *, calls: bool, response: Mapping[str, Any]) -> None:
    if not calls and not message.text.strip():
        raise IncompleteReply("empty", "the reply has no text", response=response)


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _shown(text: object) -> str:
    written = str(text)
    return written if len(written) <= 200 else f"{written[:197]}..."


def _bad(fault: str, response: object) -> ModelCallFailed:
    return ModelCallFailed("bad_response", f"the answer cannot be read: {fault}", response=response)
