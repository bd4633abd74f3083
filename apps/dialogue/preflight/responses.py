"""The Responses API: what OpenAI refuses of items that the open specification allows."""

from collections.abc import Iterator, Sequence

from apps.dialogue.blocks import ReasoningBlock
from apps.dialogue.pairing import Problem
from apps.dialogue.preflight.tools import ToolRules
from apps.dialogue.preflight.turns import (
    empty_request,
    image_faults,
    open_calls,
    rewritten_ids,
    unread_parts,
    warning,
)
from apps.dialogue.provider_formats.base import (
    OPENAI_LONGEST_ID,
    OPENAI_TOOL_NAME,
    Turn,
    shorten_ids,
)

IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
TOOLS = ToolRules(OPENAI_TOOL_NAME)


def cautions(turns: Sequence[Turn]) -> Iterator[Problem]:
    """Yield what the API refuses though the items carry it."""
    shorten_ids(turns, OPENAI_LONGEST_ID)
    yield from empty_request(turns, "responses")
    yield from open_calls(turns)
    yield from rewritten_ids(turns)
    yield from unread_parts(turns)
    yield from image_faults(turns, IMAGES)
    for turn in turns:
        yield from _reasoning(turn)


def _reasoning(turn: Turn) -> Iterator[Problem]:
    """Reasoning needs the id it was received with, and the item that it led to."""
    for position, block in enumerate(turn.blocks):
        if not isinstance(block, ReasoningBlock):
            continue
        detail = block.detail or {}
        if not (isinstance(detail.get("encrypted_content"), str) and detail.get("id")):
            fault = (
                "responses is sent reasoning without an id, which OpenAI refuses and other "
                "servers take: there is none without encrypted_content"
            )
            yield warning(turn.place(block), fault)
        elif all(isinstance(each, ReasoningBlock) for each in turn.blocks[position:]):
            fault = "responses refuses reasoning without the text or call that followed it"
            yield warning(turn.place(block), fault)
