"""The Messages API of Anthropic: its blocks are nearly ours (rules A1 to A8, N1 and N2)."""

import re
from collections.abc import Sequence
from typing import Any

from apps.dialogue.blocks import (
    Block,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
)
from apps.dialogue.blocks.json_values import json_copy, kind_of
from apps.dialogue.errors import ConversionRefused, ImportRefused
from apps.dialogue.message import Message, make_message, parse_block
from apps.dialogue.provider_formats.base import (
    Answer,
    LeadBlock,
    ProviderFormat,
    Refuse,
    Turn,
    check_tool_names,
    clean_ids,
    lay_out,
    leading_system,
    leftovers,
    read_list,
    read_object,
    refuse_at_once,
)

TOOL_ID = re.compile(r"[a-zA-Z0-9_-]+")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
MEDIA_TYPES = {
    "image/jpeg": "image/jpeg",
    "image/jpg": "image/jpeg",
    "image/png": "image/png",
    "image/gif": "image/gif",
    "image/webp": "image/webp",
}


_PART_KEYS: dict[str, dict[str, str]] = {
    "text": {"text": "text"},
    "image": {"source": ""},
    "thinking": {"thinking": "text", "signature": "signature"},
    "redacted_thinking": {"data": ""},
    "tool_use": {"id": "id", "name": "name", "input": "input"},
    "tool_result": {"tool_use_id": "tool_call_id", "content": "blocks", "is_error": "is_error"},
}
"""The content types we read: the keys of each, and the keys of our block they become."""


def write_anthropic(messages: Sequence[Message], refuse: Refuse = refuse_at_once) -> dict[str, Any]:
    """Return ``{"system": text or None, "messages": [...]}`` of a Messages request.

    Refuses late system messages, media types that do not exist there, illegal tool names and
    messages of which nothing is left.
    """
    turns = lay_out(messages, "anthropic", refuse)
    check_tool_names(turns, TOOL_NAME)
    clean_ids(turns, TOOL_ID)
    system, spoken = leading_system(turns)
    written: list[dict[str, Any]] = []
    for turn in spoken:
        content = [_tool_result(turn, answer) for answer in turn.answers]
        content += [_part(turn, block) for block in _in_order(visible(turn.blocks))]
        if turn is turns[-1] and turn.role == "assistant":
            _trim_end(content)
        if content:
            written.append({"role": turn.role, "content": content})
        elif turn.blocks and not turn.gave_answers:
            turn.refuse(turn.refusal("takes no message without visible content"))
    return {"system": system, "messages": written}


def import_anthropic(payload: object) -> tuple[Message, ...]:
    """Read ``{"system", "messages"}`` of a Messages request.

    Raises ``ConversionRefused`` or ``InvalidMessage`` naming ``messages[i]`` and what is refused.
    """
    request = read_object(payload, "the payload")
    messages: list[Message] = []
    if system := request.get("system"):
        blocks = _read_content(system, "system")
        messages.append(make_message("system", blocks, place="system"))
    if "messages" not in request:
        raise ImportRefused("the payload has no list 'messages'")
    for index, each in enumerate(read_list(request["messages"], "messages")):
        messages.append(_read_message(each, f"messages[{index}]"))
    return tuple(messages)


FORMAT = ProviderFormat("anthropic", "Anthropic Messages", write_anthropic, import_anthropic)


def visible(blocks: Sequence[LeadBlock]) -> list[LeadBlock]:
    """Leave out empty texts, and blank ones where no text is visible (rule A6)."""
    texts = [block.text for block in blocks if isinstance(block, TextBlock)]
    if all(text and not text.isspace() for text in texts):
        return list(blocks)
    visible = any(text and not text.isspace() for text in texts)
    return [
        block
        for block in blocks
        if not isinstance(block, TextBlock)
        or (block.text and (visible or not block.text.isspace()))
    ]


def _in_order(blocks: list[LeadBlock]) -> list[LeadBlock]:
    """Move texts and images before the first call, unless reasoning follows a call (rule A5)."""
    calls = [block for block in blocks if isinstance(block, ToolCallBlock)]
    if not calls:
        return blocks
    after = blocks[blocks.index(calls[0]) :]
    if any(isinstance(block, ReasoningBlock) for block in after):
        return blocks
    return [block for block in blocks if not isinstance(block, ToolCallBlock)] + calls


def _trim_end(content: list[dict[str, Any]]) -> None:
    """Trim the end of a last assistant text, which must not be white space (rule A7)."""
    while content and content[-1]["type"] == "text":
        content[-1]["text"] = content[-1]["text"].rstrip()
        if content[-1]["text"]:
            return
        content.pop()


def _part(turn: Turn, block: LeadBlock) -> dict[str, Any]:
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text}
        case ImageBlock():
            return _image(turn, block, turn.place(block))
        case ReasoningBlock():
            return _thinking(turn, block)
        case ToolCallBlock():
            return {
                "type": "tool_use",
                "id": turn.call_id(block),
                "name": block.name,
                "input": json_copy(block.input),
            }
        case _:
            raise turn.untaught(block)


def _thinking(turn: Turn, block: ReasoningBlock) -> dict[str, Any]:
    redacted = block.detail.get("redacted_data") if block.detail else None
    if redacted is not None:
        if not isinstance(redacted, str):
            turn.refuse(turn.refusal("wants a text in detail.redacted_data", block))
        if block.text:
            fault = "cannot carry redacted reasoning (detail.redacted_data) with text"
            turn.refuse(turn.refusal(fault, block))
        return {"type": "redacted_thinking", "data": redacted}
    thinking = {"type": "thinking", "thinking": block.text}
    if block.signature:
        thinking["signature"] = block.signature
    return thinking


def _image(turn: Turn, block: ImageBlock, place: str) -> dict[str, Any]:
    media_type = MEDIA_TYPES.get(block.mimeType.lower())
    if media_type is None:
        known = ", ".join(sorted(set(MEDIA_TYPES.values())))
        fault = f"anthropic takes images of the types {known}, not {block.mimeType!r}"
        turn.refuse(ConversionRefused(fault, place=place))
    source = {"type": "base64", "media_type": media_type, "data": block.data}
    return {"type": "image", "source": source}


def _tool_result(turn: Turn, answer: Answer) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    for block in answer.result.blocks:
        if isinstance(block, ImageBlock):
            content.append(_image(turn, block, answer.place))
        elif block.text:
            content.append({"type": "text", "text": block.text})
    written: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": turn.answered_id(answer),
        "content": content,
    }
    if answer.result.is_error:
        written["is_error"] = True
    return written


def _read_message(value: object, place: str) -> Message:
    wire = read_object(value, place)
    match wire.get("role"):
        case "user" | "assistant" | "system" as role:
            blocks = _read_content(wire.get("content"), f"{place}.content")
            if not blocks:
                raise ImportRefused(f"the {role} message has no content", place=place)
            detail = leftovers(wire, {"role", "content"})
            return make_message(role, blocks, detail, place=place)
        case role:
            raise ImportRefused(f"anthropic has no role {role!r}", place=place)


def _read_content(content: object, place: str) -> list[Block]:
    if isinstance(content, str):
        return [parse_block({"type": "text", "text": content}, place)]
    return [
        _read_part(read_object(part, f"{place}[{position}]"), f"{place}[{position}]")
        for position, part in enumerate(read_list(content, place, "a text or a list of parts"))
    ]


def _read_part(part: dict[str, Any], place: str) -> Block:
    kind = part.get("type")
    known = _PART_KEYS.get(kind) if isinstance(kind, str) else None
    if known is None:
        raise ImportRefused(f"content of the type {kind!r} has no block here", place=place)
    detail = leftovers(part, {"type", "cache_control", *known})
    wire = {name: part[key] for key, name in known.items() if part.get(key) is not None}
    match kind:
        case "text":
            wire["type"] = "text"
        case "image":
            wire = _read_image(part, place)
        case "thinking":
            wire["type"] = "reasoning"
        case "redacted_thinking":
            detail["redacted_data"] = _redacted_data(part, place)
            wire = {"type": "reasoning", "text": ""}
        case "tool_use":
            wire["type"] = "tool_call"
        case _:
            wire["type"] = "tool_result"
            wire["blocks"] = _read_content(part.get("content"), f"{place}.content")
    return parse_block({**wire, "detail": detail or None}, place)


def _redacted_data(part: dict[str, Any], place: str) -> str:
    data = part.get("data")
    if not isinstance(data, str):
        raise ImportRefused(f"must be a text, not {kind_of(data)}", place=f"{place}.data")
    return data


def _read_image(part: dict[str, Any], place: str) -> dict[str, Any]:
    source = read_object(part.get("source"), f"{place}.source")
    if source.get("type") != "base64":
        raise ImportRefused(
            f"an image with a source of the type {source.get('type')!r} is not fetched; "
            "only base64 data can be imported",
            place=place,
        )
    return {"type": "image", "data": source.get("data"), "mimeType": source.get("media_type")}
