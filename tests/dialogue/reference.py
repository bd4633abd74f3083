"""Conversations as the ``openreward`` package itself holds them, to compare with what it does."""

from collections.abc import Iterable
from typing import Any

from openreward.api.environments import types

from apps.dialogue.message import Message, conversation_to_wire

BLOCKS: dict[str, Any] = {
    "text": types.TextBlock,
    "image": types.ImageBlock,
    "reasoning": types.ReasoningBlock,
    "tool_call": types.ToolCallBlock,
    "tool_result": types.ToolResultBlock,
}


def as_the_client_holds(messages: Iterable[Message]) -> list[Any]:
    """The dataclasses that the client makes of what the server sent."""
    return [
        types.Message(role=each["role"], blocks=_blocks(each["blocks"]), detail=each["detail"])
        for each in conversation_to_wire(messages)
    ]


def _blocks(wires: list[dict[str, Any]]) -> list[Any]:
    made = []
    for wire in wires:
        fields = dict(wire)
        if "blocks" in fields:
            fields["blocks"] = _blocks(fields["blocks"])
        made.append(BLOCKS[wire["type"]](**fields))
    return made
