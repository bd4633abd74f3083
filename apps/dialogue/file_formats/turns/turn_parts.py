"""What a turn of a file says: a text, a list of parts, or something that must be made a text."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from apps.dialogue.blocks import Block
from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import Note
from apps.dialogue.message import parse_block
from apps.dialogue.provider_formats.base import leftovers, read_data_url

_TEXTS: Final = frozenset({"text", "input_text", "output_text"})
_IMAGES: Final = frozenset({"image_url", "input_image", "image"})
_REASONING: Final = frozenset({"reasoning", "thinking"})


@dataclass(slots=True)
class Said:
    """The blocks of a turn; ``unread`` are the parts that have no block, as they were."""

    blocks: list[Block] = field(default_factory=list)
    unread: list[Any] = field(default_factory=list)

    def detail(self, rest: dict[str, Any]) -> dict[str, Any]:
        """Return ``rest`` with the parts that could not be read."""
        return {**rest, "unread_parts": self.unread} if self.unread else rest


def read_said(
    content: object,
    notes: list[Note],
    place: str,
    *,
    reasons: bool = False,
    read_call: Callable[[object, str], Block] | None = None,
) -> Said:
    """Read the content of a turn; parts that have no block are kept and noted.

    ``reasons`` allows parts of reasoning, and ``read_call`` reads a part that is a call: both stand
    in turns of the assistant alone.
    """
    reader = _Parts(notes, reasons, read_call)
    if isinstance(content, str):
        reader.text(content, None, place)
    elif isinstance(content, list | tuple):
        for index, part in enumerate(content):
            reader.part(part, f"{place}[{index}]")
    elif isinstance(content, dict):
        reader.lone_object(content, place)
    elif content is not None:
        reader.coerced(content, place)
    return reader.said


class _Parts:
    def __init__(
        self,
        notes: list[Note],
        reasons: bool,
        read_call: Callable[[object, str], Block] | None,
    ) -> None:
        self.said = Said()
        self._notes = notes
        self._reasons = reasons
        self._read_call = read_call

    def text(self, text: object, detail: dict[str, Any] | None, place: str) -> None:
        wire = {"type": "text", "text": text, "detail": detail or None}
        self.said.blocks.append(parse_block(wire, place))

    def coerced(self, value: object, place: str) -> None:
        """Take a value that is no text for its JSON text."""
        try:
            text = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            raise ImportRefused(f"must be a text, not {kind_of(value)}", place=place) from None
        self._note("converted", place, f"{kind_of(value)} became its JSON text", "content_coerced")
        self.text(text, None, place)

    def lone_object(self, content: dict[str, Any], place: str) -> None:
        """Read an object that stands in place of a list: a part, parts, or any JSON."""
        if isinstance(content.get("parts"), list):
            self._note("converted", place, "an object with parts", "content_coerced")
            for index, part in enumerate(content["parts"]):
                self.part(part, f"{place}.parts[{index}]")
            if rest := leftovers(content, {"parts", "content_type", "type"}):
                self.unread(rest, place, "unsupported_block")
        elif isinstance(content.get("type"), str) or set(content) == {"text"}:
            self._note("converted", place, "an object in place of a list", "content_coerced")
            self.part(content, place)
        else:
            self.coerced(content, place)

    def part(self, part: object, place: str) -> None:
        if isinstance(part, str):
            self._note("converted", place, "a bare text became a part", "content_coerced")
            self.text(part, None, place)
        elif isinstance(part, dict):
            self._read(part, place)
        elif part is None:
            self._note("dropped", place, "null in a list of parts", "content_coerced")
        else:
            self.coerced(part, place)

    def unread(self, part: Any, place: str, code: str) -> None:
        kind = part.get("type") if isinstance(part, dict) else None
        what = "an image that is not in the file is not fetched" if code == "remote_image" else (
            f"a part of the type {kind!r} has no block"
        )  # fmt: skip
        self._note("kept", place, f"{what}; it is kept in detail.unread_parts", code)
        self.said.unread.append(part)

    def _read(self, part: dict[str, Any], place: str) -> None:
        kind = part.get("type")
        kind = kind if kind is None or isinstance(kind, str) else ""
        if kind is None and isinstance(part.get("text"), str):
            kind = "text"
        value = part.get("value")
        if kind in _TEXTS:
            self._text_part(part, place)
        elif kind == "refusal" and isinstance(part.get("refusal"), str):
            rest = leftovers(part, {"type", "refusal"})
            self.text(part["refusal"], {**rest, "refusal": True}, place)
        elif kind in _IMAGES:
            self._image(part, place)
        elif kind in _REASONING and self._reasons:
            self._reasoning(part, place)
        elif kind == "tool_call" and self._read_call and value is not None:
            self.said.blocks.append(self._read_call(value, place))
        else:
            self.unread(part, place, "unsupported_block")

    def _text_part(self, part: dict[str, Any], place: str) -> None:
        key = "text" if part.get("text") is not None else "value"
        detail = leftovers(part, {"type", key, "cache_control"})
        if isinstance(part.get(key), str):
            self.text(part[key], detail, place)
        elif part.get(key) is None:
            self._note("dropped", place, "a part of text without a text", "content_coerced")
        else:
            self.coerced(part[key], place)

    def _reasoning(self, part: dict[str, Any], place: str) -> None:
        keys = ("text", "value", "thinking", "reasoning")
        key = next((key for key in keys if isinstance(part.get(key), str)), None)
        if key is None:
            self.unread(part, place, "unsupported_block")
            return
        detail = leftovers(part, {"type", key, "signature", "cache_control"})
        signature = part.get("signature")
        if signature is not None and not isinstance(signature, str):
            detail["signature"], signature = signature, None
        wire = {"type": "reasoning", "text": part[key], "signature": signature}
        self.said.blocks.append(parse_block({**wire, "detail": detail or None}, place))

    def _image(self, part: dict[str, Any], place: str) -> None:
        wire = _image_wire(part, place)
        if wire is None:
            code = "remote_image" if _names_image(part) else "unsupported_block"
            self.unread(part, place, code)
        else:
            self.said.blocks.append(parse_block(wire, place))

    def _note(self, kind: Any, place: str, message: str, code: str) -> None:
        self._notes.append(Note(kind, place, message, code))


def _image_wire(part: dict[str, Any], place: str) -> dict[str, Any] | None:
    """Return the block of an image whose data is in the part, None for any other."""
    for key in ("image_url", "value", "image", "source", "url"):
        given = part.get(key)
        if given is None:
            continue
        detail = leftovers(part, {"type", key, "cache_control"})
        found = _data(given, place, detail)
        return None if found is None else {**found, "detail": detail or None}
    return None


def _data(given: object, place: str, detail: dict[str, Any]) -> dict[str, Any] | None:
    image = given if isinstance(given, dict) else {"url": given}
    if image.get("type") == "base64":
        detail.update(leftovers(image, {"type", "media_type", "data"}))
        wire = {"data": image.get("data"), "mimeType": image.get("media_type")}
        return {"type": "image", **wire} if all(isinstance(v, str) for v in wire.values()) else None
    detail.update(leftovers(image, {"url"}))
    try:
        return read_data_url(image.get("url"), place)
    except ImportRefused:
        return None


def _names_image(part: dict[str, Any]) -> bool:
    """Whether a part names an image that lies elsewhere, by its address, path or file."""
    return any(
        isinstance(part.get(key), str | dict) and part[key]
        for key in ("image_url", "value", "image", "source", "url", "file_id", "path")
    )
