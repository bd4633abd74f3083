"""The beginning of what is too large for a page, and in words how much of it is not shown.

Imported files bring turns of millions of characters and rows of a hundred thousand turns. A page
has `Room` for so much; each turn takes of it what it needs, up to limits of its own.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, assert_never

from apps.dialogue.blocks import (
    Block,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from apps.dialogue.message import Message
from apps.studio.figures import count
from apps.studio.forms.fields import json_shown

LONGEST_TEXT: Final = 20_000
"""Characters of one text, input or detail."""

LONGEST_NAME: Final = 200
"""Characters of a name or id."""

MOST_BLOCKS: Final = 50
"""Blocks of a turn, and blocks of a result."""

_DEEPEST: Final = 40


@dataclass(slots=True)
class Room:
    """What a page still has room for: characters of text, and characters of images in base64."""

    characters: int = 2_000_000
    images: int = 20_000_000


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A message as a page shows it; ``left_out`` says what is missing, empty if nothing is."""

    message: Message
    left_out: str


def excerpt(message: Message, room: Room) -> Excerpt:
    """As much of a message as there is ``room`` for, which is used up by it.

    An image too large stays where it stands, without its data and with words for its type.
    """
    cut = _Cut(room)
    blocks = tuple(cut.blocks(message.blocks))
    shown = message.model_copy(update={"blocks": blocks, "detail": cut.value(message.detail)})
    return Excerpt(shown, cut.said)


def excerpt_of_detail(detail: dict[str, Any] | None, room: Room) -> tuple[str, str]:
    """A detail as JSON text, empty if there is none, and what of it is left out."""
    cut = _Cut(room)
    shown = cut.value(detail)
    return json_shown(shown) if shown else "", cut.said


def beginning(value: Any, characters: int) -> Any:
    """The first items and texts of a JSON value, about ``characters`` of them."""
    return _beginning(value, [characters], 0)


def _beginning(value: Any, left: list[int], depth: int) -> Any:
    left[0] -= 2 * depth + 2  # brackets, commas, and how far the value is indented
    if isinstance(value, str):
        shown = value[: max(0, left[0])]
        left[0] -= len(shown)
        return shown if len(shown) == len(value) else f"{shown}…"
    if isinstance(value, dict | list) and value and depth == _DEEPEST:
        return "…"
    if isinstance(value, dict):
        made: dict[str, Any] = {}
        for name, each in value.items():
            if left[0] <= 0:
                break
            left[0] -= min(len(name), LONGEST_NAME)
            made[_short(name)] = _beginning(each, left, depth + 1)
        return made
    if isinstance(value, list):
        items: list[Any] = []
        for each in value:
            if left[0] <= 0:
                break
            items.append(_beginning(each, left, depth + 1))
        return items
    left[0] -= value.bit_length() // 3 if isinstance(value, int) else 8
    return value


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


@dataclass(slots=True)
class _Cut:
    """Cuts the parts of one message short and counts what is left out, by what it is."""

    room: Room
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def said(self) -> str:
        parts = [
            f"{count(number)} {name}{'' if number == 1 else 's'}"
            for name, number in self.left_out.items()
        ]
        return f"Not shown: {', '.join(parts)}." if parts else ""

    def text(self, text: str) -> str:
        shown = text[: min(LONGEST_TEXT, self.room.characters)]
        self.room.characters -= len(shown)
        if len(shown) == len(text):
            return text
        self.left_out["character"] += len(text) - len(shown)
        return f"{shown}…"

    def name(self, name: str) -> str:
        self.left_out.update({"character": over} if (over := len(name) - LONGEST_NAME) > 0 else {})
        return _short(name)

    def value(self, value: dict[str, Any] | None) -> dict[str, Any] | None:
        if not value:
            return value
        length = len(json_shown(value))
        allowed = min(LONGEST_TEXT, self.room.characters)
        self.room.characters -= min(length, allowed)
        if length <= allowed:
            return value
        shown: dict[str, Any] = beginning(value, allowed)
        self.left_out["character"] += max(1, length - len(json_shown(shown)))
        return shown

    def blocks(self, blocks: tuple[Any, ...]) -> Iterable[Any]:
        if len(blocks) > MOST_BLOCKS:
            self.left_out["block"] += len(blocks) - MOST_BLOCKS
        return (self.block(each) for each in blocks[:MOST_BLOCKS])

    def block(self, block: Block) -> Block:
        changed: dict[str, Any] = {"detail": self.value(block.detail)}
        match block:
            case TextBlock() | ReasoningBlock():
                changed["text"] = self.text(block.text)
            case ImageBlock():
                changed |= self.image(block)
            case ToolCallBlock():
                changed["id"] = self.name(block.id)
                changed["name"] = self.name(block.name)
                changed["input"] = self.value(block.input)
            case ToolResultBlock():
                changed["tool_call_id"] = self.name(block.tool_call_id)
                changed["blocks"] = tuple(self.blocks(block.blocks))
            case _:
                assert_never(block)
        return block.model_copy(update=changed)

    def image(self, block: ImageBlock) -> dict[str, Any]:
        kind = self.name(block.mimeType)
        if len(block.data) <= self.room.images:
            self.room.images -= len(block.data)
            return {"mimeType": kind}
        self.left_out["image"] += 1
        return {"mimeType": f"{kind}, too large to be shown", "data": ""}
