"""What a mapping may make of one row.

A single expression is bounded by the sandbox. A few of them over a list inside a row of a few
kilobytes could still describe more data than fits a computer, or run for hours.
"""

from collections.abc import Iterator, Mapping
from time import monotonic
from typing import Any, Final

from apps.dialogue.errors import ImportRefused

MOST_EXPRESSIONS: Final = 1_000
"""Expressions and templates in one mapping."""

MOST_TURNS: Final = 10_000
"""Turns and answers that a mapping makes of one row; also items of one ``each``."""

MOST_CHARACTERS: Final = 16 * 2**20
"""Characters of what the expressions make of one row, beyond those that the row has itself.

A stored task takes up to fifteen times as much memory on its way to the database.
"""

MOST_EVALUATIONS: Final = 100_000
MOST_SECONDS: Final = 10.0

_VALUE_CHARACTERS: Final = 64
"""What a value inside a list or object counts as besides its text: it takes memory of its own."""


class RowBudget:
    """What is left of the limits for one row; each method raises ``ImportRefused``."""

    __slots__ = ("_characters", "_deadline", "_evaluations", "_row", "_turns")

    def __init__(self, row: Mapping[str, Any]) -> None:
        self._row: Mapping[str, Any] | None = row
        self._turns = MOST_TURNS
        self._evaluations = MOST_EVALUATIONS
        self._characters = MOST_CHARACTERS
        self._deadline = monotonic() + MOST_SECONDS

    def turn(self, place: str) -> None:
        """Count a turn."""
        self._turns -= 1
        if self._turns < 0:
            raise _too_much(f"the mapping makes more than {MOST_TURNS} turns of this row", place)

    def items(self, count: int, place: str) -> None:
        """Check how many items an ``each`` goes through."""
        if count > MOST_TURNS:
            raise _too_much(f"gives {count} items; there may be {MOST_TURNS}", place)

    def evaluation(self, place: str) -> None:
        """Count an expression that is about to run, and look at the clock."""
        self._evaluations -= 1
        if self._evaluations < 0:
            fault = f"the mapping runs more than {MOST_EVALUATIONS} expressions for this row"
            raise _too_much(fault, place)
        if monotonic() > self._deadline:
            raise _too_much(f"the mapping takes more than {MOST_SECONDS:g} seconds", place)

    def keep(self, value: Any, place: str) -> None:
        """Count the characters of a value that stays in the task."""
        for size in _sizes(value):
            self._characters -= size
            if self._characters < 0 and self._row is not None:
                self._characters += sum(_sizes(dict(self._row)))
                self._row = None  # its own characters are allowed once
            if self._characters < 0:
                many = f"{MOST_CHARACTERS >> 20} million characters"
                raise _too_much(f"the mapping makes {many} more than this row has", place)


def _sizes(value: Any) -> Iterator[int]:
    """Give, part by part, how many characters a value counts as."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield len(each)
        elif isinstance(each, dict):
            yield _VALUE_CHARACTERS * len(each) + sum(map(len, each))
            waiting.extend(each.values())
        elif isinstance(each, list):
            yield _VALUE_CHARACTERS * len(each)
            waiting.extend(each)


def _too_much(message: str, place: str) -> ImportRefused:
    return ImportRefused(message, place=place, code="too_long")
