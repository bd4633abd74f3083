"""Writing a conversation as a script."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, assert_never

from apps.dialogue.blocks import (
    Block,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from apps.dialogue.message import Message
from apps.dialogue.script_text.grammar import (
    DATA,
    IMAGE_TYPE,
    LETTERS,
    STARTS,
    WORD,
    CallIds,
    escaped,
)


def write_script(messages: Sequence[Message]) -> str:
    """Write a conversation, drafts and all; ``read_script`` gives the same conversation back.

    The text has no carriage return, so editors that know only one end of line keep it whole.
    """
    ids = CallIds()
    pieces: list[str] = []
    above = ""
    for message in messages:
        ids.turn(message.role)
        lines = list(_turn(message, above, ids))
        if pieces and not lines[0].startswith("result"):
            pieces.append("")
        pieces += lines
        above = message.role
    return "\n".join(pieces) + "\n" if pieces else ""


def _turn(message: Message, above: str, ids: CallIds) -> Iterator[str]:
    """Write a turn; ``above`` is the role of the turn before it."""
    blocks = message.blocks
    letter = LETTERS[message.role]
    first = blocks[0] if blocks else None
    if message.detail is None and isinstance(first, TextBlock):
        yield f"{letter}: {escaped(first.text)}"
        yield from _detail(first.detail)
        blocks = blocks[1:]
    elif (
        message.detail is not None
        or first is None
        or STARTS.get(first.type) is None
        or above == message.role
    ):
        yield f"{letter}:"
        yield from _detail(message.detail)
    for block in blocks:
        yield from _block(block, ids)


def _block(block: Block, ids: CallIds) -> Iterator[str]:
    match block:
        case TextBlock():
            yield f"+: {escaped(block.text)}"
        case ImageBlock():
            yield _image(block)
        case ReasoningBlock():
            yield f"think: {escaped(block.text)}"
            if block.signature is not None:
                yield f"signature {_json(block.signature)}"
        case ToolCallBlock():
            named = "" if block.id == ids.next_call else f"#{_word(block.id, WORD)} "
            yield f"call {_word(block.name, WORD)} {named}{_json(block.input)}"
            ids.call(block.id)
        case ToolResultBlock():
            yield from _result(block, ids)
        case _:
            assert_never(block)
    yield from _detail(block.detail)


def _result(block: ToolResultBlock, ids: CallIds) -> Iterator[str]:
    call_id = block.tool_call_id
    named = "" if call_id == ids.next_result else f" #{_word(call_id, WORD)}"
    header = f"result{named}{' error' if block.is_error else ''}:"
    ids.result(call_id)
    parts = block.blocks
    if parts and isinstance(parts[0], TextBlock):
        yield f"{header} {escaped(parts[0].text)}"
        yield from _detail(parts[0].detail, "result+detail")
        parts = parts[1:]
    else:
        yield header
    for part in parts:
        if isinstance(part, TextBlock):
            yield f"result+: {escaped(part.text)}"
        else:
            yield f"result+{_image(part)}"
        yield from _detail(part.detail, "result+detail")


def _image(block: ImageBlock) -> str:
    return f"image {_word(block.mimeType, IMAGE_TYPE)} {_word(block.data, DATA)}"


def _detail(detail: dict[str, Any] | None, marker: str = "detail") -> Iterator[str]:
    if detail is not None:
        yield f"{marker} {_json(detail)}"


def _word(text: str, plain: re.Pattern[str]) -> str:
    return text if plain.fullmatch(text) else _json(text)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
