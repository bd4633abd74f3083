"""JSON values as conversations may hold them (rules P4 and P5 of the conversion rules).

What is accepted survives exactly: the kinds of numbers, big integers, key order, every space. What
JSON, UTF-8 or a database cannot carry is refused at the door: NaN and infinities, lone surrogates,
the NUL character, keys that are not text, nesting and integers that JSON readers give up on.
"""

from math import isfinite
from typing import Any

from apps.dialogue.errors import InvalidAttributes

DEEPEST = 200
"""Levels of nesting that every reader and writer on our way handles."""

LONGEST_INTEGER = 10**4300
"""Python, by default, neither reads nor writes integers of more than 4300 digits."""


class NotJson(ValueError):
    """A value that JSON cannot carry; ``path`` is where, like ``.city[2]`` (empty: at the top)."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path


def text_fault(text: str) -> str:
    """Say why a text cannot be stored and sent, or return an empty string."""
    if "\x00" in text:
        return "holds the NUL character (U+0000), which cannot be stored"
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            return (
                f"holds a lone surrogate (U+{ord(text[error.start]):04X} at character "
                f"{error.start}), which is not Unicode text"
            )
    return ""


def json_copy(value: object) -> Any:
    """Return a deep copy of a JSON value, key order kept.

    Raises ``NotJson`` naming the path of the first value that JSON cannot carry.
    """
    return _copy(value, "", 0)


def json_object(value: object) -> dict[str, Any]:
    """Return a deep copy of a JSON object; raises ``NotJson`` for anything else."""
    if not isinstance(value, dict):
        raise NotJson(f"must be an object, not {kind_of(value)}")
    return _copy_object(value, "", 0)


def checked_attributes(value: object, place: str = "attributes") -> dict[str, Any]:
    """Return a deep copy of a task's attributes; raises ``InvalidAttributes`` naming the place."""
    try:
        return json_object(value)
    except NotJson as error:
        raise InvalidAttributes(
            error.message, place=(place + error.path).removeprefix(".")
        ) from None


def kind_of(value: object) -> str:
    """Name the JSON kind of a value for an error message."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list() | tuple():
            return "a list"
        case dict():
            return "an object"
        case _:
            return f"a {type(value).__name__}"


def _copy(value: object, path: str, depth: int) -> Any:
    match value:
        case str():
            if fault := text_fault(value):
                raise NotJson(fault, path)
        case None | bool():
            pass
        case int():
            if abs(value) >= LONGEST_INTEGER:
                raise NotJson("is an integer of more than 4300 digits", path)
        case float():
            if not isfinite(value):
                raise NotJson(f"is {value}, which is not JSON", path)
        case dict():
            return _copy_object(value, path, depth)
        case list() | tuple():
            _check_depth(path, depth)
            return [_copy(each, f"{path}[{i}]", depth + 1) for i, each in enumerate(value)]
        case _:
            raise NotJson(f"is {kind_of(value)}, which is not JSON", path)
    return value


def _copy_object(value: dict[Any, Any], path: str, depth: int) -> dict[str, Any]:
    _check_depth(path, depth)
    copied: dict[str, Any] = {}
    for key, each in value.items():
        if not isinstance(key, str):
            raise NotJson(f"has the key {key!r}, which is not a text", path)
        if fault := text_fault(key):
            raise NotJson(f"has a key that {fault}", path)
        copied[key] = _copy(each, f"{path}.{key}", depth + 1)
    return copied


def _check_depth(path: str, depth: int) -> None:
    if depth >= DEEPEST:
        raise NotJson(f"is nested more than {DEEPEST} levels deep", path[:80] + "...")
