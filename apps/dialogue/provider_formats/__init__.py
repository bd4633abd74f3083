"""Conversations in the shapes of the providers, both ways.

A new format is one module here and one entry in ``FORMATS``. The rules are those of the conversion
cases (``tests/kits/cases/conversion.jsonl``): what a format cannot carry is refused with its place,
never dropped; inputs are never changed.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from apps.dialogue.errors import ConversionRefused
from apps.dialogue.message import Message, conversation_to_wire, parse_conversation
from apps.dialogue.provider_formats import (
    anthropic,
    google,
    openai_chat,
    openai_responses,
    openrouter,
)
from apps.dialogue.provider_formats.base import ProviderFormat

FORMATS: Final[dict[str, ProviderFormat]] = {
    "openai": openai_chat.FORMAT,
    "openrouter": openrouter.FORMAT,
    "anthropic": anthropic.FORMAT,
    "google": google.FORMAT,
    "responses": openai_responses.FORMAT,
}

import_openai = openai_chat.FORMAT.read
import_anthropic = anthropic.FORMAT.read
import_google = google.FORMAT.read
from_responses = openai_responses.FORMAT.read


def convert(
    messages: Sequence[Message | Mapping[str, Any]],
    format: str | None,  # noqa: A002 - the word of the openreward client
) -> Any:
    """Return a conversation, given as messages or as canonical wire dicts, in a provider's shape.

    ``None`` returns the canonical wire. Raises ``InvalidMessage``, ``PairingError`` or
    ``ConversionRefused`` naming ``messages[i]`` and what is wrong or cannot be carried.
    """
    conversation = parse_conversation(messages)
    if format is None:
        return conversation_to_wire(conversation)
    if format not in FORMATS:
        raise ConversionRefused(f"unknown format {format!r}; there are {', '.join(FORMATS)}")
    return FORMATS[format].write(conversation)


def to_responses(messages: Sequence[Message | Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a conversation as input items of the Responses API; see ``convert``."""
    items: list[dict[str, Any]] = convert(messages, "responses")
    return items


__all__ = [
    "FORMATS",
    "ProviderFormat",
    "convert",
    "from_responses",
    "import_anthropic",
    "import_google",
    "import_openai",
    "to_responses",
]
