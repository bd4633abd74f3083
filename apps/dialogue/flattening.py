"""A conversation as the plain blocks of ``/prompt`` (rule F1).

Byte-identical to the reference (``openreward`` 0.1.167, ``environments/utils.py``): harnesses
compare these bytes and models see them, so nothing here is escaped, merged or prettified.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Never

from apps.dialogue.blocks import (
    Block,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from apps.dialogue.errors import ConversionRefused
from apps.dialogue.message import Message

ERROR_HEADER = "[tool_result (error)]"


def flatten(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the blocks of ``/prompt``; a lone user message of texts and images goes out as is."""
    if len(messages) == 1 and _is_plain(messages[0]):
        return [block.to_wire() for block in messages[0].blocks]
    flat: list[dict[str, Any]] = []
    for message in messages:
        flat.append(_text(f"[{message.role}]", {"role": message.role}))
        for block in message.blocks:
            flat.extend(_flat_block(block))
    return flat


def _is_plain(message: Message) -> bool:
    return message.role == "user" and not any(
        isinstance(block, ToolResultBlock) for block in message.blocks
    )


def _flat_block(block: Block) -> Iterator[dict[str, Any]]:
    match block:
        case TextBlock() | ImageBlock():
            yield block.to_wire()
        case ReasoningBlock():
            yield _text(f"<think>{block.text}</think>", {"type": "reasoning"})
        case ToolCallBlock():
            written = f"[tool_call {block.name}] {json.dumps(block.input)}"
            yield _text(written, {"type": "tool_call", "id": block.id})
        case ToolResultBlock():
            header = ERROR_HEADER if block.is_error else "[tool_result]"
            yield _text(header, {"type": "tool_result", "tool_call_id": block.tool_call_id})
            for inner in block.blocks:
                yield inner.to_wire()
        case _:
            _refuse(block)


def _text(text: str, detail: dict[str, Any]) -> dict[str, Any]:
    return {"text": text, "detail": detail, "type": "text"}


def _refuse(block: Never) -> Never:
    raise ConversionRefused(f"/prompt was not taught the block {block!r}")
