"""Where in the text of a specification a place like ``definition.solver.type`` stands."""

import re

import yaml

_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_LINE = re.compile(r"line (\d+)")


def line_of(text: str, place: str) -> int | None:
    """The line (1-based) of ``place``, or of as much of it as there is; None without a place."""
    if found := _LINE.match(place):
        return int(found[1])
    if not place:
        return None
    try:
        node = yaml.compose(text, yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    line = 1
    for name, index in _STEP.findall(place):
        child = _item(node, int(index)) if index else _value(node, name)
        if child is None:
            break
        line, node = child
    return line


def _item(node: yaml.Node | None, index: int) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.SequenceNode) and index < len(node.value):
        return _line(node.value[index]), node.value[index]
    return None


def _value(node: yaml.Node | None, name: str) -> tuple[int, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == name:
                return _line(key), value
    return None


def _line(node: yaml.Node) -> int:
    line: int = node.start_mark.line
    return line + 1
