"""Counting a conversation: its texts in one batch, then the sums of blocks and turns."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from apps.dialogue.blocks import (
    Block,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from apps.dialogue.message import Message
from apps.dialogue.token_counts.tokenizers import ESTIMATE, available_tokenizers, counts_of


@dataclass(frozen=True, slots=True)
class BlockTokens:
    """A block: ``tokens`` of its texts, and the ``images`` in it, which are not counted."""

    tokens: int
    images: int


@dataclass(frozen=True, slots=True)
class TurnTokens:
    """A turn: its sums, and its blocks one by one."""

    tokens: int
    images: int
    blocks: tuple[BlockTokens, ...]


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """A conversation: ``tokenizer`` is whose tokens these are, or ``estimate``."""

    tokenizer: str
    tokens: int
    images: int
    turns: tuple[TurnTokens, ...]

    @property
    def exact(self) -> bool:
        """Whether the tokens were counted with the tokenizer's own vocabulary."""
        return self.tokenizer != ESTIMATE


def count_tokens(messages: Sequence[Message], tokenizer: str | None = None) -> TokenCounts:
    """Count a conversation, block by block.

    ``tokenizer`` is one of ``available_tokenizers()``; by default the first of them. Raises
    ``SpecError`` for another one.
    """
    chosen = tokenizer or available_tokenizers()[0]
    texts = [list(_texts(block)) for message in messages for block in message.blocks]
    counted = iter(counts_of([text for each in texts for text in each], chosen))
    of_blocks = iter([sum(next(counted) for _ in each) for each in texts])
    turns = tuple(_turn(message, of_blocks) for message in messages)
    return TokenCounts(
        tokenizer=chosen,
        tokens=sum(turn.tokens for turn in turns),
        images=sum(turn.images for turn in turns),
        turns=turns,
    )


def count_text(text: str, tokenizer: str | None = None) -> int:
    """Count the tokens of one text; see ``count_tokens``."""
    return counts_of([text], tokenizer or available_tokenizers()[0])[0]


def _turn(message: Message, tokens: Iterator[int]) -> TurnTokens:
    blocks = tuple(BlockTokens(next(tokens), _images(block)) for block in message.blocks)
    return TurnTokens(
        tokens=sum(block.tokens for block in blocks),
        images=sum(block.images for block in blocks),
        blocks=blocks,
    )


def _texts(block: Block) -> Iterator[str]:
    """Return what a model reads of a block, a text each."""
    match block:
        case TextBlock() | ReasoningBlock():
            yield block.text
        case ToolCallBlock():
            yield block.name
            yield json.dumps(block.input, ensure_ascii=False)
        case ToolResultBlock():
            yield from (part.text for part in block.blocks if part.type == "text")
        case ImageBlock():
            return
        case _:
            assert_never(block)


def _images(block: Block) -> int:
    match block:
        case ImageBlock():
            return 1
        case ToolResultBlock():
            return sum(part.type == "image" for part in block.blocks)
        case TextBlock() | ReasoningBlock() | ToolCallBlock():
            return 0
        case _:
            assert_never(block)
