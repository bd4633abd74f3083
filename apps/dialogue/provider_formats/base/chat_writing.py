"""The message list of Chat Completions, as OpenAI and OpenRouter take it (rules O1 to O9)."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from apps.dialogue.blocks import ImageBlock, ReasoningBlock, TextBlock, ToolCallBlock
from apps.dialogue.message import Message
from apps.dialogue.provider_formats.base.refusing import Refuse, refuse_at_once
from apps.dialogue.provider_formats.base.turns import (
    LeadBlock,
    Turn,
    check_tool_names,
    lay_out,
    marked_text,
    shorten_ids,
)

OPENAI_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
OPENAI_LONGEST_ID = 64


def write_chat(
    messages: Sequence[Message], format_name: str, refuse: Refuse = refuse_at_once
) -> list[dict[str, Any]]:
    """Return the ``messages`` of a Chat Completions request.

    Refuses images outside user messages, redacted reasoning and tool names the provider does not
    take.
    """
    turns = lay_out(messages, format_name, refuse)
    check_tool_names(turns, OPENAI_TOOL_NAME)
    shorten_ids(turns, OPENAI_LONGEST_ID)
    written: list[dict[str, Any]] = []
    for turn in turns:
        if turn.role == "assistant":
            written.append(_assistant(turn))
        else:
            written.extend(_tool_messages(turn))
            if turn.blocks:
                written.append({"role": turn.role, "content": _content(turn, turn.blocks)})
    return written


def image_url(turn: Turn, block: ImageBlock) -> str:
    """Return an image of a user message as a data URL; refuses any other (rule O4)."""
    if turn.role != "user":
        fault = f"takes images in user messages only, not in a {turn.role} message"
        turn.refuse(turn.refusal(fault, block))
    return f"data:{block.mimeType};base64,{block.data}"


def refuse_redacted(turn: Turn, block: ReasoningBlock) -> None:
    """Refuse reasoning that only Anthropic can read back (rule A4)."""
    if block.detail and block.detail.get("redacted_data") is not None:
        fault = "cannot carry redacted reasoning (detail.redacted_data)"
        turn.refuse(turn.refusal(fault, block))


def _tool_messages(turn: Turn) -> Iterator[dict[str, Any]]:
    for answer in turn.answers:
        yield {
            "role": "tool",
            "tool_call_id": turn.answered_id(answer),
            "content": marked_text(answer, answer.text(turn)),
        }


def _assistant(turn: Turn) -> dict[str, Any]:
    reasoning: list[str] = []
    calls: list[dict[str, Any]] = []
    shown: list[LeadBlock] = []
    for block in turn.blocks:
        match block:
            case TextBlock() | ImageBlock():
                shown.append(block)
            case ReasoningBlock():
                refuse_redacted(turn, block)
                reasoning.append(block.text)
            case ToolCallBlock():
                function = {"name": block.name, "arguments": json.dumps(block.input)}
                call_id = turn.call_id(block)
                calls.append({"id": call_id, "type": "function", "function": function})
            case _:
                raise turn.untaught(block)
    content = _content(turn, shown) if shown else None if calls else ""
    written: dict[str, Any] = {"role": "assistant", "content": content}
    if reasoning:
        written["reasoning_content"] = "\n\n".join(reasoning)
    if calls:
        written["tool_calls"] = calls
    return written


def _content(turn: Turn, blocks: Sequence[LeadBlock]) -> str | list[dict[str, Any]]:
    """Return the text of a lone text block, else a list of parts."""
    first = blocks[0]
    if len(blocks) == 1 and isinstance(first, TextBlock):
        return first.text
    return [_part(turn, block) for block in blocks]


def _part(turn: Turn, block: LeadBlock) -> dict[str, Any]:
    match block:
        case TextBlock():
            return {"type": "text", "text": block.text}
        case ImageBlock():
            return {"type": "image_url", "image_url": {"url": image_url(turn, block)}}
        case ReasoningBlock() | ToolCallBlock():
            raise turn.refusal(f"takes no {block.type} block in a {turn.role} message", block)
        case _:
            raise turn.untaught(block)
