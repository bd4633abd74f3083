"""Images that stand beside the turns, with a marker like ``<image>`` where each belongs."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from apps.dialogue.blocks import Block, TextBlock
from apps.dialogue.errors import DialogueError, ImportRefused
from apps.dialogue.file_containers import Note
from apps.dialogue.message import Message, make_message, parse_block
from apps.dialogue.provider_formats.base import read_data_url

_MARKERS: Final = {
    "images": re.compile("<image>"),
    "videos": re.compile("<video>"),
    "audios": re.compile("<audio>"),
}
_LONE: Final = {"image": "images", "video": "videos", "audio": "audios"}


def with_images(
    row: dict[str, Any], messages: Sequence[Message], notes: list[Note], *, place: str = "messages"
) -> tuple[Message, ...]:
    """Put the images of a row where their markers are, if the row holds their data.

    Images that lie elsewhere stay a marker, and their paths an attribute; a note says so, and
    whether there are as many as markers.
    """
    placed = tuple(messages)
    for column in [*_MARKERS, *_LONE]:
        listed = _listed(row.get(column), column)
        if listed:
            placed = _placed(column, listed, placed, notes, place)
    return placed


def _listed(value: object, column: str) -> list[Any]:
    if isinstance(value, list):
        return value
    return [value] if column in _LONE and isinstance(value, str) and value else []


def _placed(
    column: str,
    listed: list[Any],
    messages: tuple[Message, ...],
    notes: list[Note],
    place: str,
) -> tuple[Message, ...]:
    marker = _MARKERS[_LONE.get(column, column)]
    count = sum(
        len(marker.findall(block.text))
        for message in messages
        for block in message.blocks
        if block.type == "text"
    )
    if not count and column in _LONE:
        return messages  # a column that merely has this name
    blocks = [_image(each) for each in listed] if marker is _MARKERS["images"] else []
    if blocks and count == len(blocks) and None not in blocks:
        reason = f"the markers became the images of the row ({count})"
        notes.append(Note("converted", place, reason, "placeholder_image"))
        images = iter([block for block in blocks if block is not None])
        return tuple(_with_blocks(message, images, marker) for message in messages)
    match = "as many" if count == len(listed) else "not as many"
    reason = (
        f"{count} markers {marker.pattern} and {len(listed)} {column}, {match}; "
        f"the markers stay text, {column} an attribute, and nothing is fetched"
    )
    notes.append(Note("kept", place, reason, "placeholder_image"))
    return messages


def _image(value: object) -> Block | None:
    """Return the block of an image whose data is here: a data URL, or an object with its bytes."""
    if isinstance(value, dict):
        value = value.get("url") or value.get("image_url")
    if not isinstance(value, str):
        return None
    try:
        return parse_block(read_data_url(value, ""))
    except (ImportRefused, DialogueError):
        return None


def _with_blocks(message: Message, images: Iterator[Block], marker: re.Pattern[str]) -> Message:
    blocks: list[Block] = []
    for block in message.blocks:
        if isinstance(block, TextBlock) and marker.search(block.text):
            blocks += _split(block, images, marker)
        else:
            blocks.append(block)
    return make_message(message.role, blocks, message.detail)


def _split(block: TextBlock, images: Iterator[Block], marker: re.Pattern[str]) -> Iterator[Block]:
    for index, text in enumerate(marker.split(block.text)):
        if index:
            yield next(images)
        if text:
            yield TextBlock(text=text, detail=block.detail)
