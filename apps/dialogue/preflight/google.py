"""Google's generate_content: what Gemini refuses though its contents carry it."""

import re
from collections.abc import Iterator, Sequence

from apps.dialogue.pairing import Problem
from apps.dialogue.preflight.tools import ToolRules
from apps.dialogue.preflight.turns import (
    image_faults,
    only_system,
    open_calls,
    unread_parts,
    warning,
)
from apps.dialogue.provider_formats.base import Turn

IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
TOOL_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
TOOLS = ToolRules(TOOL_NAME)


def cautions(turns: Sequence[Turn]) -> Iterator[Problem]:
    """Yield what the API refuses, always or of newer models."""
    spoken = [turn for turn in turns if turn.role != "system"]
    yield from only_system(turns, "google")
    yield from _end(spoken)
    yield from open_calls(turns)
    yield from unread_parts(turns)
    yield from image_faults(turns, IMAGES)
    for before, turn in zip([None, *spoken], spoken, strict=False):
        yield from _calls(before, turn)
    yield from _signatures(spoken)


def _end(spoken: Sequence[Turn]) -> Iterator[Problem]:
    if spoken and spoken[-1].role == "assistant" and not spoken[-1].calls:
        fault = "google refuses a conversation that ends with the model"
        yield warning(spoken[-1].place(), fault)


def _calls(before: Turn | None, turn: Turn) -> Iterator[Problem]:
    if turn.calls and (before is None or before.role != "user"):
        fault = "google wants a message of the user, or results, right before a call"
        yield warning(turn.place(turn.calls[0]), fault)
    for call in turn.calls:
        if not TOOL_NAME.fullmatch(call.name):
            fault = f"google wants tool names like {TOOL_NAME.pattern}, not {call.name!r}"
            yield warning(turn.place(call), fault)


def _signatures(spoken: Sequence[Turn]) -> Iterator[Problem]:
    """Gemini 3 wants its thought signature back on the first call of each step since the user spoke
    last; a conversation does not carry it."""
    for turn in reversed(spoken):
        if turn.role == "user" and turn.blocks:
            return
        if turn.calls:
            fault = "google refuses, of Gemini 3 on, a call without the thought signature it gave"
            yield warning(turn.place(turn.calls[0]), fault)
