"""Regular expressions that a template may run.

Python's ``re`` cannot be interrupted, and some patterns take longer than the age of the universe on
forty characters. What makes them so, a repetition inside a repetition, is refused by name.
"""

import importlib
import re
from functools import lru_cache
from typing import Any, Final

from apps.dialogue.templating.limits import LimitPassed

MOST_PATTERN_CHARACTERS: Final = 1_000
MOST_SEARCHED_CHARACTERS: Final = 100_000
MOST_REPETITIONS: Final = 8
"""Open repetitions (``*``, ``+``, ``?``, ``{1,9}``) in one pattern."""

# The parser of `re` has no public name since `sre_parse` was deprecated in Python 3.11.
_parser: Any = importlib.import_module("re._parser")


def checked_pattern(pattern: str, text: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a pattern that ``text`` is to be searched with.

    Raises ``LimitPassed`` for one that could run for ever, ``re.error`` for one that is wrong.
    """
    if len(text) > MOST_SEARCHED_CHARACTERS:
        raise LimitPassed(f"a pattern searches at most {MOST_SEARCHED_CHARACTERS} characters")
    return _compiled(pattern, flags)


@lru_cache(maxsize=256)
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    if len(pattern) > MOST_PATTERN_CHARACTERS:
        raise LimitPassed(f"a pattern has at most {MOST_PATTERN_CHARACTERS} characters")
    try:
        repetitions = _count(_parser.parse(pattern, flags), inside=False)
    except OverflowError:
        raise LimitPassed("a repetition in the pattern is too large") from None
    except RecursionError:
        raise LimitPassed("the pattern is nested too deeply") from None
    if repetitions > MOST_REPETITIONS:
        raise LimitPassed(
            f"the pattern has {repetitions} open repetitions; at most {MOST_REPETITIONS} are run"
        )
    return re.compile(pattern, flags)


def _count(node: Any, *, inside: bool) -> int:
    """Count the open repetitions of a parsed pattern; refuse one inside another."""
    total = 0
    for operator, argument in node:
        name = str(operator)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, body = argument
            is_open = least != most
            if inside and is_open:
                raise LimitPassed("a repetition inside a repetition can run for ever")
            total += is_open + _count(body, inside=inside or int(most) > 1)
        elif name == "BRANCH" and inside:
            raise LimitPassed("alternatives inside a repetition can run for ever; use [...]")
        else:
            total += sum(_count(part, inside=inside) for part in _parts(argument))
    return total


def _parts(argument: Any) -> list[Any]:
    """Find the sub-patterns in an operator's argument."""
    if isinstance(argument, _parser.SubPattern):
        return [argument]
    if isinstance(argument, list | tuple):
        return [part for each in argument for part in _parts(each)]
    return []
