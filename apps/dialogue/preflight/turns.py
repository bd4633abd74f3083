"""What several providers refuse beyond their formats; a target imports this and no other target."""

import binascii
from collections.abc import Collection, Iterator, Sequence

from apps.dialogue.blocks import ImageBlock, TextBlock
from apps.dialogue.message import Message
from apps.dialogue.pairing import Problem
from apps.dialogue.provider_formats.base import Turn

_BEGINNINGS = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}
_ALIASES = {"image/jpg": "image/jpeg"}


def warning(place: str, message: str) -> Problem:
    """Return what goes out changed or is answered with 400, at a place."""
    return Problem(place, message, "warning")


def empty_request(turns: Sequence[Turn], name: str) -> Iterator[Problem]:
    """A request without a message is refused everywhere."""
    if not turns:
        yield warning("messages", f"{name} refuses a request without a message")


def only_system(turns: Sequence[Turn], name: str) -> Iterator[Problem]:
    """Where the system text is sent apart, nothing would be left to answer."""
    if all(turn.role == "system" for turn in turns):
        yield warning("messages", f"{name} wants at least one message besides the system text")


def open_calls(turns: Sequence[Turn]) -> Iterator[Problem]:
    """Calls at the end without a result: a harness answers them, an API refuses them."""
    if turns and turns[-1].role == "assistant":
        last = turns[-1]
        for call in last.calls:
            fault = f"{last.format_name} refuses a request until the call {call.id!r} has a result"
            yield warning(last.place(call), fault)


def rewritten_ids(turns: Sequence[Turn]) -> Iterator[Problem]:
    """Call ids that the writer replaces, on the call and on its result alike (rules C5 and C6)."""
    for turn in turns:
        for call in turn.calls:
            if (written := turn.call_id(call)) != call.id:
                fault = f"{turn.format_name} is sent the id {written!r} in place of {call.id!r}"
                yield warning(turn.place(call), fault)


def unread_parts(turns: Sequence[Turn]) -> Iterator[Problem]:
    """What an import could not read is kept in ``detail.unread_parts`` and goes nowhere."""
    for turn in turns:
        parts = (turn.message.detail or {}).get("unread_parts")
        if isinstance(parts, list) and parts:
            count = "a part" if len(parts) == 1 else f"{len(parts)} parts"
            fault = f"{turn.format_name} is not sent {count} that could not be imported"
            yield warning(turn.place(), fault)


def image_faults(turns: Sequence[Turn], kinds: Collection[str] | None) -> Iterator[Problem]:
    """Images of a kind that the provider does not take, or whose bytes are no such image.

    ``kinds`` are the media types it takes, None where the format itself refuses the others.
    """
    for turn in turns:
        for place, image in _images(turn.message, f"messages[{turn.index}]"):
            kind = image.mimeType.lower()
            kind = _ALIASES.get(kind, kind)
            if kinds is not None and kind not in kinds:
                known = ", ".join(sorted(kinds))
                fault = f"takes images of the types {known}, not {image.mimeType!r}"
                yield warning(place, f"{turn.format_name} {fault}")
            elif fault := _data_fault(image.data, kind):
                yield warning(place, f"{turn.format_name} refuses the image: {fault}")


def _images(message: Message, place: str) -> Iterator[tuple[str, ImageBlock]]:
    for position, block in enumerate(message.blocks):
        here = f"{place}.blocks[{position}]"
        if block.type == "image":
            yield here, block
        elif block.type == "tool_result":
            for inner, held in enumerate(block.blocks):
                if held.type == "image":
                    yield f"{here}.blocks[{inner}]", held


def _data_fault(data: str, kind: str) -> str:
    try:
        held = binascii.a2b_base64(data, strict_mode=True)
    except (ValueError, binascii.Error):
        return "its data is not base64"
    wanted = _BEGINNINGS.get(kind)
    if wanted is None or held.startswith(wanted):
        return ""
    found = next((name for name, begins in _BEGINNINGS.items() if held.startswith(begins)), None)
    if found is None:
        return f"its data is not an image of the type {kind}"
    return f"it says {kind}, but its data is {found}"


def is_blank(block: object) -> bool:
    """Whether a block is a text of white space or nothing."""
    return isinstance(block, TextBlock) and not block.text.strip()
