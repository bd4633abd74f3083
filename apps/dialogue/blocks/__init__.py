"""The block types, in the order in which servers advertise them.

A new block type is one new file here and one entry in ``Block`` and ``BLOCK_MODELS``: placement,
storage and schema follow. A provider format refuses, by name, a block it was not taught.
"""

from typing import Annotated, Final

from pydantic import Field

from apps.dialogue.blocks.base import BlockBase, Role
from apps.dialogue.blocks.image import ImageBlock
from apps.dialogue.blocks.reasoning import ReasoningBlock
from apps.dialogue.blocks.text import TextBlock
from apps.dialogue.blocks.tool_call import ToolCallBlock
from apps.dialogue.blocks.tool_result import ToolResultBlock

Block = Annotated[
    TextBlock | ImageBlock | ReasoningBlock | ToolCallBlock | ToolResultBlock,
    Field(discriminator="type"),
]

BLOCK_MODELS: Final[dict[str, type[BlockBase]]] = {
    "text": TextBlock,
    "image": ImageBlock,
    "reasoning": ReasoningBlock,
    "tool_call": ToolCallBlock,
    "tool_result": ToolResultBlock,
}

BLOCK_TYPES: Final[tuple[str, ...]] = tuple(BLOCK_MODELS)

__all__ = [
    "BLOCK_MODELS",
    "BLOCK_TYPES",
    "Block",
    "BlockBase",
    "ImageBlock",
    "ReasoningBlock",
    "Role",
    "TextBlock",
    "ToolCallBlock",
    "ToolResultBlock",
]
