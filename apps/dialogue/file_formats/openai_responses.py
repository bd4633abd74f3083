"""Responses of OpenAI: ``{"object": "response", "instructions", "output": [items]}``.

Also logged calls, ``{"request": {"input"}, "response": {"output"}}``, and requests alone.
"""

from typing import Any

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import item_type, read_response_items, with_tools
from apps.dialogue.message import Message, parse_message

_ITEMS = frozenset({"message", "function_call", "function_call_output", "reasoning"})


def recognises(row: dict[str, Any]) -> bool:
    if row.get("object") == "response" or _holds_items(row.get("output")):
        return isinstance(row.get("output"), list)
    response = row.get("response")
    return isinstance(response, dict) and _holds_items(response.get("output"))


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    response = row.get("response")
    if isinstance(response, dict) and not isinstance(row.get("output"), list):
        return _read_logged(row, response, notes)
    messages = _before(row, notes, "") + _output(row, notes, "")
    parts = with_tools(row, notes)
    used = ["output"]
    used += [key for key in ("instructions", "input") if row.get(key) is not None]
    return content_of(parts, messages, notes, used=used)


def _read_logged(row: dict[str, Any], response: dict[str, Any], notes: list[Note]) -> TaskContent:
    given = row.get("request")
    request = given if isinstance(given, dict) else {}
    messages = _before(request, notes, "request.") + _output(response, notes, "response.")
    gone = ("input", "instructions", "output")
    parts = {key: value for key, value in row.items() if key not in ("request", "response")}
    if given is not None:
        rest = {key: value for key, value in request.items() if key not in (*gone, "tools")}
        parts["request"] = rest if isinstance(given, dict) else given
    parts["response"] = {key: value for key, value in response.items() if key != "output"}
    tools = request.get("tools") or response.get("tools")
    if tools and "tools" not in parts:
        parts["tools"] = tools
    return content_of(with_tools(parts, notes), messages, notes)


def _before(request: dict[str, Any], notes: list[Note], place: str) -> tuple[Message, ...]:
    """Return what stands before the output: the instructions and the input."""
    read: tuple[Message, ...] = ()
    instructions, given = request.get("instructions"), request.get("input")
    if isinstance(instructions, str):
        read += (_said("system", instructions, f"{place}instructions"),)
    elif instructions is not None:
        read += read_response_items(instructions, notes, place=f"{place}instructions")
    if isinstance(given, str):
        read += (_said("user", given, f"{place}input"),)
    elif isinstance(given, list):
        read += read_response_items(given, notes, place=f"{place}input")
    elif given is not None:
        fault = f"must be a text or a list of items, not {kind_of(given)}"
        raise ImportRefused(fault, place=f"{place}input")
    return read


def _output(response: dict[str, Any], notes: list[Note], place: str) -> tuple[Message, ...]:
    output = response.get("output")
    return read_response_items(output, notes, place=f"{place}output", split_turns=False)


def _said(role: str, text: str, place: str) -> Message:
    return parse_message({"role": role, "blocks": [{"type": "text", "text": text}]}, place)


def _holds_items(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) for item in value)
        and any(_is_item(item) for item in value)
    )


def _is_item(item: dict[str, Any]) -> bool:
    kind = item_type(item)
    return kind in _ITEMS and ("type" in item or kind != "message")


FORMAT = RowFormat("openai_responses", "OpenAI Responses", recognises, read)
