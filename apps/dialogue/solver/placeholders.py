"""``<< config.x >>``: parameters in a specification (rule 16 of the solver's semantics).

They are put in before the specification is validated. One that is a whole value keeps its type (a
number may stand where a number is wanted); inside a text it becomes text, as Jinja writes it:
``True`` and ``None``, lists and objects as JSON. What was put in is not looked at again.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from apps.dialogue.errors import SpecError

_PLACEHOLDER: Final = re.compile(r"<<\s*config\.([A-Za-z0-9_\-]+)\s*>>")
_ATTEMPT: Final = re.compile(r"<<\s*config\b[^>]*(?:>>)?")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A use of a parameter: its key, and the place of the text that holds it."""

    key: str
    place: str


def placeholders(raw: object, place: str = "") -> Iterator[Placeholder]:
    """Find every placeholder; raises ``SpecError`` for one that cannot be read."""
    if isinstance(raw, str):
        for attempt in _ATTEMPT.finditer(raw):
            found = _PLACEHOLDER.match(raw, attempt.start())
            if found is None:
                fault = f"{attempt[0]!r} is not understood; write << config.key >>"
                raise SpecError(fault, place=place)
            yield Placeholder(found[1], place)
    for step, value in _children(raw):
        yield from placeholders(value, place + step)


def sole_placeholder(raw: object) -> str | None:
    """Return the key of the parameter that ``raw`` as a whole stands for; None for other text."""
    whole = _PLACEHOLDER.fullmatch(raw.strip()) if isinstance(raw, str) else None
    return whole[1] if whole else None


def fill_in(raw: object, value_of: Callable[[str, str], Any], place: str = "") -> Any:
    """Return a copy with every placeholder replaced by ``value_of(key, place)``."""
    match raw:
        case str():
            return _filled(raw, value_of, place)
        case Mapping() | list():
            filled = [fill_in(each, value_of, place + step) for step, each in _children(raw)]
            return dict(zip(raw, filled, strict=True)) if isinstance(raw, Mapping) else filled
        case _:
            return raw


def _filled(text: str, value_of: Callable[[str, str], Any], place: str) -> Any:
    if key := sole_placeholder(text):
        return value_of(key, place)
    return _PLACEHOLDER.sub(lambda found: _as_text(value_of(found[1], place)), text)


def _as_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)


def _children(raw: object) -> Iterator[tuple[str, Any]]:
    if isinstance(raw, Mapping):
        yield from ((f".{key}", value) for key, value in raw.items())
    elif isinstance(raw, list):
        yield from ((f"[{index}]", value) for index, value in enumerate(raw))
