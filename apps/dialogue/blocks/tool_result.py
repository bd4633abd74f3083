from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from apps.dialogue.blocks.base import BlockBase, BlockList, Identifier, Role
from apps.dialogue.blocks.image import ImageBlock
from apps.dialogue.blocks.text import TextBlock

ResultBlock = Annotated[TextBlock | ImageBlock, Field(discriminator="type")]


class ToolResultBlock(BlockBase):
    """What a tool answered to the call ``tool_call_id``: texts and images, or nothing."""

    ROLES: ClassVar[frozenset[Role]] = frozenset({"user"})

    type: Literal["tool_result"] = "tool_result"
    tool_call_id: Identifier
    blocks: Annotated[tuple[ResultBlock, ...], BlockList]
    is_error: bool = False

    def to_wire(self) -> dict[str, Any]:
        return {
            "tool_call_id": self.tool_call_id,
            "blocks": [block.to_wire() for block in self.blocks],
            "is_error": self.is_error,
            "detail": self.detail_to_wire(),
            "type": "tool_result",
        }
