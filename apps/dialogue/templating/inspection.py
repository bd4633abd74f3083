"""What can be said of a template before it runs: the names it uses, the data it cannot do without.

The first use is to refuse a name with its fix (``trace`` in a builder), the second to refuse a
sample without a needed column before any model was called and paid.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from jinja2 import nodes

Key = str | int

_TOLERANT_FILTERS: Final = frozenset({"d", "default"})


@dataclass(frozen=True, slots=True)
class Need:
    """A value that every rendering reads: ``sample.city[0]`` is ("sample", ("city", 0))."""

    root: str
    keys: tuple[Key, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Missing:
    """The first step of a need that the data does not take: ``owner`` has no ``key``."""

    owner: object
    key: Key
    line: int


def needs(template: nodes.Template) -> tuple[Need, ...]:
    """Collect what a template reads whatever happens.

    Left out is everything that a condition, a loop, a macro or a test like ``is defined`` may skip.
    """
    assigned = {name.name for name in template.find_all(nodes.Name) if name.ctx != "load"}
    found = (need for node in template.body for need in _of_statement(node))
    return tuple(need for need in found if need.root not in assigned)


def lookups(template: nodes.Template) -> frozenset[tuple[str, str]]:
    """Collect every ``name.key``, ``name["key"]`` and ``name.get("key")``, reached or not."""
    found = set()
    for node in template.find_all((nodes.Getattr, nodes.Getitem, nodes.Call)):
        match node:
            case nodes.Call(
                node=nodes.Getattr(node=nodes.Name(name=name), attr="get"),
                args=[nodes.Const(value=str() as key), *_],
            ):
                found.add((name, key))
            case nodes.Getitem(node=nodes.Name(name=name), arg=nodes.Const(value=str() as key)):
                found.add((name, key))
            case nodes.Getattr(node=nodes.Name(name=name), attr=key):
                found.add((name, key))
            case _:
                pass
    return frozenset(found)


def first_missing(need: Need, context: Mapping[str, Any]) -> Missing | None:
    """Follow a need through the data as far as it holds objects and lists."""
    value = context[need.root]
    for key in need.keys:
        match value:
            case dict():
                if key not in value:
                    # A method (`sample.get`) is not a column; whether it is one, the run will say.
                    return None if key in _METHODS else Missing(value, key, need.line)
                value = value[key]
            case list() if isinstance(key, int):
                if not -len(value) <= key < len(value):
                    return Missing(value, key, need.line)
                value = value[key]
            case _:
                return None
    return None


_METHODS: Final = frozenset({"get", "items", "keys", "values"})


def _of_statement(node: nodes.Node) -> Iterator[Need]:
    match node:
        case nodes.Output():
            for child in node.nodes:
                yield from _of_expression(child)
        case nodes.If():
            yield from _of_expression(node.test)
        case nodes.For():
            yield from _of_expression(node.iter)
        case nodes.FilterBlock() | nodes.With() | nodes.Scope():
            for statement in node.body:
                yield from _of_statement(statement)
        case _:
            return


def _of_expression(node: nodes.Node) -> Iterator[Need]:
    if isinstance(node, nodes.Name | nodes.Getattr | nodes.Getitem):
        yield from _of_lookup(node)
        return
    for operand in _sure_operands(node):
        yield from _of_expression(operand)


def _sure_operands(node: nodes.Node) -> Sequence[nodes.Node]:
    """Return the parts of an expression that are evaluated, and used, whatever happens."""
    match node:
        case nodes.Filter() if node.name not in _TOLERANT_FILTERS and node.node is not None:
            return [node.node]
        case nodes.Concat():
            return node.nodes
        case nodes.And() | nodes.Or():
            return [node.left]
        case nodes.BinExpr():
            return [node.left, node.right]
        case nodes.UnaryExpr():
            return [node.node]
        case nodes.Compare():
            return [node.expr]
        case nodes.CondExpr():
            return [node.test]
        case nodes.Call() if isinstance(node.node, nodes.Getattr):
            return [node.node.node]
        case _:
            return []


def _of_lookup(node: nodes.Node) -> Iterator[Need]:
    keys: list[Key] = []
    line = node.lineno
    while not isinstance(node, nodes.Name):
        match node:
            case nodes.Getattr():
                keys.append(node.attr)
            case nodes.Getitem() if (key := _constant(node.arg)) is not None:
                keys.append(key)
            case nodes.Getitem():
                keys.clear()  # what follows `[...]` with a computed key is not known
            case _:
                yield from _of_expression(node)
                return
        node = node.node
    yield Need(node.name, tuple(reversed(keys)), line)


def _constant(node: nodes.Node) -> Key | None:
    match node:
        case nodes.Const(value=str() | int() as value) if not isinstance(value, bool):
            return value
        case nodes.Neg(node=nodes.Const(value=int() as value)):
            return -value
        case _:
            return None
