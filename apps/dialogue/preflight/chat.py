"""Chat Completions: what OpenAI's own API, and OpenRouter's, refuse beyond the format."""

from collections.abc import Iterator, Sequence
from typing import Final

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

IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
TOOLS: Final = ToolRules(OPENAI_TOOL_NAME)


def openai_cautions(turns: Sequence[Turn]) -> Iterator[Problem]:
    """Yield what every Chat Completions API refuses, and reasoning, which OpenAI's does."""
    yield from _cautions(turns, "openai")
    for turn in turns:
        # One for a message: its reasoning goes out as one field.
        block = next((each for each in turn.blocks if isinstance(each, ReasoningBlock)), None)
        if block is not None:
            fault = (
                "openai is sent reasoning as reasoning_content, a field that OpenAI's own API "
                "refuses and other servers read"
            )
            yield warning(turn.place(block), fault)


def openrouter_cautions(turns: Sequence[Turn]) -> Iterator[Problem]:
    """Yield what every Chat Completions API refuses."""
    yield from _cautions(turns, "openrouter")


def _cautions(turns: Sequence[Turn], name: str) -> Iterator[Problem]:
    shorten_ids(turns, OPENAI_LONGEST_ID)
    yield from empty_request(turns, name)
    yield from open_calls(turns)
    yield from rewritten_ids(turns)
    yield from unread_parts(turns)
    yield from image_faults(turns, IMAGES)
