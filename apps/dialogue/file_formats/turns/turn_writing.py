"""Conversations as turns of Chat Completions for files, one message after another.

A file keeps what a request would lose: weight, name, the role developer, the order of messages.
"""

import json
from collections.abc import Sequence
from typing import Any

from apps.dialogue.blocks import (
    Block,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from apps.dialogue.blocks.json_values import json_copy
from apps.dialogue.file_formats.base.rows import Loss
from apps.dialogue.message import Message
from apps.dialogue.provider_formats.base import ERROR_MARKER

_MESSAGE_KEYS = ("name", "weight")
"""What OpenAI has a place for in a message, and we keep in its detail."""


def write_turns(
    messages: Sequence[Message], losses: list[Loss], *, place: str = "messages"
) -> list[dict[str, Any]]:
    """Return messages with role and content; what they cannot carry is a loss with its place.

    Losses are: images anywhere but in a user's message, signatures and redacted reasoning,
    results that are errors (marked in their text), messages without content (left out). What is
    merely read back in another order or without its detail is left to ``check_written``.
    """
    written: list[dict[str, Any]] = []
    for index, message in enumerate(messages):
        written += _Turns(message, losses, f"{place}[{index}]").write()
    return written


class _Turns:
    def __init__(self, message: Message, losses: list[Loss], place: str) -> None:
        self._message = message
        self._losses = losses
        self._place = place

    def write(self) -> list[dict[str, Any]]:
        if not self._message.blocks:
            self._lose("the message has no content and was left out")
            return []
        if self._message.role == "assistant":
            return [self._assistant()]
        results = [b for b in self._message.blocks if isinstance(b, ToolResultBlock)]
        others = [b for b in self._message.blocks if not isinstance(b, ToolResultBlock)]
        turns = [self._result(block) for block in results]
        if others:
            turns.append({"role": self._role(), "content": self._content(others), **self._extras()})
        return turns

    def _role(self) -> str:
        detail = self._message.detail or {}
        developer = self._message.role == "system" and detail.get("role") == "developer"
        return "developer" if developer else self._message.role

    def _extras(self) -> dict[str, Any]:
        detail = self._message.detail or {}
        return {key: json_copy(detail[key]) for key in _MESSAGE_KEYS if detail.get(key) is not None}

    def _assistant(self) -> dict[str, Any]:
        blocks = self._message.blocks
        shown = [b for b in blocks if isinstance(b, TextBlock | ImageBlock) and not _refused(b)]
        refused = [b.text for b in blocks if isinstance(b, TextBlock) and _refused(b)]
        reasons = [self._reason(b) for b in blocks if isinstance(b, ReasoningBlock)]
        calls = [self._call(b) for b in blocks if isinstance(b, ToolCallBlock)]
        empty = None if calls or refused else ""
        turn: dict[str, Any] = {
            "role": "assistant",
            "content": self._content(shown) if shown else empty,
        }
        if reasons:
            turn["reasoning_content"] = "\n\n".join(reasons)
        if refused:
            turn["refusal"] = "\n".join(refused)
        if calls:
            turn["tool_calls"] = calls
        return {**turn, **self._extras()}

    def _content(self, blocks: Sequence[Block]) -> str | list[dict[str, Any]]:
        only = blocks[0]
        if len(blocks) == 1 and isinstance(only, TextBlock):
            return only.text
        return [self._part(b) for b in blocks if isinstance(b, TextBlock | ImageBlock)]

    def _part(self, block: TextBlock | ImageBlock) -> dict[str, Any]:
        if isinstance(block, TextBlock):
            return {"type": "text", "text": block.text}
        if self._message.role != "user":
            self._lose(f"an image cannot stand in a {self._message.role} message", block)
        image = {"url": f"data:{block.mimeType};base64,{block.data}"}
        if (level := (block.detail or {}).get("detail")) in ("low", "high", "auto"):
            image["detail"] = level  # how closely a model is to look
        return {"type": "image_url", "image_url": image}

    def _reason(self, block: ReasoningBlock) -> str:
        if (block.detail or {}).get("redacted_data") is not None:
            self._lose("redacted reasoning has no place in this format", block)
        if block.signature is not None:
            self._lose("the signature of reasoning has no place in this format", block)
        return block.text

    def _call(self, block: ToolCallBlock) -> dict[str, Any]:
        arguments = json.dumps(block.input, ensure_ascii=False)
        function = {"name": block.name, "arguments": arguments}
        return {"id": block.id, "type": "function", "function": function}

    def _result(self, block: ToolResultBlock) -> dict[str, Any]:
        if any(isinstance(each, ImageBlock) for each in block.blocks):
            self._lose("an image in a tool's result has no place in this format", block)
        texts = [each.text for each in block.blocks if isinstance(each, TextBlock)]
        if block.is_error:
            self._lose("that the result is an error stands in its text alone", block)
            texts = ["\n".join([ERROR_MARKER, *texts])]
        content: str | list[dict[str, Any]] = "".join(texts)
        if len(texts) > 1:
            content = [{"type": "text", "text": text} for text in texts]
        turn = {"role": "tool", "tool_call_id": block.tool_call_id, "content": content}
        name = (block.detail or {}).get("name")
        return {**turn, "name": name} if isinstance(name, str) else turn

    def _lose(self, message: str, block: Block | None = None) -> None:
        place = self._place
        for position, each in enumerate(self._message.blocks):
            if each is block:
                place += f".blocks[{position}]"
                break
        self._losses.append(Loss(place, message))


def _refused(block: Block) -> bool:
    return (block.detail or {}).get("refusal") is True
