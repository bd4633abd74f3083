"""Reading the message list of Chat Completions, and of everything like it (rules I1 to I8)."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from apps.dialogue.blocks import Block
from apps.dialogue.errors import ImportRefused
from apps.dialogue.message import Message, make_message, parse_block
from apps.dialogue.provider_formats.base.reading import (
    leftovers,
    read_arguments,
    read_data_url,
    read_list,
    read_object,
)

_ROLES: dict[str, Literal["system", "user", "assistant"]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_REASONING = ("reasoning_content", "reasoning")
_MESSAGE_KEYS = {
    "role", "content", "refusal", "tool_calls", "function_call", "cache_control", *_REASONING
}  # fmt: skip


def read_chat(messages: object) -> tuple[Message, ...]:
    """Read the ``messages`` of a Chat Completions request.

    Consecutive tool messages become one user message. Keys we do not know stay in ``detail``. Text
    stays text, also where it looks like reasoning or like an error marker. Raises ``ImportRefused``
    or ``InvalidMessage`` naming ``messages[i]`` and the id, type, role or field.
    """
    if messages is None:
        raise ImportRefused("the list of messages is missing", place="messages")
    wires = [
        read_object(each, f"messages[{index}]")
        for index, each in enumerate(read_list(messages, "messages"))
    ]
    legacy = _FunctionCalls(wires)
    read: list[Message] = []
    results: list[Block] = []
    for index, wire in enumerate(wires):
        place = f"messages[{index}]"
        if wire.get("role") in ("tool", "function"):
            results.append(_read_result(wire, legacy, place))
            continue
        if results:
            read.append(make_message("user", results, place=place))
            results = []
        read.append(_read_message(wire, legacy, place))
    if results:
        read.append(make_message("user", results))
    return tuple(read)


class _FunctionCalls:
    """Ids for calls of the days when functions had none: unique, and tied to their result (I6)."""

    def __init__(self, wires: Sequence[dict[str, Any]]) -> None:
        self._taken = set(_ids_in(wires))
        self._count = 0
        self._open: tuple[str, str] | None = None

    def call(self, name: str) -> str:
        while (call_id := f"call_{self._count}") in self._taken:
            self._count += 1
        self._taken.add(call_id)
        self._open = (call_id, name)
        return call_id

    def forget(self) -> None:
        self._open = None

    def answer(self, name: object, place: str) -> str:
        if self._open is None or name not in (None, self._open[1]):
            raise ImportRefused(
                f"the function message {name!r} answers no function_call before it", place=place
            )
        call_id = self._open[0]
        self._open = None
        return call_id


def _ids_in(wires: Sequence[dict[str, Any]]) -> Iterator[str]:
    for wire in wires:
        calls = wire.get("tool_calls")
        for each in calls if isinstance(calls, list) else ():
            if isinstance(each, dict) and isinstance(each.get("id"), str):
                yield each["id"]
        if isinstance(wire.get("tool_call_id"), str):
            yield wire["tool_call_id"]


def _read_message(wire: dict[str, Any], legacy: _FunctionCalls, place: str) -> Message:
    role = wire.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise ImportRefused(f"the role {role!r} is unknown", place=place)
    if wire.get("audio") is not None:
        raise ImportRefused("audio cannot be imported", place=place)
    if role == "assistant":
        legacy.forget()
    reasoning = _read_reasoning(wire, place)
    calls = _read_calls(wire, legacy, place)
    blocks = [*reasoning]
    content = wire.get("content")
    if content != "" or not (reasoning or calls):
        blocks += _read_content(content, f"{place}.content")
    if wire.get("refusal") is not None:
        blocks.append(_refusal(wire["refusal"], f"{place}.refusal"))
    blocks += calls
    if not blocks:
        raise ImportRefused(f"the {role} message has no content", place=place)
    detail = leftovers(wire, _MESSAGE_KEYS)
    if role == "developer":
        detail["role"] = role
    return make_message(_ROLES[role], blocks, detail, place=place)


def _read_reasoning(wire: dict[str, Any], place: str) -> list[Block]:
    """Read the reasoning (rule I2); servers that send both fields send the same text twice."""
    texts: list[Any] = []
    for key in _REASONING:
        if wire.get(key) is not None and wire[key] not in texts:
            texts.append(wire[key])
    return [parse_block({"type": "reasoning", "text": text}, place) for text in texts]


def _read_content(content: object, place: str) -> list[Block]:
    if isinstance(content, str):
        return [parse_block({"type": "text", "text": content}, place)]
    return [
        _read_part(read_object(part, f"{place}[{position}]"), f"{place}[{position}]")
        for position, part in enumerate(read_list(content, place, "a text or a list of parts"))
    ]


def _read_part(part: dict[str, Any], place: str) -> Block:
    match part.get("type"):
        case "text":
            detail = leftovers(part, {"type", "text", "cache_control"})
            wire = {"type": "text", "text": part.get("text"), "detail": detail or None}
            return parse_block(wire, place)
        case "image_url":
            given = part.get("image_url")
            image = {"url": given} if isinstance(given, str) else read_object(given, place)
            detail = leftovers(part, {"type", "image_url", "cache_control"})
            detail |= leftovers(image, {"url", "detail"})
            wire = read_data_url(image.get("url"), place)
            return parse_block({**wire, "detail": detail or None}, place)
        case "refusal":
            return _refusal(part.get("refusal"), place)
        case kind:
            raise ImportRefused(f"a part of the type {kind!r} has no block here", place=place)


def _refusal(text: object, place: str) -> Block:
    return parse_block({"type": "text", "text": text, "detail": {"refusal": True}}, place)


def _read_calls(wire: dict[str, Any], legacy: _FunctionCalls, place: str) -> list[Block]:
    calls = [
        _read_call(read_object(each, f"{place}.tool_calls[{i}]"), f"{place}.tool_calls[{i}]")
        for i, each in enumerate(read_list(wire.get("tool_calls"), f"{place}.tool_calls"))
    ]
    if wire.get("function_call") is not None:
        function = read_object(wire["function_call"], f"{place}.function_call")
        call = {"id": legacy.call(str(function.get("name"))), "function": function}
        calls.append(_read_call(call, f"{place}.function_call"))
    return calls


def _read_call(call: dict[str, Any], place: str) -> Block:
    if call.get("type") not in (None, "function"):
        raise ImportRefused(f"a tool call of the type {call['type']!r} has no block", place=place)
    function = read_object(call.get("function"), f"{place}.function")
    detail = leftovers(call, {"id", "type", "index", "function"})
    detail |= leftovers(function, {"name", "arguments"})
    wire = {
        "type": "tool_call",
        "id": call.get("id"),
        "name": function.get("name"),
        "input": read_arguments(function.get("arguments"), call.get("id"), place),
        "detail": detail or None,
    }
    return parse_block(wire, place)


def _read_result(wire: dict[str, Any], legacy: _FunctionCalls, place: str) -> Block:
    known = {"role", "content", "tool_call_id", "cache_control"}
    call_id = wire.get("tool_call_id")
    if wire["role"] == "function":
        known.add("name")
        call_id = legacy.answer(wire.get("name"), place)
    elif not call_id:
        raise ImportRefused("the tool message has no tool_call_id", place=place)
    detail = leftovers(wire, known)
    result = {
        "type": "tool_result",
        "tool_call_id": call_id,
        "blocks": _read_content(wire.get("content"), f"{place}.content"),
        "detail": detail or None,
    }
    return parse_block(result, place)
