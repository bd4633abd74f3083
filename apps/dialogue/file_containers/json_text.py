"""JSON values from text that streams in, one after another, with the lines they begin on."""

import codecs
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from apps.dialogue.file_containers.byte_stream import LONGEST_LINE, PIECE, Unreadable
from apps.dialogue.file_containers.rows import Note, Row

_SPACES = " \t\r\n"


class Decoder:
    """A JSON reader that notices keys written twice in one object."""

    def __init__(self) -> None:
        self._twice: list[str] = []
        self._json = json.JSONDecoder(object_pairs_hook=self._object)

    def decode(self, text: str, start: int = 0) -> tuple[Any, int]:
        """Return the value that begins at ``start`` and the position after it."""
        self._twice.clear()
        return self._json.raw_decode(text, start)

    def row(self, line: int, value: object) -> Row:
        """Return the value just decoded as a row with its notes."""
        said = "the key {!r} is written twice: the last one counts"
        notes = [Note("dropped", "", said.format(key), "duplicate_keys") for key in self._twice]
        return Row(line, value, notes=tuple(notes))

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) < len(pairs):
            times = Counter(key for key, _ in pairs)
            self._twice += sorted(key for key, count in times.items() if count > 1)
        return built


def reason(error: ValueError | RecursionError) -> str:
    """Say why a text is no JSON we can read, without the place."""
    match error:
        case json.JSONDecodeError():
            return f"is not JSON: {error.msg}"
        case RecursionError():
            return "is nested too deeply"
        case _:
            return "holds an integer of more than 4300 digits"


def documents(pieces: Iterator[bytes]) -> Iterator[Row]:
    """Read values one after another; an array at the top stands for its elements.

    The first fault ends it: where a broken value ends cannot be told. Raises ``Unreadable``.
    """
    text = _StreamedText(pieces)
    decoder = Decoder()
    in_array = False
    while following := text.skip(_SPACES + "," if in_array else _SPACES):
        if following == "[" and not in_array:
            text.step()
            in_array = True
        elif following == "]" and in_array:
            text.step()
            in_array = False
        else:
            row = text.value(decoder)
            yield row
            if row.fault:
                return
    if in_array:
        yield Row(text.line, fault="the array has no end", fault_code="bad_json")


class _StreamedText:
    """What is here of a text, where we are in it, and which line that is."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.line = 1
        self._pieces = pieces
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._text = ""
        self._at = 0
        self._ended = False

    def skip(self, characters: str) -> str:
        """Go past the characters and return the one that follows, or nothing at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in characters:
                self.step()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def step(self) -> None:
        self._go_to(self._at + 1)

    def value(self, decoder: Decoder) -> Row:
        """Read the value that begins here, or the fault where it is none."""
        self._text, self._at = self._text[self._at :], 0
        while True:
            try:
                value, end = decoder.decode(self._text)
            except (ValueError, RecursionError) as error:
                if _is_incomplete(error, self._text) and self._more():
                    continue
                fault = f"the value {reason(error)}"
                if isinstance(error, json.JSONDecodeError):
                    where = self.line + error.lineno - 1
                    fault += f" (line {where}, character {error.colno})"
                return Row(self.line, fault=fault, fault_code="bad_json")
            if end == len(self._text) and self._text[end - 1] not in ']}"' and self._more():
                continue  # a number may go on
            row = decoder.row(self.line, value)
            self._go_to(end)
            return row

    def _go_to(self, position: int) -> None:
        self.line += self._text.count("\n", self._at, position)
        self._at = position

    def _more(self) -> bool:
        """Read on, about as much as is here; False at the end of the stream."""
        wanted = max(PIECE, len(self._text))
        if wanted > LONGEST_LINE:
            raise Unreadable(f"a value is longer than {LONGEST_LINE >> 20} MiB")
        added = ""
        while len(added) < wanted and not self._ended:
            piece = next(self._pieces, None)
            self._ended = piece is None
            try:
                added += self._decoder.decode(piece or b"", final=self._ended)
            except UnicodeDecodeError as error:
                raise Unreadable(f"the file is not UTF-8: {error.reason}") from None
        self._text += added
        return bool(added)


def _is_incomplete(error: ValueError | RecursionError, text: str) -> bool:
    """Whether more text may cure the error: it stands at the end, or in a string without one."""
    return isinstance(error, json.JSONDecodeError) and (
        error.pos >= len(text) - 8 or error.msg.startswith("Unterminated string")
    )
