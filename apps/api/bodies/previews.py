"""What content would be sent as."""

from typing import Any, Literal

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


class SendingProblem(Answer):
    """An error is what the format refuses. A warning is what the provider's API refuses, always or
    for some models, and what goes out changed."""

    place: str
    message: str
    severity: Literal["error", "warning"]


class BlockTokens(Answer):
    tokens: int
    images: int = Field(description="Not counted in tokens: their price is the model's own")


class TurnTokens(BlockTokens):
    blocks: list[BlockTokens]


class Tokens(Answer):
    """Tokens of the texts that a model reads, without what an API puts around them."""

    tokenizer: str = Field(description="Whose tokens these are, or: estimate")
    exact: bool
    tokens: int
    images: int
    turns: list[TurnTokens]


class Preview(Answer):
    unready: list[Unready] = Field(description="What keeps the content from being served")
    payloads: dict[str, Payload]
    problems: dict[str, list[SendingProblem]] = Field(
        description="By format: all that the provider would refuse, errors first"
    )
    tokens: Tokens
