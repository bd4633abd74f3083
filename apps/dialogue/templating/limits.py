"""What one rendering may cost, and how the sandbox counts it.

Jinja's own sandbox stops a template from reaching Python, not from filling the memory or running
for ever (``'a' * 10**8``, doubling a list in a loop). So everything that produces characters or
items spends from a budget, and every turn of a loop looks at the clock.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any, Final

from jinja2 import Undefined

MOST_TEMPLATE_CHARACTERS: Final = 100_000
MOST_OUTPUT_CHARACTERS: Final = 1_000_000
MOST_WORK: Final = 5_000_000
"""Characters and items produced on the way, loop turns counted as TURN_WORK each."""

MOST_SECONDS: Final = 1.0
TURN_WORK: Final = 50


class LimitPassed(Exception):
    """A rendering went over one of the limits above; the message says which."""


class Rendering:
    """One rendering under way: what the template sees, and what it has spent."""

    __slots__ = ("context", "deadline", "work")

    def __init__(self, context: Mapping[str, Any]) -> None:
        self.context = context
        self.work = 0
        self.deadline = monotonic() + MOST_SECONDS

    def spend(self, amount: int) -> None:
        """Count ``amount`` characters or items; raises ``LimitPassed``."""
        self.work += amount
        if self.work > MOST_WORK:
            raise LimitPassed("the template does too much work (a loop or a text grows too large)")
        if monotonic() > self.deadline:
            raise LimitPassed(f"the template runs longer than {MOST_SECONDS:g} second")


_CURRENT: ContextVar[Rendering] = ContextVar("rendering")


@contextmanager
def rendering(context: Mapping[str, Any]) -> Iterator[Rendering]:
    """Make a rendering the current one of this thread or task."""
    current = Rendering(context)
    token = _CURRENT.set(current)
    try:
        yield current
    finally:
        _CURRENT.reset(token)


def spend(amount: int) -> None:
    """Count ``amount`` characters or items against the current rendering."""
    _CURRENT.get().spend(amount)


def seen_context() -> Mapping[str, Any]:
    """Return what the template under way sees."""
    return _CURRENT.get().context


def weigh(value: object) -> int:
    """Count the characters and items that writing a value would take, spending as it walks.

    A list that holds one list many times is small in memory and endless on paper, so the walk
    itself is what is counted. Raises ``UndefinedError`` for a missing value inside.
    """
    current, weight, waiting = _CURRENT.get(), 0, [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            size = len(each) + 2
        elif isinstance(each, dict):
            size = len(each) + 2
            waiting.extend(each.keys())
            waiting.extend(each.values())
        elif isinstance(each, list | tuple):
            size = len(each) + 2
            waiting.extend(each)
        elif isinstance(each, Undefined):
            str(each)  # raises, naming what is missing
            size = 0
        else:
            size = 8
        weight += size
        current.spend(size)
    return weight
