"""Chat Completions of OpenAI: rules O1 to O9 and I1 to I8."""

from collections.abc import Sequence
from typing import Any

from apps.dialogue.message import Message
from apps.dialogue.provider_formats.base import ProviderFormat, read_chat, write_chat


def write_openai(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Return the ``messages`` of a Chat Completions request; see ``write_chat``."""
    return write_chat(messages, "openai")


FORMAT = ProviderFormat("openai", "OpenAI Chat Completions", write_openai, read_chat)
