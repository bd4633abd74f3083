"""Chat Completions of OpenAI: rules O1 to O9 and I1 to I8."""

from collections.abc import Sequence
from typing import Any

from apps.dialogue.message import Message
from apps.dialogue.provider_formats.base import (
    ProviderFormat,
    Refuse,
    read_chat,
    refuse_at_once,
    write_chat,
)


def write_openai(
    messages: Sequence[Message], refuse: Refuse = refuse_at_once
) -> list[dict[str, Any]]:
    """Return the ``messages`` of a Chat Completions request; see ``write_chat``."""
    return write_chat(messages, "openai", refuse)


FORMAT = ProviderFormat("openai", "OpenAI Chat Completions", write_openai, read_chat)
