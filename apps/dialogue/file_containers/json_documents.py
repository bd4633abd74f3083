"""JSON values that stream in, one after another or in an array, with the lines they begin on."""

import codecs
import json
import re
from collections.abc import Generator, Iterator
from dataclasses import replace

from apps.dialogue.file_containers.byte_stream import LONGEST_LINE, PIECE, Unreadable
from apps.dialogue.file_containers.json_text import Decoder, bad_json, reason
from apps.dialogue.file_containers.json_wrapping import LISTS_OF_ROWS, TURN_KEYS
from apps.dialogue.file_containers.rows import Note, Row

_SPACES = re.compile(r"[ \t\r\n]*")
_SPACES_AND_COMMAS = re.compile(r"[ \t\r\n,]*")
_HEAD = 4096
"""Characters that are looked at to tell an object around rows from a row."""
_KEPT_BEHIND = 256

_WRAPPER = re.compile(
    rf'\{{\s*"({"|".join(LISTS_OF_ROWS)})"\s*:\s*\['
    rf'(?=\s*\{{\s*"(?!(?:{"|".join(TURN_KEYS)})")[^"\\]+"\s*:)'
)
"""An object whose first key is a list of rows."""

_TURNS = re.compile(
    r'\[\s*\{\s*"(?:(?:role|from)"\s*:|(?:content|value)"\s*:.*?"(?:role|from)"\s*:)', re.DOTALL
)
"""An array whose elements are turns: it is a row, not the array around rows."""


def documents(pieces: Iterator[bytes]) -> Iterator[Row]:
    """Read values one after another; an array at the top stands for its elements.

    So does ``{"data": [...]}`` for the elements of its first list, whose keys after the list are
    noted at the last row. After a fault it goes on with the next line that begins a value where
    the broken one began, and ends if there is none. Raises ``Unreadable``.
    """
    reading = _Documents(pieces)
    held: Row | None = None
    for row in reading.rows():
        if held is not None:
            yield held
        held = row
    if held is not None:
        yield replace(held, notes=(*held.notes, *reading.at_end)) if reading.at_end else held


class _Documents:
    """Where we are among the values: at the top, or in an array, which may be in an object."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._text = _StreamedText(pieces)
        self._decoder = Decoder()
        self._wrapper = ""
        self._notes: list[Note] = []
        self.at_end: list[Note] = []

    def rows(self) -> Iterator[Row]:
        text = self._text
        while following := text.skip():
            if following == "[" and not text.holds(_TURNS):
                text.step()
                yield from self._array()
            elif following == "{" and (found := text.holds(_WRAPPER)):
                name = text.enter(found)
                said = f"the rows are the elements of the list {name!r}"
                self._notes.append(Note("converted", "", said, "wrapped"))
                if (yield from self._array()):
                    yield from self._rest_of_wrapper()
            else:
                yield self._element("")
            if text.stuck:
                return

    def _array(self) -> Generator[Row, None, bool]:
        """Read the elements, and return whether the array was closed."""
        text = self._text
        commas, first = 0, True
        while following := text.skip():
            if following == ",":
                commas += 1
                text.step()
                continue
            self._note_commas(commas, first, closing=following == "]")
            commas = 0
            if following == "]":
                text.step()
                self._close()
                return True
            first = False
            row = self._element(text.indent())
            yield row
            if text.stuck:
                return False
            commas = 1 if row.fault and row.fault_code == "bad_json" else 0
        yield bad_json(text.line, "the array has no end")
        return False

    def _element(self, indent: str) -> Row:
        """Read a value; if it is broken, go to the next one, or stay stuck."""
        row = self._noted(self._text.value(self._decoder))
        if self._text.stuck and not self._text.go_on_after_fault(indent):
            return replace(row, fault=f"{row.fault}; what may follow it was not read")
        return row

    def _note_commas(self, commas: int, first: bool, *, closing: bool) -> None:
        wanted = 0 if first or closing else 1
        if commas == wanted:
            return
        if commas:
            said = f"a comma too many before it ({commas} for {wanted})"
            note = Note("dropped", "", said, "extra_comma")
            (self.at_end if closing else self._notes).append(note)
        else:
            note = Note("converted", "", "no comma before it in the array", "missing_comma")
            self._notes.append(note)

    def _close(self) -> None:
        """Forget notes about a row that did not come."""
        self.at_end += self._notes
        self._notes.clear()

    def _rest_of_wrapper(self) -> Iterator[Row]:
        """Go past the keys that follow the list; they are noted, for they belong to no row."""
        text = self._text
        while (following := text.skip(_SPACES_AND_COMMAS)) and following != "}":
            name = text.value(self._decoder)
            if name.fault or not isinstance(name.value, str) or text.skip() != ":":
                yield bad_json(text.line, "the object around the rows is broken after its list")
                return
            text.step()
            text.skip()
            value = text.value(self._decoder)
            if value.fault:
                yield value
                return
            said = f"{name.value!r} stands beside the rows, in none of them"
            self.at_end.append(Note("dropped", "", said, "wrapped"))
        if following:
            text.step()
        else:
            yield bad_json(text.line, "the object around the rows has no end")

    def _noted(self, row: Row) -> Row:
        if not self._notes:
            return row
        noted = replace(row, notes=(*self._notes, *row.notes))
        self._notes.clear()
        return noted


class _StreamedText:
    """What is here of a text, where we are in it, and which line that is."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self.line = 1
        self.stuck = False  # we are still at the beginning of a value that could not be read
        self._pieces = pieces
        # Bytes that are no UTF-8 are carried along, to be found in the one value that holds them.
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._text = ""
        self._at = 0
        self._gone = 0  # characters of the line at the beginning of the text that were let go
        self._ended = False

    def skip(self, characters: re.Pattern[str] = _SPACES) -> str:
        """Go past the characters and return the one that follows, or nothing at the end."""
        while True:
            found = characters.match(self._text, self._at)
            if found is not None:
                self._go_to(found.end())
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def step(self) -> None:
        self._go_to(self._at + 1)

    def indent(self) -> str:
        """Return what stands before us on our line, if that is only spaces."""
        before = self._text[self._text.rfind("\n", 0, self._at) + 1 : self._at]
        return before if not before.strip(" \t") else ""

    def holds(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match a pattern with what begins here, as far as it is near."""
        while len(self._text) - self._at < _HEAD and self._more():
            pass
        return pattern.match(self._text, self._at, self._at + _HEAD)

    def enter(self, wrapper: re.Match[str]) -> str:
        """Go into the list of an object around rows; return the key of the list."""
        self._go_to(wrapper.end())
        return wrapper[1]

    def value(self, decoder: Decoder) -> Row:
        """Read the value that begins here, or the fault where it is none."""
        self.stuck = False
        while True:
            try:
                value, end = decoder.decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                if _is_incomplete(error, self._text) and self._more():
                    continue
                return self._fault(error)
            if end == len(self._text) and self._text[end - 1] not in ']}"' and self._more():
                continue  # a number may go on
            written = self._text[self._at : end]
            line = self.line
            self._go_to(end)
            if not written.isascii() and (fault := _encoding_fault(written)):
                return Row(line, fault=fault, fault_code="bad_encoding")
            return decoder.row(line, value, written)

    def go_on_after_fault(self, indent: str) -> bool:
        """Go to the next line that begins an object after the indent of the broken one, here.

        Where the lines of an object are no deeper than its beginning, what follows may as well be
        a part of the broken one: False.
        """
        flat = re.compile(rf"\{{[ \t\r]*\n(?!{indent}[ \t])")
        if flat.match(self._text, self._at):
            return False
        wanted = f"\n{indent}{{"
        while True:
            found = self._text.find(wanted, self._at)
            if found >= 0:
                self._go_to(found + len(wanted) - 1)
                self.stuck = False
                return True
            self._go_to(max(self._at, len(self._text) - len(wanted)))
            if not self._more():
                return False

    def _fault(self, error: ValueError | RecursionError) -> Row:
        self.stuck = True
        fault = f"the value {reason(error)}"
        if isinstance(error, json.JSONDecodeError):
            line = self.line + self._text.count("\n", self._at, error.pos)
            begin = self._text.rfind("\n", 0, error.pos) + 1
            character = error.pos - begin + 1 + (0 if begin else self._gone)
            fault += f" (line {line}, character {character})"
        return bad_json(self.line, fault)

    def _go_to(self, position: int) -> None:
        self.line += self._text.count("\n", self._at, position)
        self._at = position

    def _more(self) -> bool:
        """Read on, about as much as is ahead of us; False at the end of the stream."""
        self._let_go()
        wanted = max(PIECE, len(self._text))
        if wanted > LONGEST_LINE:
            raise Unreadable(f"a value is longer than {LONGEST_LINE >> 20} MiB")
        parts = [self._text]
        size = 0
        while size < wanted and not self._ended:
            piece = next(self._pieces, None)
            self._ended = piece is None
            parts.append(self._decoder.decode(piece or b"", final=self._ended))
            size += len(parts[-1])
        self._text = "".join(parts)
        return bool(size)

    def _let_go(self) -> None:
        """Forget the text behind us but for a little, in which the indent of our line is."""
        cut = self._at - _KEPT_BEHIND
        if cut > 0:
            begin = self._text.rfind("\n", 0, cut) + 1
            self._gone = cut - begin if begin else self._gone + cut
            self._text, self._at = self._text[cut:], self._at - cut


def _encoding_fault(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return f"the value is not UTF-8 at its character {error.start + 1}"
    return ""


def _is_incomplete(error: ValueError | RecursionError, text: str) -> bool:
    """Whether more text may cure the error: it stands at the end, or in a string without one."""
    return isinstance(error, json.JSONDecodeError) and (
        error.pos >= len(text) - 8 or error.msg.startswith("Unterminated string")
    )
