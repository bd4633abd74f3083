"""The sandbox in which templates run: Jinja's immutable one, with the gaps closed.

Templates receive plain data (JSON values) only. On an object its keys win over the methods of a
Python dict, so ``sample.items`` is the column "items". A missing value says what is missing.
"""

import functools
from typing import Any, Final

from jinja2 import StrictUndefined
from jinja2.exceptions import SecurityError, UndefinedError
from jinja2.runtime import Context, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment, safe_range
from jinja2.utils import Cycler, Joiner, Namespace, missing, pass_context

from apps.dialogue.templating.filters import FILTERS, spend_replacing
from apps.dialogue.templating.limits import (
    MOST_OUTPUT_CHARACTERS,
    LimitPassed,
    seen_context,
    spend,
    weigh,
)

MOST_BITS: Final = 4096

_OBJECT_METHODS: Final = frozenset({"get", "items", "keys", "values"})
_LIST_METHODS: Final = frozenset({"count", "index"})
_TEXT_METHODS: Final = frozenset(
    """
    capitalize casefold count endswith find index isalnum isalpha isascii isdecimal isdigit islower
    isnumeric isspace istitle isupper lower lstrip partition removeprefix removesuffix rfind rindex
    rpartition rsplit rstrip split splitlines startswith strip swapcase title upper
    """.split()  # noqa: SIM905 - a list of forty strings reads worse
)


class NamedUndefined(StrictUndefined):
    """A missing value: any use of it raises, naming the column, key or item that is missing."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        if self._undefined_hint:
            return self._undefined_hint
        return describe_missing(self._undefined_obj, self._undefined_name)


def describe_missing(owner: object, name: object) -> str:
    """Say what a template asked for in vain, and what it could have asked for."""
    context = seen_context()
    if owner is missing:
        return _describe_name(str(name), context)
    if isinstance(owner, dict):
        kind, word = ("the sample", "column") if owner is context.get("sample") else ("it", "key")
        return f"{kind} has no {word} {name!r} ({word}s: {_listed(owner)})"
    if isinstance(owner, list | tuple) and isinstance(name, int):
        kind = "messages" if owner is context.get("messages") else "the list"
        return f"{kind} has no item {name} (it holds {len(owner)})"
    return f"a {_KINDS.get(type(owner), type(owner).__name__)} has no {name!r}"


_KINDS: Final[dict[type, str]] = {
    str: "text",
    bool: "true or false",
    int: "number",
    float: "number",
    list: "list",
    tuple: "list",
    type(None): "null",
}


def _describe_name(name: str, context: Any) -> str:
    if name == "loop_index":
        return "loop_index is defined inside a loop only"
    return f"{name!r} is not defined (a template here sees {_listed(context)})"


def _listed(names: Any, most: int = 12) -> str:
    shown = [str(name) for name in names][: most + 1]
    if len(shown) > most:
        shown[most:] = ["..."]
    return ", ".join(shown) if shown else "none"


class DialogueEnvironment(ImmutableSandboxedEnvironment):
    """Compiles and runs templates; ``tick``, ``joined`` and ``literal`` are called by the code
    that ``templating.template`` weaves into them."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(
            autoescape=False,
            extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
            finalize=written,
            # Folding constants would run filters while compiling, outside of any budget.
            optimized=False,
            undefined=NamedUndefined,
        )
        self.filters = dict(FILTERS)
        self.globals = {
            "cycler": Cycler,
            "dict": counted_dict,
            "joiner": Joiner,
            "namespace": Namespace,
            "range": safe_range,
        }

    def tick(self, work: int) -> None:
        """Count one turn of a loop or one call of a macro."""
        spend(work)

    def joined(self, *parts: object) -> str:
        """Join texts, for ``~``."""
        for part in parts:
            weigh(part)
        return "".join(map(str, parts))

    def literal(self, value: Any) -> Any:
        """Count a list or object that the template builds."""
        weigh(value)
        return value

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Look up ``obj.attribute``: keys of objects first, then a few harmless methods."""
        match obj:
            case dict():
                if attribute in obj:
                    return obj[attribute]
                return self._method(obj, attribute, _OBJECT_METHODS)
            case str():
                return self._text_method(obj, attribute)
            case tuple() if attribute in getattr(obj, "_fields", ()):
                return getattr(obj, attribute)
            case list() | tuple():
                return self._method(obj, attribute, _LIST_METHODS)
            case None | bool() | int() | float():
                return self.undefined(obj=obj, name=attribute)
            case _:
                return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Look up ``obj[argument]``: a key or an item, never a method of an object."""
        if not isinstance(obj, dict | list | tuple | str | range):
            return super().getitem(obj, argument)
        try:
            return obj[argument]
        except (TypeError, LookupError):
            if isinstance(argument, str) and not isinstance(obj, dict):
                return self.getattr(obj, argument)
            return self.undefined(obj=obj, name=argument)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Run an operator that could make something huge, after a look at its operands."""
        match operator:
            case "+":
                if isinstance(left, str | list | tuple):
                    weigh(left)
                    weigh(right)
            case "*":
                _check_product(left, right)
            case "**":
                _check_power(left, right)
            case _:
                if isinstance(left, str):
                    raise SecurityError("% does not format texts here: join them with ~")
        return super().call_binop(context, operator, left, right)

    def _method(self, obj: Any, attribute: str, allowed: frozenset[str]) -> Any:
        return (
            getattr(obj, attribute)
            if attribute in allowed
            else self.undefined(obj=obj, name=attribute)
        )

    def _text_method(self, text: str, attribute: str) -> Any:
        if attribute in _TEXT_METHODS:
            return getattr(text, attribute)
        if attribute == "replace":
            return functools.partial(_replaced, text)
        if attribute == "join":
            return functools.partial(_joined, text)
        if hasattr(str, attribute) and not attribute.startswith("_"):
            hint = f"the method {attribute!r} of texts is not available in templates: use ~"
            return self.undefined(hint, obj=text, name=attribute, exc=SecurityError)
        return self.undefined(obj=text, name=attribute)


def _replaced(text: str, old: str, new: str, count: int = -1) -> str:
    spend_replacing(text, old, new)
    return text.replace(old, new, count)


def _joined(separator: str, parts: Any) -> str:
    texts = list(parts)
    weigh(texts)
    spend(len(separator) * len(texts))
    return separator.join(texts)


def counted_dict(*args: Any, **kwargs: Any) -> dict[Any, Any]:
    """Build an object, as Python's ``dict`` does."""
    built = dict(*args, **kwargs)
    weigh(built)
    return built


def _check_product(left: Any, right: Any) -> None:
    for sequence, times in ((left, right), (right, left)):
        if isinstance(sequence, str | list | tuple):
            if isinstance(times, int):
                weight = weigh(sequence)
                if weight * times > MOST_OUTPUT_CHARACTERS:
                    raise LimitPassed("a repeated text or list would grow too large")
                spend(max(weight * times, 0))
            return
    _check_bits(_bits(left) + _bits(right))


def _check_power(base: Any, exponent: Any) -> None:
    if isinstance(base, int) and isinstance(exponent, int):
        _check_bits(_bits(base) * abs(exponent))


def _bits(number: Any) -> int:
    return number.bit_length() if isinstance(number, int) else 0


def _check_bits(bits: int) -> None:
    if bits > MOST_BITS:
        raise LimitPassed(f"a number would have more than {MOST_BITS} bits")


@pass_context
def written(context: Context, value: object) -> object:
    """Let through what ``{{ ... }}`` may write: texts, numbers, lists, objects.

    Marked as needing the context so that Jinja never calls it while compiling.
    """
    if isinstance(value, str):
        spend(len(value))
        return value
    if value is None or isinstance(value, int | float | list | tuple | dict):
        weigh(value)
        return value
    if isinstance(value, Undefined):
        raise UndefinedError(str(value))  # str() itself raises, naming what is missing
    kind = type(value).__name__
    advice = "add | list or | join" if kind == "generator" else "write a text, number or list"
    raise TypeError(f"a {kind} cannot be written: {advice}")
