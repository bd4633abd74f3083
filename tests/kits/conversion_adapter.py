"""The adapter that ``check_conversion.py`` describes: a thin layer over ``apps.dialogue``."""

from typing import Any

from apps.dialogue.flattening import flatten as flatten_messages
from apps.dialogue.message import parse_conversation, parse_message
from apps.dialogue.provider_formats import (
    convert,
    from_responses,
    import_anthropic,
    import_openai,
    to_responses,
)

__all__ = [
    "convert",
    "flatten",
    "from_responses",
    "import_anthropic",
    "import_openai",
    "parse",
    "to_responses",
]


def flatten(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return flatten_messages(parse_conversation(messages))


def parse(message: dict[str, Any]) -> dict[str, Any]:
    return parse_message(message).to_wire()
