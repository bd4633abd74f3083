"""What content would be sent as."""

from typing import Any

from pydantic import Field

from apps.api.bodies.base import Answer
from apps.api.bodies.tasks import SentContent, Unready
from apps.api.parsing import Body


class PreviewWanted(Body):
    content: SentContent
    formats: list[str] = Field(
        ["prompt"],
        max_length=20,
        description="prompt, openai, openrouter, anthropic, google, responses",
    )


class Payload(Answer):
    """What a format sends, or why it cannot carry the conversation."""

    value: Any = Field(description="null if it is refused")
    refused: Unready | None


class Preview(Answer):
    unready: list[Unready] = Field(description="What keeps the content from being served")
    payloads: dict[str, Payload]
