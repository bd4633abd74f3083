"""JSON values from text: what is odd in them noticed, what cannot be stored taken out."""

import json
import re
from collections import Counter
from math import isfinite
from typing import Any

from apps.dialogue.file_containers.cleaning import cleaned
from apps.dialogue.file_containers.rows import Note, Row

_ODD_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
"""NUL and surrogates, as JSON writes them; most surrogates are halves of a pair and harmless."""


class Decoder:
    """A JSON reader that notices what Python's own lets pass.

    Those are keys written twice in one object, NaN and infinite numbers, the NUL character and
    lone surrogates.
    """

    def __init__(self) -> None:
        self._twice: list[str] = []
        self._infinite = False
        self._json = json.JSONDecoder(
            object_pairs_hook=self._object, parse_float=self._float, parse_constant=self._float
        )

    def decode(self, text: str, start: int = 0) -> tuple[Any, int]:
        """Return the value that begins at ``start`` and the position after it."""
        self._twice.clear()
        self._infinite = False
        return self._json.raw_decode(text, start)

    def row(self, line: int, value: object, text: str) -> Row:
        """Return the value just decoded, which ``text`` holds, as a row with its notes."""
        notes: tuple[Note, ...] = ()
        if self._twice:
            said = "the key {!r} is written twice: the last one counts"
            notes = tuple(
                Note("dropped", "", said.format(key), "duplicate_keys") for key in self._twice
            )
        if self._infinite or ("\\u" in text and _ODD_ESCAPE.search(text)):
            try:
                value, changes = cleaned(value)
            except RecursionError as error:
                return bad_json(line, f"the value {reason(error)}")
            notes += changes
        return Row(line, value, notes=notes)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) < len(pairs):
            times = Counter(key for key, _ in pairs)
            self._twice += sorted(key for key, count in times.items() if count > 1)
        return built

    def _float(self, text: str) -> float:
        number = float(text)
        if not isfinite(number):
            self._infinite = True
        return number


def bad_json(line: int, fault: str) -> Row:
    """Return the fault that stands in the place of a value."""
    return Row(line, fault=fault, fault_code="bad_json")


def reason(error: ValueError | RecursionError) -> str:
    """Say why a text is no JSON we can read, without the place."""
    match error:
        case json.JSONDecodeError():
            return f"is not JSON: {error.msg}"
        case RecursionError():
            return "is nested too deeply"
        case _:
            return "holds an integer of more than 4300 digits"
