"""Recorded traces as messages, for ``load_trace`` (rule 12 of the solver's semantics)."""

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from apps.dialogue.blocks import ToolCallBlock, ToolResultBlock
from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import DialogueError, TraceError
from apps.dialogue.message import Message, parse_conversation
from apps.dialogue.pairing import pairing_problems
from apps.dialogue.provider_formats import from_responses

_WRAPPERS = ("trace", "items", "messages")
"""Keys under which an object may hold its items: a solver's output, a trace, a conversation."""


def trace_items_to_messages(value: object) -> tuple[Message, ...]:
    """Read a trace: an object with ``items``, a list of items, or the JSON text of either.

    Items are Open Responses items (a missing ``type`` is told from the fields), ``role`` and
    ``content`` pairs, or canonical ``role`` and ``blocks`` messages. Raises ``TraceError`` for what
    cannot be read, for a call without a result, a result without a call, and a call id used twice.
    """
    items = _items(_parsed(value))
    try:
        if items and all(isinstance(item, dict) and "blocks" in item for item in items):
            messages = parse_conversation(items, "items")
        else:
            messages = tuple(_with_errors(m) for part in _turns(items) for m in part)
    except TraceError:
        raise
    except DialogueError as error:
        raise TraceError(error.message, place=error.place) from None
    _check_calls(messages)
    return messages


def _parsed(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise TraceError(f"the trace is not JSON: {error}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _items(value: object) -> list[Any]:
    for _ in range(len(_WRAPPERS)):
        if not isinstance(value, dict):
            break
        key = next((key for key in _WRAPPERS if key in value), None)
        if key is None:
            raise TraceError(f"a trace is an object with items; this one has {_names(value)}")
        value = value[key]
    if not isinstance(value, list):
        raise TraceError(
            f"a trace is a list of items or an object with items, not {kind_of(value)}"
        )
    return value


def _names(value: dict[Any, Any]) -> str:
    return ", ".join(map(str, list(value)[:8])) or "no keys"


def _turns(items: list[Any]) -> Iterator[tuple[Message, ...]]:
    """Read items so that two assistant messages in a row stay two.

    ``from_responses`` takes neighbouring assistant items for one message, as a provider's output
    is; a recorded conversation may hold several turns. A turn with a call stays together.
    """
    start, said, called = 0, False, False
    for index, item in enumerate(items):
        kind = _kind(item)
        if kind == "assistant" and said and not called:
            end = index
            while _kind(items[end - 1]) == "reasoning":
                end -= 1  # reasoning belongs to what follows it
            yield _read(items, start, end)
            start = end
        said = kind == "assistant" or (said and kind in ("reasoning", "function_call"))
        called = kind == "function_call" or (called and kind in ("reasoning", "assistant"))
    yield _read(items, start, len(items))


def _kind(item: Any) -> object:
    if not isinstance(item, dict):
        return None
    if item.get("role") == "assistant" and item.get("type") in (None, "message"):
        return "assistant"
    if item.get("type") is None and "arguments" in item:
        return "function_call"
    if item.get("type") is None and ("summary" in item or "encrypted_content" in item):
        return "reasoning"
    return item.get("type")


def _read(items: list[Any], start: int, end: int) -> tuple[Message, ...]:
    part = items[start:end]
    try:
        return from_responses(part)
    except DialogueError as error:
        raise TraceError(error.message, place=_moved(error.place, start)) from None


def _moved(place: str, start: int) -> str:
    """Count a place like ``items[1].content`` from the beginning of the trace."""
    if not start or not place.startswith("items["):
        return place
    number, rest = place.removeprefix("items[").split("]", 1)
    return f"items[{int(number) + start}]{rest}"


def _with_errors(message: Message) -> Message:
    """Give results back the ``is_error`` that our own traces carry as a field of the item."""
    if not any(_says_error(block) for block in message.blocks):
        return message
    blocks = [
        {**block.to_wire(), "is_error": True, "detail": _rest(block.detail)}
        if _says_error(block)
        else block.to_wire()
        for block in message.blocks
    ]
    return Message.model_validate({**message.to_wire(), "blocks": blocks})


def _says_error(block: object) -> bool:
    return isinstance(block, ToolResultBlock) and (block.detail or {}).get("is_error") is True


def _rest(detail: dict[str, Any] | None) -> dict[str, Any] | None:
    return {key: value for key, value in (detail or {}).items() if key != "is_error"} or None


def _check_calls(messages: tuple[Message, ...]) -> None:
    seen: set[str] = set()
    for index, message in enumerate(messages):
        for block in message.blocks:
            if isinstance(block, ToolCallBlock):
                if block.id in seen:
                    place = f"messages[{index}]"
                    raise TraceError(f"the call id {block.id!r} is used twice", place=place)
                seen.add(block.id)
    # A recorded trace is over: nobody will answer a call that waits at its end.
    for problem in pairing_problems(messages):
        raise TraceError(problem.message, place=problem.place)
