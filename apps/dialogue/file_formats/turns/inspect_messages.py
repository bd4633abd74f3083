"""Messages as Inspect AI has them in its logs and datasets, read and written.

``{"role", "content": text or parts, "tool_calls": [{"id", "function", "arguments"}]}``; parts are
text, reasoning, image (a data URL), audio, video, data, document and tool_use.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from apps.dialogue.blocks import (
    Block,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from apps.dialogue.blocks.json_values import json_copy, kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.base.rows import Loss
from apps.dialogue.file_formats.turns.placed_turns import (
    PlacedTurn,
    reasoning_part,
    result_turn,
    text_part,
)
from apps.dialogue.message import Message
from apps.dialogue.provider_formats.base import leftovers

_TOOL_KEYS: Final = frozenset({"role", "content", "tool_call_id", "function", "error"})


def inspect_turns(messages: object, notes: list[Note], place: str) -> list[PlacedTurn]:
    """Return messages as turns; raises ``ImportRefused`` for what is no list of objects."""
    if not isinstance(messages, list):
        raise ImportRefused(f"must be a list of messages, not {kind_of(messages)}", place=place)
    names: dict[str, object] = {}
    return [_turn(each, names, notes, f"{place}[{index}]") for index, each in enumerate(messages)]


def write_inspect_messages(messages: Sequence[Message], losses: list[Loss]) -> list[dict[str, Any]]:
    """Return messages as Inspect has them; what it cannot carry is a loss."""
    written: list[dict[str, Any]] = []
    names: dict[str, str] = {}
    for index, message in enumerate(messages):
        results = [block for block in message.blocks if isinstance(block, ToolResultBlock)]
        others = [block for block in message.blocks if not isinstance(block, ToolResultBlock)]
        written += [_written_result(block, names.get(block.tool_call_id)) for block in results]
        names |= {block.id: block.name for block in others if isinstance(block, ToolCallBlock)}
        if others or not results:
            written.append(_written_message(message, others))
        if message.detail:
            losses.append(Loss(f"messages[{index}].detail", "Inspect reads no detail of messages"))
        losses += [
            Loss(f"messages[{index}].blocks[{position}].detail", "Inspect reads no such detail")
            for position, block in enumerate(message.blocks)
            if block.detail and not _is_redacted(block)
        ]
    return written


def _turn(message: object, names: dict[str, object], notes: list[Note], place: str) -> PlacedTurn:
    """Read a message; ``names`` are the tools of the calls before it, by the ids of the calls."""
    if not isinstance(message, dict):
        raise ImportRefused("a message must be an object", place=place, code="bad_turn")
    content = message.get("content")
    parts = [_part(part) for part in content] if isinstance(content, list) else content
    if message.get("role") == "tool":
        return PlacedTurn(place, _result(message, parts, names, notes, place))
    wire = {**leftovers(message, {"tool_calls"}), "role": message.get("role"), "content": parts}
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        wire["tool_calls"] = [_call(call) for call in calls]
        names.update(
            (call["id"], call.get("function"))
            for call in calls
            if isinstance(call, dict) and isinstance(call.get("id"), str)
        )
    return PlacedTurn(place, wire)


def _part(part: object) -> object:
    if not isinstance(part, dict):
        return part
    if part.get("type") == "text" and isinstance(part.get("text"), str):
        return text_part(part["text"], part)
    if part.get("type") == "reasoning" and isinstance(part.get("reasoning"), str):
        rest = {key: value for key, value in part.items() if key not in ("reasoning", "redacted")}
        if part.get("redacted") is True:
            summary = rest.pop("summary", None)
            text = summary if isinstance(summary, str) else ""
            return reasoning_part(text, {**rest, "redacted_data": part["reasoning"]})
        return reasoning_part(part["reasoning"], rest)
    return part


def _call(call: object) -> object:
    if not isinstance(call, dict) or isinstance(call.get("function"), dict):
        return call
    rest = leftovers(call, {"id", "type", "function", "arguments"})
    function = {"name": call.get("function"), "arguments": call.get("arguments")}
    return {**rest, "id": call.get("id"), "type": "function", "function": function}


def _result(
    message: dict[str, Any],
    content: object,
    names: dict[str, object],
    notes: list[Note],
    place: str,
) -> dict[str, Any]:
    error = message.get("error")
    if error is None and message.get("tool_error"):
        # Logs and datasets of the first versions have the text alone.
        error = {"type": "unknown", "message": message["tool_error"]}
    if error is not None:
        told = error.get("message") if isinstance(error, dict) else error
        if content in ("", None, []) and isinstance(told, str) and told:
            content = told
        reason = "the tool failed: the result is an error"
        notes.append(Note("converted", f"{place}.error", reason, "tool_error"))
    call_id = message.get("tool_call_id")
    function = message.get("function")
    if isinstance(call_id, str) and names.get(call_id) == function:
        function = None  # The call says it.
    detail = leftovers(message, _TOOL_KEYS | {"tool_error"})
    if isinstance(error, dict) and error.get("type") not in (None, "unknown"):
        detail["error"] = error
    return result_turn(
        content,
        call_id=call_id if isinstance(call_id, str) else None,
        name=function if isinstance(function, str) else None,
        is_error=error is not None,
        detail=detail,
    )


def _written_message(message: Message, blocks: Sequence[Block]) -> dict[str, Any]:
    calls = [block for block in blocks if isinstance(block, ToolCallBlock)]
    said = [block for block in blocks if not isinstance(block, ToolCallBlock)]
    wire: dict[str, Any] = {"role": message.role, "content": _written_content(said)}
    if calls:
        wire["tool_calls"] = [
            {
                "id": call.id,
                "function": call.name,
                "arguments": json_copy(call.input),
                "type": "function",
            }
            for call in calls
        ]
    return wire


def _written_result(block: ToolResultBlock, name: str | None) -> dict[str, Any]:
    wire: dict[str, Any] = {
        "role": "tool",
        "content": _written_content(block.blocks),
        "tool_call_id": block.tool_call_id,
        **({} if name is None else {"function": name}),
    }
    if block.is_error:
        texts = [each.text for each in block.blocks if isinstance(each, TextBlock)]
        wire["error"] = {"type": "unknown", "message": "\n".join(texts)}
    return wire


def _written_content(blocks: Sequence[Block]) -> str | list[dict[str, Any]]:
    if len(blocks) == 1 and isinstance(blocks[0], TextBlock) and blocks[0].text:
        return blocks[0].text
    return [_written_part(block) for block in blocks]


def _written_part(block: Block) -> dict[str, Any]:
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text}
        case ImageBlock():
            return {"type": "image", "image": f"data:{block.mimeType};base64,{block.data}"}
        case ReasoningBlock() if block.detail and _is_redacted(block):
            wire = {"type": "reasoning", "reasoning": block.detail["redacted_data"]}
            return {**wire, "redacted": True, **({"summary": block.text} if block.text else {})}
        case ReasoningBlock():
            signed = {"signature": block.signature} if block.signature is not None else {}
            return {"type": "reasoning", "reasoning": block.text, **signed}
        case _:
            raise AssertionError(f"{block.type} is no content: {json.dumps(block.to_wire())[:80]}")


def _is_redacted(block: Block) -> bool:
    return (
        isinstance(block, ReasoningBlock)
        and block.detail is not None
        and set(block.detail) == {"redacted_data"}
        and isinstance(block.detail["redacted_data"], str)
        and block.signature is None
    )
