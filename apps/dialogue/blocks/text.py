from typing import Any, ClassVar, Literal

from apps.dialogue.blocks.base import BlockBase, Role, Text


class TextBlock(BlockBase):
    """A piece of visible text."""

    ROLES: ClassVar[frozenset[Role]] = frozenset({"system", "user", "assistant"})

    type: Literal["text"] = "text"
    text: Text

    def to_wire(self) -> dict[str, Any]:
        return {"text": self.text, "detail": self.detail_to_wire(), "type": "text"}
