"""The contents of Google's generate_content: rules G1 to G5 and A2."""

import json
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Any

from apps.dialogue.blocks import (
    Block,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
)
from apps.dialogue.blocks.json_values import json_copy
from apps.dialogue.errors import ImportRefused
from apps.dialogue.message import Message, make_message, parse_block
from apps.dialogue.provider_formats.base import (
    ProviderFormat,
    Refuse,
    Turn,
    lay_out,
    leading_system,
    leftovers,
    read_list,
    read_object,
    refuse_at_once,
)


def write_google(messages: Sequence[Message], refuse: Refuse = refuse_at_once) -> dict[str, Any]:
    """Return ``{"system_instruction": text or None, "contents": [...]}``.

    Google pairs results with calls by name and position, so they go out in the order of the calls.
    Refuses reasoning, late system messages, images in results and messages of which nothing is
    left.
    """
    turns = lay_out(messages, "google", refuse)
    system, spoken = leading_system(turns)
    contents: list[dict[str, Any]] = []
    for turn in spoken:
        parts = [*_responses(turn), *_parts(turn)]
        if parts:
            contents.append(
                {"role": "model" if turn.role == "assistant" else "user", "parts": parts}
            )
        elif turn.blocks and not turn.gave_answers:
            turn.refuse(turn.refusal("takes no message without visible content"))
    return {"system_instruction": system, "contents": contents}


def import_google(payload: object) -> tuple[Message, ...]:
    """Read ``{"system_instruction", "contents"}``; both spellings of the keys are understood.

    Calls without an id get one made from their position; a response answers the first open call
    of its name. Raises ``ImportRefused`` or ``InvalidMessage`` naming ``contents[i]``.
    """
    request = read_object(payload, "the payload")
    messages: list[Message] = []
    system = _either(request, "system_instruction", "systemInstruction")
    if system:
        blocks = _read_system(system)
        messages.append(make_message("system", blocks, place="system_instruction"))
    if "contents" not in request:
        raise ImportRefused("the payload has no list 'contents'")
    calls = _Calls()
    for index, each in enumerate(read_list(request["contents"], "contents")):
        place = f"contents[{index}]"
        messages.append(_read_content(read_object(each, place), calls, place))
    return tuple(messages)


FORMAT = ProviderFormat("google", "Google generate_content", write_google, import_google)


def _responses(turn: Turn) -> list[dict[str, Any]]:
    if turn.asked is None or not turn.answers:
        return []
    answers = {answer.result.tool_call_id: answer for answer in turn.answers}
    parts: list[dict[str, Any]] = []
    for call in turn.asked.calls:
        # A call without its answer was refused when the turns were laid out.
        if answer := answers.get(call.id):
            response = {"error" if answer.result.is_error else "output": answer.text(turn)}
            parts.append({"function_response": {"name": call.name, "response": response}})
    return parts


def _parts(turn: Turn) -> Iterator[dict[str, Any]]:
    for block in turn.blocks:
        match block:
            case TextBlock():
                if block.text:
                    yield {"text": block.text}
            case ImageBlock():
                yield {"inline_data": {"mime_type": block.mimeType, "data": block.data}}
            case ReasoningBlock():
                turn.refuse(turn.refusal("has no form for reasoning in the input", block))
            case ToolCallBlock():
                yield {"function_call": {"name": block.name, "args": json_copy(block.input)}}
            case _:
                raise turn.untaught(block)


class _Calls:
    """The open calls by name, oldest first, and ids for those that came without."""

    def __init__(self) -> None:
        self._open: defaultdict[str, deque[object]] = defaultdict(deque)
        self._given: set[object] = set()
        self._count = 0

    def begin_turn(self) -> None:
        self._open.clear()

    def call(self, given: object, name: str) -> object:
        if given and isinstance(given, str):
            self._given.add(given)
        else:
            while (given := f"call_{self._count}") in self._given:
                self._count += 1
            self._count += 1
        self._open[name].append(given)
        return given

    def answer(self, given: object, name: str, place: str) -> object:
        waiting = self._open[name]
        if given and given in waiting:
            waiting.remove(given)
            return given
        if given or not waiting:
            raise ImportRefused(f"the response of {name!r} answers no call before it", place=place)
        return waiting.popleft()


def _either(wire: dict[str, Any], snake: str, camel: str) -> Any:
    return wire[snake] if wire.get(snake) is not None else wire.get(camel)


def _read_system(system: object) -> list[Block]:
    place = "system_instruction"
    if isinstance(system, str):
        return [parse_block({"type": "text", "text": system}, place)]
    parts = read_list(read_object(system, place).get("parts"), f"{place}.parts")
    return [_read_part(read_object(part, place), _Calls(), f"{place}.parts") for part in parts]


def _read_content(content: dict[str, Any], calls: _Calls, place: str) -> Message:
    if content.get("role") == "model":
        calls.begin_turn()
    blocks = [
        _read_part(read_object(part, f"{place}.parts[{i}]"), calls, f"{place}.parts[{i}]")
        for i, part in enumerate(read_list(content.get("parts"), f"{place}.parts"))
    ]
    if not blocks:
        raise ImportRefused("the message has no parts", place=place)
    detail = leftovers(content, {"role", "parts"})
    match content.get("role"):
        case "model":
            return make_message("assistant", blocks, detail, place=place)
        case "user" | "function" | None:
            return make_message("user", blocks, detail, place=place)
        case role:
            raise ImportRefused(f"google has no role {role!r}", place=place)


_PARTS = {
    "text": "text",
    "inline_data": "image",
    "inlineData": "image",
    "function_call": "call",
    "functionCall": "call",
    "function_response": "response",
    "functionResponse": "response",
}


def _read_part(part: dict[str, Any], calls: _Calls, place: str) -> Block:
    present = [key for key, value in part.items() if key in _PARTS and value is not None]
    if len(present) != 1:
        named = ", ".join(part) or "nothing"
        raise ImportRefused(f"a part with {named} has no block here", place=place)
    key = present[0]
    detail = leftovers(part, {key, "thought"})
    match _PARTS[key]:
        case "text":
            wire = {"type": "reasoning" if part.get("thought") else "text", "text": part[key]}
        case "image":
            image = read_object(part[key], place)
            media_type = _either(image, "mime_type", "mimeType")
            wire = {"type": "image", "data": image.get("data"), "mimeType": media_type}
        case "call":
            wire = _read_call(read_object(part[key], place), calls)
        case _:
            wire = _read_response(read_object(part[key], place), calls, place)
    return parse_block({**wire, "detail": detail or None}, place)


def _read_call(call: dict[str, Any], calls: _Calls) -> dict[str, Any]:
    name = call.get("name")
    call_id = calls.call(call.get("id"), str(name))
    return {"type": "tool_call", "id": call_id, "name": name, "input": call.get("args") or {}}


def _read_response(response: dict[str, Any], calls: _Calls, place: str) -> dict[str, Any]:
    """Read ``{"output": text}`` and ``{"error": text}``; any other response becomes JSON text."""
    name = str(response.get("name"))
    value = read_object(response.get("response"), f"{place}.response")
    is_error = set(value) == {"error"}
    lone = next(iter(value.values())) if set(value) in ({"output"}, {"error"}) else value
    text = lone if isinstance(lone, str) else json.dumps(lone)
    return {
        "type": "tool_result",
        "tool_call_id": calls.answer(response.get("id"), name, place),
        "blocks": [{"type": "text", "text": text}],
        "is_error": is_error,
    }
