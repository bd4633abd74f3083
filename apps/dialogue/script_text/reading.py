"""Reading a script into a conversation."""

import json
import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from apps.dialogue.errors import InvalidMessage, ScriptError
from apps.dialogue.message import Message, parse_conversation
from apps.dialogue.script_text.grammar import (
    DATA,
    IMAGE_TYPE,
    MARKER,
    ROLES,
    STARTS,
    WORD,
    CallIds,
    unescaped,
)

Wire = dict[str, Any]

_BLANKS: Final = re.compile(r"[ \t]*")
_NOT_BLANK: Final = re.compile(r"[^ \t\n]")
_PLACE: Final = re.compile(r"messages\[\d+\](?:\.blocks\[\d+\])?")


@dataclass(frozen=True, slots=True)
class Script:
    """What a script says, and the line (from 1) of each turn and block.

    The keys of ``lines`` are places like ``messages[2]`` and ``messages[2].blocks[0]``.
    """

    messages: tuple[Message, ...]
    lines: dict[str, int]


def read_script(text: str) -> Script:
    """Read a script; raises ``ScriptError`` with line and column of the first mistake."""
    return _Reader(text.replace("\r\n", "\n").replace("\r", "\n")).read()


class _Reader:
    """One pass over the markers of a text, building the wires of messages."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line_ends = [found.start() for found in re.finditer("\n", text)]
        self._ids = CallIds()
        self._messages: list[Wire] = []
        self._places: dict[str, int] = {}
        self._bare: Wire | None = None
        """The turn of a marker without a text, as long as nothing stands below it."""

    def read(self) -> Script:
        markers = list(MARKER.finditer(self._text))
        starts = [*(each.start() for each in markers), len(self._text)]
        if stray := _NOT_BLANK.search(self._text, 0, starts[0]):
            self._refuse(stray.start(), "a script starts with a turn: u:, a: or s:")
        for marker, end in zip(markers, starts[1:], strict=True):
            self._HANDLERS[str(marker.lastgroup)](self, marker, end)
        try:
            messages = parse_conversation(self._messages)
        except InvalidMessage as error:
            found = _PLACE.match(error.place)
            self._refuse(self._places[found[0]] if found else 0, error.message)
        lines = {place: self._line(offset) for place, offset in self._places.items()}
        return Script(messages, lines)

    # --- one method for each marker: its match, and where what belongs to it ends ---------------

    def _turn(self, marker: re.Match[str], end: int) -> None:
        message = self._start(ROLES[marker[0][0]], marker.start())
        said = self._body(marker.end(), end)
        if said is None:
            self._bare = message
        else:
            self._add({"type": "text", "text": said}, marker.start())

    def _more(self, marker: re.Match[str], end: int) -> None:
        self._within_turn(marker)
        said = self._body(marker.end(), end) or ""
        self._add({"type": "text", "text": said}, marker.start())

    def _think(self, marker: re.Match[str], end: int) -> None:
        said = self._body(marker.end(), end) or ""
        self._add({"type": "reasoning", "text": said}, marker.start())

    def _call(self, marker: re.Match[str], end: int) -> None:
        name, offset = self._word(marker.end(), WORD, "the name of a tool")
        call_id, offset = self._id(offset)
        if self._text[offset : offset + 1] != "{":
            fault = "a call needs its input, a JSON object like {} (a text has \\ in front: \\call)"
            self._refuse(offset, fault)
        given, offset = self._json(offset)
        self._nothing_more(offset, end, "a call")
        block = {"type": "tool_call", "id": None, "name": name, "input": given}
        self._add(block, marker.start())
        block["id"] = self._ids.next_call if call_id is None else call_id
        self._ids.call(block["id"])

    def _result(self, marker: re.Match[str], end: int) -> None:
        call_id, offset = self._id(marker.end())
        is_error = self._text.startswith("error", offset)
        if is_error:
            offset = self._skip(offset + len("error"))
        if self._text[offset : offset + 1] != ":":
            self._refuse(offset, "a result has a colon before its text, like result #call_1:")
        block: Wire = {"type": "tool_result", "is_error": is_error}
        self._add(block, marker.start())
        if call_id is None:
            call_id = self._ids.next_result
        if call_id is None:
            fault = (
                "no call above waits for a result: write the id it answers, like result #call_1:"
            )
            self._refuse(marker.start(), fault)
        self._ids.result(call_id)
        said = self._body(offset + 1, end)
        block |= {
            "tool_call_id": call_id,
            "blocks": [] if said is None else [{"type": "text", "text": said}],
        }

    def _part(self, marker: re.Match[str], end: int) -> None:
        result = self._last_block("tool_result")
        if result is None:
            self._refuse(marker.start(), "result+ goes on with a result, and none stands above")
        parts, offset = result["blocks"], marker.end()
        if self._text.startswith(":", offset):
            parts.append({"type": "text", "text": self._body(offset + 1, end) or ""})
        elif self._text.startswith("image", offset):
            parts.append(self._image_block(offset + len("image"), end))
        elif self._text.startswith("detail", offset):
            if not parts:
                self._refuse(marker.start(), "the result above has no text or image")
            self._set(parts[-1], "detail", offset + len("detail"), end)
        else:
            self._refuse(offset, "result+ is followed by a colon, image or detail")

    def _image(self, marker: re.Match[str], end: int) -> None:
        self._within_turn(marker)
        self._add(self._image_block(marker.end(), end), marker.start())

    def _signature(self, marker: re.Match[str], end: int) -> None:
        reasoning = self._last_block("reasoning")
        if reasoning is None:
            self._refuse(marker.start(), "a signature stands below reasoning (think:)")
        self._set(reasoning, "signature", marker.end(), end)

    def _detail(self, marker: re.Match[str], end: int) -> None:
        if self._bare is not None:
            self._set(self._bare, "detail", marker.end(), end)
            return
        self._within_turn(marker)
        self._set(self._messages[-1]["blocks"][-1], "detail", marker.end(), end)

    _HANDLERS: Final[dict[str, Callable[["_Reader", re.Match[str], int], None]]] = {
        "turn": _turn,
        "more": _more,
        "think": _think,
        "call": _call,
        "result": _result,
        "part": _part,
        "image": _image,
        "signature": _signature,
        "detail": _detail,
    }

    # --- turns and blocks ------------------------------------------------------------------------

    def _start(self, role: str, offset: int) -> Wire:
        message: Wire = {"role": role, "blocks": []}
        self._places[f"messages[{len(self._messages)}]"] = offset
        self._messages.append(message)
        self._ids.turn(role)
        return message

    def _add(self, block: Wire, offset: int) -> None:
        """Add a block to the turn above, or to a new one that it starts."""
        role = STARTS.get(block["type"])
        if role is not None and (not self._messages or self._messages[-1]["role"] != role):
            self._start(role, offset)
        blocks = self._messages[-1]["blocks"]
        self._places[f"messages[{len(self._messages) - 1}].blocks[{len(blocks)}]"] = offset
        blocks.append(block)
        self._bare = None

    def _within_turn(self, marker: re.Match[str]) -> None:
        if not self._messages:
            self._refuse(
                marker.start(), f"{marker[0]} belongs to a turn: start one with u:, a: or s:"
            )

    def _last_block(self, kind: str) -> Wire | None:
        blocks = self._messages[-1]["blocks"] if self._messages else []
        return blocks[-1] if blocks and blocks[-1]["type"] == kind else None

    def _set(self, owner: Wire, key: str, offset: int, end: int) -> None:
        """Read a JSON value into ``owner``, once."""
        offset = self._skip(offset)
        if key in owner:
            self._refuse(offset, f"there is a {key} above already")
        owner[key], offset = self._json(offset)
        self._nothing_more(offset, end, f"a {key}")

    def _image_block(self, offset: int, end: int) -> Wire:
        kind, offset = self._word(offset, IMAGE_TYPE, "a type like image/png")
        data, offset = self._word(offset, DATA, "the data, bare base64")
        self._nothing_more(offset, end, "an image")
        return {"type": "image", "mimeType": kind, "data": data}

    # --- pieces of a line ------------------------------------------------------------------------

    def _skip(self, offset: int) -> int:
        found = _BLANKS.match(self._text, offset)
        return found.end() if found else offset

    def _body(self, offset: int, end: int) -> str | None:
        if self._text.startswith(" ", offset):
            offset += 1
        return unescaped(self._text[offset:end])

    def _word(self, offset: int, plain: re.Pattern[str], what: str) -> tuple[str, int]:
        """Read a plain word or a JSON string, and the blanks around it."""
        offset = self._skip(offset)
        if self._text.startswith('"', offset):
            word, offset = self._json(offset)
            return word, self._skip(offset)
        found = plain.match(self._text, offset)
        if found is None:
            self._refuse(offset, f"{what} is missing, or needs to be in quotes")
        return found[0], self._skip(found.end())

    def _id(self, offset: int) -> tuple[str | None, int]:
        offset = self._skip(offset)
        if not self._text.startswith("#", offset):
            return None, offset
        return self._word(offset + 1, WORD, "the id of a call")

    def _json(self, offset: int) -> tuple[Any, int]:
        try:
            return _DECODER.raw_decode(self._text, offset)
        except json.JSONDecodeError as error:
            self._refuse(
                error.pos, f"this is not valid JSON: {error.msg[:1].lower()}{error.msg[1:]}"
            )
        except RecursionError:
            self._refuse(offset, "this JSON is nested too deeply")
        except ValueError as error:
            self._refuse(offset, f"this JSON cannot be read: {error}")

    def _nothing_more(self, offset: int, end: int, what: str) -> None:
        if stray := _NOT_BLANK.search(self._text, offset, end):
            fault = f"{what} ends before this; a text of its own starts with +: or a turn"
            self._refuse(stray.start(), fault)

    # --- errors ----------------------------------------------------------------------------------

    def _line(self, offset: int) -> int:
        return bisect_left(self._line_ends, offset) + 1

    def _refuse(self, offset: int, message: str) -> NoReturn:
        line = self._line(offset)
        before = self._line_ends[line - 2] + 1 if line > 1 else 0
        raise ScriptError(message, line=line, column=offset - before + 1)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return made


def _finite(number: str) -> float:
    value = float(number)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{number} is too large a number")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_once, parse_float=_finite, parse_constant=_refuse_constant
)
