"""Whether an image block holds the picture that it says it holds.

Checked where a person saves; imports and bundles may carry placeholders, kept as they are.
"""

import base64
import binascii
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from PIL import Image

from apps.accounts.errors import Invalid
from apps.dialogue.blocks import Block, ImageBlock, ToolResultBlock
from apps.dialogue.message import Message

KINDS: Final = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/gif": "GIF",
    "image/webp": "WEBP",
}
"""Kinds that browsers show and providers take, and what Pillow calls them."""

LARGEST_BYTES = 5 * 2**20
"""What the providers take in one picture; the editor says the same."""
MOST_PIXELS = 40_000_000
"""A small file may unfold into gigabytes; this is 160 MB of memory at most."""


def check_pictures(messages: Sequence[Message], *, kept: Iterable[Message] = ()) -> None:
    """Raise `Invalid` with the place of the first picture that is none; those in ``kept`` pass."""
    known = {(block.data, block.mimeType) for _, block in _pictures(kept)}
    for place, block in _pictures(messages):
        if (block.data, block.mimeType) in known:
            continue
        fault = picture_fault(block.data, block.mimeType)
        if fault:
            raise Invalid(fault, place=f"{place}.data")


def picture_fault(data: str, mime_type: str) -> str:
    """What is wrong with a picture given as base64, to go on after its name; or nothing."""
    if mime_type not in KINDS:
        return f"is {mime_type[:60]!a}, not one of {', '.join(KINDS)}"
    if len(data) > LARGEST_BYTES * 4 // 3 + 4:
        return f"is larger than {LARGEST_BYTES // 2**20} MB"
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return "is not base64"
    return _fault_of(raw, mime_type)


def _fault_of(raw: bytes, mime_type: str) -> str:
    try:
        with Image.open(io.BytesIO(raw), formats=list(KINDS.values())) as image:
            if image.format != KINDS[mime_type]:
                return f"is {image.format}, not {mime_type} as its mimeType says"
            width, height = image.size
            if width * height > MOST_PIXELS:
                return f"has {width} x {height} pixels; {MOST_PIXELS // 10**6} million at most"
            image.load()
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return f"has too many pixels; {MOST_PIXELS // 10**6} million at most"
    except (OSError, SyntaxError, ValueError, EOFError, MemoryError):
        return f"is not a whole {KINDS[mime_type]} picture"
    return ""


def _pictures(messages: Iterable[Message]) -> Iterator[tuple[str, ImageBlock]]:
    for index, message in enumerate(messages):
        yield from _pictures_of(message.blocks, f"messages[{index}]")


def _pictures_of(blocks: Iterable[Block], place: str) -> Iterator[tuple[str, ImageBlock]]:
    for index, block in enumerate(blocks):
        here = f"{place}.blocks[{index}]"
        match block:
            case ImageBlock():
                yield here, block
            case ToolResultBlock():
                yield from _pictures_of(block.blocks, here)
            case _:
                pass
