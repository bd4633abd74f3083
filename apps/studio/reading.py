"""A conversation as it is read: turns with a label and a hue, blocks with what a page needs.

Messages come in canonical form; what a message or block carries is shown or named, all of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from django.utils.safestring import SafeString

from apps.dialogue.blocks import (
    Block,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from apps.dialogue.candidates import Candidate
from apps.dialogue.message import Message
from apps.studio.forms.fields import json_shown
from apps.studio.markdown import rendered

FOLDED_LINES = 3
CHARACTERS_A_LINE = 80
SHOWN_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
LABELS = {"system": "System", "user": "User", "assistant": "Assistant"}


@dataclass(frozen=True, slots=True)
class ShownBlock:
    """A block for ``studio/blocks/{type}.html``; fields that its type lacks are empty.

    ``partner`` is the anchor of a call's result or a result's call, and ``joined`` says that the
    two stand next to each other, so that the bracket between them can be closed.
    """

    type: str
    anchor: str
    text: str = ""
    html: SafeString | str = ""
    is_long: bool = False
    signature: str = ""
    source: str = ""
    mime_type: str = ""
    name: str = ""
    call_id: str = ""
    input: str = ""
    is_error: bool = False
    blocks: tuple["ShownBlock", ...] = ()
    detail: str = ""
    partner: str = ""
    joined: bool = False

    @property
    def template(self) -> str:
        return f"studio/blocks/{self.type}.html"


@dataclass(frozen=True, slots=True)
class ShownMessage:
    """A turn for ``studio/parts/message.html``; ``hue`` is a role of the tokens, tool included."""

    anchor: str
    number: int
    role: str
    hue: str
    label: str
    blocks: tuple[ShownBlock, ...]
    detail: str = ""


def show_conversation(messages: Sequence[Message], *, prefix: str = "turn") -> list[ShownMessage]:
    """Every turn in order, numbered from 1; ``prefix`` begins their anchors."""
    return show_part(messages, dict(enumerate(messages)), prefix=prefix)


def show_part(
    messages: Sequence[Message], part: Mapping[int, Message], *, prefix: str = "turn"
) -> list[ShownMessage]:
    """The turns at the positions of ``part``, as they stand there: they may be cut short.

    Calls and results are paired among all ``messages``.
    """
    pairs = _pairs(messages, prefix)
    return [_message(message, index, prefix, pairs) for index, message in part.items()]


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """A candidate for ``studio/parts/candidates.html``: its verdict, whose it is, its turns.

    ``left_out`` says what of it is not shown.
    """

    verdict: str
    model: str
    messages: list[ShownMessage]
    detail: str
    left_out: str = ""


def show_answers(candidates: Sequence[Candidate]) -> list[ShownAnswer]:
    """Answers beside each other, in their order."""
    return [
        ShownAnswer(
            verdict=each.verdict,
            model=each.model,
            messages=show_conversation(each.messages, prefix=f"answer-{number}"),
            detail=json_shown(each.detail) if each.detail else "",
        )
        for number, each in enumerate(candidates, start=1)
    ]


def _anchor(prefix: str, message: int, block: int) -> str:
    return f"{prefix}-{message + 1}-{block + 1}"


@dataclass(frozen=True, slots=True)
class _Pair:
    call: str
    result: str
    joined: bool


def _pairs(messages: Sequence[Message], prefix: str) -> dict[str, _Pair]:
    """By the anchor of either half: a call and the first result with its id that follows it."""
    open_calls: dict[str, tuple[int, int]] = {}
    found: dict[str, _Pair] = {}
    for index, message in enumerate(messages):
        for place, block in enumerate(message.blocks):
            if isinstance(block, ToolCallBlock):
                open_calls.setdefault(block.id, (index, place))
            elif isinstance(block, ToolResultBlock) and block.tool_call_id in open_calls:
                at, position = open_calls.pop(block.tool_call_id)
                is_last = position == len(messages[at].blocks) - 1
                pair = _Pair(
                    call=_anchor(prefix, at, position),
                    result=_anchor(prefix, index, place),
                    joined=is_last and index == at + 1 and place == 0,
                )
                found[pair.call] = found[pair.result] = pair
    return found


def _message(message: Message, index: int, prefix: str, pairs: dict[str, _Pair]) -> ShownMessage:
    is_tool = bool(message.blocks) and all(block.type == "tool_result" for block in message.blocks)
    return ShownMessage(
        anchor=f"{prefix}-{index + 1}",
        number=index + 1,
        role=message.role,
        hue="tool" if is_tool else message.role,
        label="Tool result" if is_tool else LABELS[message.role],
        blocks=tuple(
            _block(block, _anchor(prefix, index, place), pairs)
            for place, block in enumerate(message.blocks)
        ),
        detail=_detail(message.detail),
    )


def _detail(detail: Any) -> str:
    return "" if detail is None else json_shown(detail)


def _block(block: Block, anchor: str, pairs: dict[str, _Pair]) -> ShownBlock:
    detail = _detail(block.detail)
    pair = pairs.get(anchor)
    match block:
        case TextBlock():
            html = rendered(block.text)
            return ShownBlock("text", anchor, text=block.text, html=html, detail=detail)
        case ReasoningBlock():
            return ShownBlock(
                "reasoning",
                anchor,
                text=block.text,
                is_long=_is_long(block.text),
                signature=block.signature or "",
                detail=detail,
            )
        case ImageBlock():
            return _image(block, anchor, detail)
        case ToolCallBlock():
            return ShownBlock(
                "tool_call",
                anchor,
                name=block.name,
                call_id=block.id,
                input=json_shown(block.input),
                detail=detail,
                partner=pair.result if pair else "",
                joined=pair.joined if pair else False,
            )
        case ToolResultBlock():
            return ShownBlock(
                "tool_result",
                anchor,
                call_id=block.tool_call_id,
                is_error=block.is_error,
                blocks=tuple(_inner(block.blocks, anchor)),
                detail=detail,
                partner=pair.call if pair else "",
                joined=pair.joined if pair else False,
            )
        case _:
            assert_never(block)


def _inner(blocks: Iterable[TextBlock | ImageBlock], anchor: str) -> Iterable[ShownBlock]:
    return (_block(inner, f"{anchor}-{place + 1}", {}) for place, inner in enumerate(blocks))


def _image(block: ImageBlock, anchor: str, detail: str) -> ShownBlock:
    known = block.mimeType in SHOWN_IMAGES
    return ShownBlock(
        "image",
        anchor,
        text="" if known else block.data,
        source=f"data:{block.mimeType};base64,{block.data}" if known else "",
        mime_type=block.mimeType,
        detail=detail,
    )


def _is_long(text: str) -> bool:
    lines = sum(1 + len(line) // CHARACTERS_A_LINE for line in text.split("\n"))
    return lines > FOLDED_LINES
