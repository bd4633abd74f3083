from typing import Any, ClassVar, Literal

from apps.dialogue.blocks.base import BlockBase, Identifier, Input, Role
from apps.dialogue.blocks.json_values import json_copy


class ToolCallBlock(BlockBase):
    """A call of a tool; the ToolResultBlock with its ``id`` answers it."""

    ROLES: ClassVar[frozenset[Role]] = frozenset({"assistant"})

    type: Literal["tool_call"] = "tool_call"
    id: Identifier
    name: Identifier
    input: Input

    def to_wire(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "input": json_copy(self.input),
            "detail": self.detail_to_wire(),
            "type": "tool_call",
        }
