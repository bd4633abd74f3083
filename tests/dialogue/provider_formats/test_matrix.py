"""Every block type in every place it may stand, through every format: carried or refused by name.

A new block type or format fails here until somebody says what becomes of it.
"""

from typing import Any

import pytest

from apps.dialogue.blocks import BLOCK_MODELS, BLOCK_TYPES
from apps.dialogue.errors import ConversionRefused
from apps.dialogue.message import PLACEMENT
from apps.dialogue.provider_formats import FORMATS, convert

TEXT = {"type": "text", "text": "hello"}
IMAGE = {"type": "image", "data": "UE5H", "mimeType": "image/png"}
SPECIMENS: dict[str, dict[str, Any]] = {
    "text": TEXT,
    "image": IMAGE,
    "reasoning": {"type": "reasoning", "text": "a thought"},
    "tool_call": {"type": "tool_call", "id": "c9", "name": "f", "input": {"k": "v"}},
    "tool_result": {"type": "tool_result", "tool_call_id": "c1", "blocks": [TEXT]},
}
INNER = {"text": TEXT, "image": IMAGE}
ASK = {
    "role": "assistant",
    "blocks": [{"type": "tool_call", "id": "c1", "name": "ask", "input": {}}],
}
CHAT_REFUSES = {("system", "image"), ("assistant", "image"), ("tool_result", "image")}
REFUSED = {
    "openai": CHAT_REFUSES,
    "openrouter": CHAT_REFUSES,
    "anthropic": {("system", "image")},
    "google": {("system", "image"), ("assistant", "reasoning"), ("tool_result", "image")},
    "responses": {("system", "image"), ("assistant", "image")},
}
PLACES = [(role, block) for role in PLACEMENT for block in BLOCK_TYPES if block in PLACEMENT[role]]
PLACES += [("tool_result", block) for block in INNER]


def conversation(place: str, block: str) -> list[dict[str, Any]]:
    user = {"role": "user", "blocks": [TEXT]}
    if place == "tool_result":
        result = {"type": "tool_result", "tool_call_id": "c1", "blocks": [INNER[block]]}
        return [user, ASK, {"role": "user", "blocks": [result]}]
    message = {"role": place, "blocks": [SPECIMENS[block]]}
    if block == "tool_result":
        return [user, ASK, message]
    return [message, user] if place == "system" else [user, message]


def test_every_block_type_and_every_format_is_in_the_matrix() -> None:
    assert set(SPECIMENS) == set(BLOCK_MODELS)
    assert set(REFUSED) == set(FORMATS)


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize(("place", "block"), PLACES)
def test_a_block_is_carried_or_refused_by_name(place: str, block: str, name: str) -> None:
    messages = conversation(place, block)
    if (place, block) in REFUSED[name]:
        with pytest.raises(ConversionRefused) as refused:
            convert(messages, name)
        assert name in str(refused.value)
        assert block in str(refused.value)
        assert refused.value.place.startswith("messages[")
    else:
        written = repr(convert(messages, name))
        mark = {"text": "hello", "image": "UE5H", "reasoning": "a thought", "tool_call": "'f'"}
        assert mark.get(block, "hello") in written


@pytest.mark.parametrize("name", ["openai", "openrouter", "responses", "google"])
def test_redacted_reasoning_goes_to_anthropic_only(name: str) -> None:
    redacted = {"type": "reasoning", "text": "", "detail": {"redacted_data": "sealed"}}
    messages = [{"role": "assistant", "blocks": [redacted]}]
    assert "sealed" in repr(convert(messages, "anthropic"))
    with pytest.raises(ConversionRefused, match=f"{name} .*reasoning"):
        convert(messages, name)
