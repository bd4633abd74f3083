"""OpenRouter: Chat Completions under its own name, so that a refusal says who refuses."""

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


def write_openrouter(
    messages: Sequence[Message], refuse: Refuse = refuse_at_once
) -> list[dict[str, Any]]:
    """Return the ``messages`` of a request to OpenRouter; see ``write_chat``."""
    return write_chat(messages, "openrouter", refuse)


FORMAT = ProviderFormat("openrouter", "OpenRouter", write_openrouter, read_chat)
