"""What JSON readers let through though it cannot be stored or sent: taken out, and said so."""

import re
from collections.abc import Iterator
from math import isfinite
from typing import Any

from apps.dialogue.file_containers.rows import Note, NoteKind

_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST_PLACES = 3

_SAID: dict[str, tuple[NoteKind, str]] = {
    "nul_char": ("dropped", "the NUL character (U+0000), which cannot be stored"),
    "lone_surrogate": ("converted", "half a character (a lone surrogate) became U+FFFD"),
    "non_finite": ("converted", "a number that is not finite (NaN, Infinity) became null"),
    "same_key": ("dropped", "a key that is the same as another once it is cleaned"),
}


def cleaned(value: object) -> tuple[Any, tuple[Note, ...]]:
    """Return a JSON value without what cannot be stored, and a note for each sort of change.

    NUL characters are removed, lone surrogates become U+FFFD and numbers that are not finite
    become null. Raises ``RecursionError`` for a value that is nested too deeply.
    """
    cleaning = _Cleaning()
    made = cleaning.value(value, "")
    return made, tuple(cleaning.notes())


class _Cleaning:
    """What was found so far: the code of each sort, and its places."""

    def __init__(self) -> None:
        self._found: dict[str, list[str]] = {}

    def notes(self) -> Iterator[Note]:
        for code, places in self._found.items():
            kind, said = _SAID[code]
            named = dict.fromkeys(place for place in places if place)
            more = list(named)[1 : _MOST_PLACES + 1]
            if more:
                rest = len(named) - 1 - len(more)
                said += f"; also at {', '.join(more)}" + (f" and {rest} more" if rest else "")
            yield Note(kind, places[0], said, code)

    def value(self, value: object, place: str) -> Any:
        match value:
            case str():
                return self._text(value, place)
            case float() if not isfinite(value):
                self._note("non_finite", place)
                return None
            case list():
                return [self.value(each, f"{place}[{index}]") for index, each in enumerate(value)]
            case dict():
                return self._object(value, place)
            case _:
                return value

    def _object(self, value: dict[str, Any], place: str) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, each in value.items():
            name = self._text(key, place)
            where = f"{place}.{name}" if place else name
            if name in made:
                self._note("same_key", where)
            made[name] = self.value(each, where)
        return made

    def _text(self, text: str, place: str) -> str:
        if "\x00" in text:
            self._note("nul_char", place)
            text = text.replace("\x00", "")
        if not text.isascii() and _SURROGATE.search(text):
            self._note("lone_surrogate", place)
            text = _SURROGATE.sub("\ufffd", text)
        return text

    def _note(self, code: str, place: str) -> None:
        self._found.setdefault(code, []).append(place)
