"""Recorded conversations inside of rows: traces as items of Open Responses."""

import json
from collections.abc import Sequence
from typing import Any

from apps.dialogue.blocks import ImageBlock, ReasoningBlock
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.base.rows import Loss
from apps.dialogue.file_formats.turns.response_items import item_type, read_response_items
from apps.dialogue.message import Message
from apps.dialogue.trace import to_open_responses

TRACE_COLUMN = "conversation_trace"
"""Where LatticeFlow's dataset rows have the conversation that ``load_trace`` loads."""

_ITEMS = frozenset({"message", "function_call", "function_call_output", "reasoning"})


def trace_items(value: object) -> list[Any] | None:
    """Return the items of a trace: an object with items, a list of items, or JSON text of them."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    if isinstance(value, dict):
        value = value.get("items")
    if not isinstance(value, list) or not value or not isinstance(value[0], dict):
        return None
    return value if item_type(value[0]) in _ITEMS else None


def read_trace_column(row: dict[str, Any], notes: list[Note]) -> tuple[Message, ...] | None:
    """Read the conversation under ``conversation_trace``; None if there is no trace.

    Raises ``ImportRefused`` or ``InvalidMessage`` naming the item.
    """
    items = trace_items(row.get(TRACE_COLUMN))
    if items is None:
        return None
    messages = read_response_items(items, notes, place=f"{TRACE_COLUMN}.items")
    reason = f"the recorded conversation became the messages ({len(messages)})"
    notes.append(Note("converted", TRACE_COLUMN, reason))
    return messages


def write_trace(
    messages: Sequence[Message], losses: list[Loss], metadata: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return a trace that ``latticeflow.core.dtypes.Trace`` reads.

    Losses are what that type has no place for: reasoning, images in an assistant's message,
    messages without blocks. What is merely read back otherwise is left to ``check_written``.
    """
    for index, message in enumerate(messages):
        if not message.blocks:
            losses.append(Loss(f"messages[{index}]", "a trace has no message without content"))
        for position, block in enumerate(message.blocks):
            place = f"messages[{index}].blocks[{position}]"
            if isinstance(block, ReasoningBlock):
                losses.append(Loss(place, "a trace has no place for reasoning"))
            elif isinstance(block, ImageBlock) and message.role == "assistant":
                losses.append(Loss(place, "a trace takes no image in an assistant's message"))
    carried = [_carried(message) for message in messages]
    return to_open_responses([each for each in carried if each.blocks], metadata)


def _carried(message: Message) -> Message:
    """Return a message without the images that a trace does not take there."""
    if message.role != "assistant":
        return message
    blocks = tuple(block for block in message.blocks if not isinstance(block, ImageBlock))
    return message.model_copy(update={"blocks": blocks})
