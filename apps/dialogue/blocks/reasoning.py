from typing import Any, ClassVar, Literal

from apps.dialogue.blocks.base import BlockBase, Role, Text


class ReasoningBlock(BlockBase):
    """A piece of an assistant's reasoning; ``signature`` is the provider's seal on it."""

    ROLES: ClassVar[frozenset[Role]] = frozenset({"assistant"})

    type: Literal["reasoning"] = "reasoning"
    text: Text
    signature: Text | None = None

    def to_wire(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "signature": self.signature,
            "detail": self.detail_to_wire(),
            "type": "reasoning",
        }
