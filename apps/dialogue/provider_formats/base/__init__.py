"""What the provider formats share; a format imports this and no other format."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from apps.dialogue.message import Message
from apps.dialogue.provider_formats.base.chat_reading import read_chat
from apps.dialogue.provider_formats.base.chat_writing import (
    OPENAI_LONGEST_ID,
    OPENAI_TOOL_NAME,
    image_url,
    refuse_redacted,
    write_chat,
)
from apps.dialogue.provider_formats.base.reading import (
    leftovers,
    read_arguments,
    read_data_url,
    read_list,
    read_object,
)
from apps.dialogue.provider_formats.base.refusing import Refuse, refuse_at_once
from apps.dialogue.provider_formats.base.turns import (
    ERROR_MARKER,
    Answer,
    LeadBlock,
    Turn,
    check_tool_names,
    clean_ids,
    lay_out,
    leading_system,
    marked_text,
    shorten_ids,
)


class Writer(Protocol):
    """Writes a conversation, and hands ``refuse`` what the format cannot carry: it raises."""

    def __call__(self, messages: Sequence[Message], refuse: Refuse = ..., /) -> Any: ...


@dataclass(frozen=True, slots=True)
class ProviderFormat:
    """A provider's shape of a conversation, in both directions.

    ``write`` refuses what the format cannot carry with ``ConversionRefused`` or ``PairingError``;
    ``read`` raises ``ImportRefused`` or ``InvalidMessage``. Neither drops or guesses anything.
    """

    name: str
    title: str
    write: Writer
    read: Callable[[object], tuple[Message, ...]]


__all__ = [
    "ERROR_MARKER",
    "OPENAI_LONGEST_ID",
    "OPENAI_TOOL_NAME",
    "Answer",
    "LeadBlock",
    "ProviderFormat",
    "Refuse",
    "Turn",
    "check_tool_names",
    "clean_ids",
    "image_url",
    "lay_out",
    "leading_system",
    "leftovers",
    "marked_text",
    "read_arguments",
    "read_chat",
    "read_data_url",
    "read_list",
    "read_object",
    "refuse_at_once",
    "refuse_redacted",
    "shorten_ids",
    "write_chat",
]
