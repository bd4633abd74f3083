"""Messages as Open Responses items, the way a trace lists them.

Each item has what ``latticeflow.core.dtypes`` asks for (``id``, ``status``) and one thing more:
``is_error`` on the output of a tool that failed. Its item types have no place for reasoning, so
reasoning becomes an item of its own kind that the writer of a trace can leave out by name.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, assert_never

from apps.dialogue.blocks import (
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from apps.dialogue.message import Message

Item = dict[str, Any]


def messages_to_items(messages: Iterable[Message]) -> list[Item]:
    """Return the items of a conversation, in order, reasoning included."""
    return [item for message in messages for item in message_to_items(message)]


def message_to_items(message: Message) -> Iterator[Item]:
    """Return the items of one message: texts and images that stand together are one item."""
    if not message.blocks:
        yield _message_item(message.role, ())
    visible: list[TextBlock | ImageBlock] = []
    for block in message.blocks:
        if isinstance(block, TextBlock | ImageBlock):
            visible.append(block)
            continue
        if visible:
            yield _message_item(message.role, visible)
            visible = []
        yield _other_item(block)
    if visible:
        yield _message_item(message.role, visible)


def _message_item(role: str, blocks: Sequence[TextBlock | ImageBlock]) -> Item:
    content = [_part(block, role) for block in blocks]
    return {"type": "message", "id": "", "status": "completed", "role": role, "content": content}


def _part(block: TextBlock | ImageBlock, role: str = "user") -> Item:
    match block:
        case TextBlock() if role == "assistant":
            return {"type": "output_text", "text": block.text, "annotations": []}
        case TextBlock():
            return {"type": "input_text", "text": block.text}
        case ImageBlock():
            url = f"data:{block.mimeType};base64,{block.data}"
            return {"type": "input_image", "image_url": url, "detail": "auto"}
        case _:
            assert_never(block)


def _other_item(block: ReasoningBlock | ToolCallBlock | ToolResultBlock) -> Item:
    match block:
        case ReasoningBlock():
            content = [{"type": "reasoning_text", "text": block.text}]
            return {"type": "reasoning", "id": "", "summary": [], "content": content}
        case ToolCallBlock():
            return {
                "type": "function_call",
                "id": "",
                "call_id": block.id,
                "name": block.name,
                "arguments": json.dumps(block.input, ensure_ascii=False),
                "status": "completed",
            }
        case ToolResultBlock():
            item = {
                "type": "function_call_output",
                "id": "",
                "call_id": block.tool_call_id,
                "output": _result_output(block),
                "status": "completed",
            }
            return {**item, "is_error": True} if block.is_error else item
        case _:
            assert_never(block)


def _result_output(block: ToolResultBlock) -> str | list[Item]:
    """Return a tool's output: a text if that is all there is, else a list of parts."""
    match block.blocks:
        case ():
            return ""
        case (TextBlock() as only,):
            return only.text
        case blocks:
            return [_part(part) for part in blocks]


def results_of(message: Message) -> Iterator[ToolResultBlock]:
    return (block for block in message.blocks if isinstance(block, ToolResultBlock))
