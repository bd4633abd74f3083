"""The Messages API of Anthropic: what it refuses though its format carries it."""

from collections.abc import Iterator, Sequence

from apps.dialogue.blocks import ImageBlock, ReasoningBlock
from apps.dialogue.pairing import Problem
from apps.dialogue.preflight.tools import ToolRules
from apps.dialogue.preflight.turns import (
    image_faults,
    is_blank,
    only_system,
    open_calls,
    rewritten_ids,
    unread_parts,
    warning,
)
from apps.dialogue.provider_formats.anthropic import TOOL_ID, TOOL_NAME, visible
from apps.dialogue.provider_formats.base import Turn, clean_ids

TOOLS = ToolRules(TOOL_NAME, wants_tools=True)


def cautions(turns: Sequence[Turn]) -> Iterator[Problem]:
    """Yield what the API refuses, always or of newer models."""
    clean_ids(turns, TOOL_ID)
    spoken = [turn for turn in turns if turn.role != "system"]
    yield from only_system(turns, "anthropic")
    yield from _ends(spoken)
    yield from open_calls(turns)
    yield from rewritten_ids(turns)
    yield from unread_parts(turns)
    yield from image_faults(turns, None)
    for turn in spoken:
        yield from _answers(turn)
        if turn.role == "assistant":
            yield from _assistant(turn)


def _ends(spoken: Sequence[Turn]) -> Iterator[Problem]:
    if spoken and spoken[0].role == "assistant":
        fault = "anthropic refuses a conversation that begins with the assistant"
        yield warning(spoken[0].place(), fault)
    if spoken and spoken[-1].role == "assistant" and not spoken[-1].calls:
        fault = (
            "anthropic goes on with a last message of the assistant; newer models, and all of "
            "them while thinking, refuse it"
        )
        yield warning(spoken[-1].place(), fault)


def _assistant(turn: Turn) -> Iterator[Problem]:
    for block in turn.blocks:
        if isinstance(block, ImageBlock):
            fault = "anthropic refuses images in messages of the assistant"
            yield warning(turn.place(block), fault)
        elif isinstance(block, ReasoningBlock) and not (block.signature or _is_redacted(block)):
            yield warning(turn.place(block), "anthropic refuses thinking without its signature")
    written = visible(turn.blocks)
    if written and isinstance(written[-1], ReasoningBlock):
        fault = "anthropic refuses a message that ends with thinking"
        yield warning(turn.place(written[-1]), fault)


def _answers(turn: Turn) -> Iterator[Problem]:
    for answer in turn.answers:
        held = answer.result.blocks
        if answer.result.is_error and any(block.type == "image" for block in held):
            fault = "anthropic takes text only in the result of a failed call"
            yield warning(answer.place, fault)
        for position, block in enumerate(held):
            if is_blank(block) and block.type == "text" and block.text:
                fault = "anthropic refuses a result whose text is white space alone"
                yield warning(f"{answer.place}.blocks[{position}]", fault)


def _is_redacted(block: ReasoningBlock) -> bool:
    return (block.detail or {}).get("redacted_data") is not None
