"""The filters of templates: Jinja's own, counted, and the six that LatticeFlow adds.

``FILTERS`` is the whole list. A filter that could multiply its input says how much before it runs;
one that chance decides is left out, so that a resumed conversation renders the same text again.
"""

import functools
import json
import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from jinja2.filters import FILTERS as JINJA_FILTERS

from apps.dialogue.templating.limits import LimitPassed, spend, weigh
from apps.dialogue.templating.patterns import checked_pattern

MOST_INDENT: Final = 100
MOST_DIGITS: Final = 20

DENIED_FILTERS: Final[dict[str, str]] = {
    "center": "it can fill the memory; write the spaces",
    "format": "it can fill the memory; join texts with ~",
    "pprint": "use tojson",
    "random": "a conversation that is resumed must render the same text again",
    "urlize": "templates write plain text",
    "xmlattr": "templates write plain text",
}


def tojson(value: object, indent: int | None = None) -> str:
    """Write a value as JSON with sorted keys, as Jinja does, but without HTML escapes."""
    weigh(value)
    if indent is not None:
        _check_indent(indent)
    return json.dumps(value, sort_keys=True, indent=indent)


def fromjson(value: object) -> Any:
    """Read a JSON text."""
    if not isinstance(value, str):
        raise TypeError(f"fromjson reads a text, not {type(value).__name__}")
    return json.loads(value, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def json_escape(value: object) -> object:
    """Escape a text so that it can stand between the quotes of a JSON string."""
    return json.dumps(value)[1:-1] if isinstance(value, str) else value


def zipped(*values: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Pair up lists, as far as the shortest reaches."""
    pairs = list(zip(*values, strict=False))
    weigh(pairs)
    return pairs


def merge(original: object, new: object) -> dict[Any, Any]:
    """Merge two objects, deeply; where both are not objects the value of ``new`` wins."""
    for position, value in (("first", original), ("second", new)):
        if not isinstance(value, dict):
            raise TypeError(f"merge takes objects; the {position} is a {type(value).__name__}")
        weigh(value)
    return _merged(original, new)


def _merged(original: Any, new: Any) -> dict[Any, Any]:
    result = dict(original)
    for key, value in new.items():
        old = result.get(key)
        both = isinstance(old, dict) and isinstance(value, dict)
        result[key] = _merged(old, value) if both else value
    return result


def regex_replace(
    value: str,
    pattern: str,
    replacement: str,
    *,
    multiline: bool = False,
    ignorecase: bool = False,
    count: int = 0,
) -> str:
    r"""Replace what a regular expression finds (``\1`` is a group); ``count`` 0 means all."""
    flags = (re.MULTILINE if multiline else 0) | (re.IGNORECASE if ignorecase else 0)
    expression = checked_pattern(pattern, value, flags)
    references = replacement.count("\\")
    pieces, end = [], 0
    for number, found in enumerate(expression.finditer(value), start=1):
        widest = max(len(group or "") for group in (found[0], *found.groups()))
        spend(len(replacement) + references * widest)
        pieces += [value[end : found.start()], found.expand(replacement)]
        end = found.end()
        if number == count:
            break
    return "".join([*pieces, value[end:]])


def spend_replacing(text: str, old: str, new: str) -> None:
    """Count what replacing every ``old`` in ``text`` would produce."""
    spend(len(text) + text.count(old) * len(new))


def _spend_replace(s: object, old: object, new: object, count: int | None = None) -> None:
    spend_replacing(str(s), str(old), str(new))


def _spend_indent(s: object, width: int | str = 4, *_: object, **__: object) -> None:
    step = len(width) if isinstance(width, str) else width
    _check_indent(step)
    spend((str(s).count("\n") + 1) * step)


def _check_indent(step: int) -> None:
    if not 0 <= step <= MOST_INDENT:
        raise LimitPassed(f"an indent is 0 to {MOST_INDENT} characters wide, not {step}")


def _spend_count(value: object, count: int, fill_with: object = None) -> None:
    spend(count)


def _spend_wrapping(
    s: object,
    width: int = 79,
    break_long_words: bool = True,
    wrapstring: str | None = None,
    *_: bool,
) -> None:
    spend(len(str(s)) * (1 + len(wrapstring or "\n")))


def _check_precision(value: object, precision: int = 0, method: str = "common") -> None:
    if abs(precision) > MOST_DIGITS:
        raise LimitPassed(f"round keeps at most {MOST_DIGITS} digits, not {precision}")


def _spend_string(value: object) -> None:
    weigh(value)


_BEFORE: Final[dict[str, Callable[..., None]]] = {
    "batch": _spend_count,
    "indent": _spend_indent,
    "replace": _spend_replace,
    "round": _check_precision,
    "slice": _spend_count,
    "string": _spend_string,
    "wordwrap": _spend_wrapping,
}


def _counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a filter of Jinja's: count what it is about to make, then what it made."""
    before = _BEFORE.get(name)
    first = 1 if hasattr(function, "jinja_pass_arg") else 0

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if before is not None:
            before(*args[first:], **kwargs)
        result = function(*args, **kwargs)
        if isinstance(result, str | list | tuple | dict):
            spend(len(result))
        return result

    return run


def _joined(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(
        eval_ctx: object, value: Iterable[Any], d: object = "", *args: Any, **kwargs: Any
    ) -> Any:
        parts = list(value)
        weigh(parts)
        spend(len(str(kwargs.get("d", d))) * len(parts))
        return function(eval_ctx, parts, d, *args, **kwargs)

    return run


def _summed(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(env: object, iterable: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
        parts = list(iterable)
        weigh(parts)
        return function(env, parts, *args, **kwargs)

    return run


FILTERS: Final[dict[str, Callable[..., Any]]] = {
    **{
        name: _counted(name, function)
        for name, function in JINJA_FILTERS.items()
        if name not in DENIED_FILTERS
    },
    "fromjson": fromjson,
    "join": _joined(JINJA_FILTERS["join"]),
    "json_escape": json_escape,
    "merge": merge,
    "regex_replace": regex_replace,
    "sum": _summed(JINJA_FILTERS["sum"]),
    "tojson": tojson,
    "zip": zipped,
}
