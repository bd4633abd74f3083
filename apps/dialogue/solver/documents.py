"""The text of a specification, YAML or JSON, as plain data.

YAML is read so that nothing surprises: a key may stand only once, dates stay texts, and there is a
limit to size and nesting (a page of YAML aliases can describe more data than fits a computer).
"""

import json
from collections.abc import Hashable
from typing import Any, Final

import yaml

from apps.dialogue.blocks.json_values import NotJson, json_copy
from apps.dialogue.errors import SpecError

MOST_CHARACTERS: Final = 300_000
MOST_VALUES: Final = 100_000


class _Loader(yaml.SafeLoader):
    """The safe loader, without dates, and strict about keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        self.flatten_mapping(node)
        seen: set[object] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                raise _at(key_node, f"the key {key!r} is not a text; put it in quotes")
            if key in seen:
                raise _at(key_node, f"the key {key!r} stands here twice")
            seen.add(key)
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def read_document(text: str) -> Any:
    """Read a specification; raises ``SpecError`` naming line and column of a mistake."""
    if len(text) > MOST_CHARACTERS:
        raise SpecError(f"a specification has at most {MOST_CHARACTERS} characters")
    try:
        return json_copy(_from_json(text) if text.lstrip().startswith("{") else _from_yaml(text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise SpecError(error.problem or "this is not YAML", place=place) from None
    except yaml.YAMLError as error:
        raise SpecError(f"this is not YAML: {error}") from None
    except NotJson as error:
        raise SpecError(error.message, place=error.path.removeprefix(".")) from None
    except SpecError:
        raise
    except RecursionError:
        raise SpecError("this cannot be read: it is nested too deeply") from None
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        # What a value with a tag like !!bool or !!timestamp makes of a text that is none.
        raise SpecError(f"this cannot be read: {error}") from None


def _from_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_object_once)
    except json.JSONDecodeError:
        # YAML writes objects in braces too, without the quotes.
        return _from_yaml(text)


def _object_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise SpecError(f"the key {key!r} stands twice in one object")
        found[key] = value
    return found


def _from_yaml(text: str) -> Any:
    _check_size(text)
    return yaml.load(text, _Loader)  # noqa: S506 - a subclass of the safe loader


def _check_size(text: str) -> None:
    """Count the values a document describes, aliases followed, before they are built."""
    sizes: dict[int, int] = {}

    def size_of(node: yaml.Node | None) -> int:
        if node is None or isinstance(node, yaml.ScalarNode):
            return 1
        if id(node) not in sizes:
            sizes[id(node)] = MOST_VALUES  # an alias to what holds it would never end
            children = [
                each
                for child in node.value
                for each in (child if isinstance(child, tuple) else (child,))
            ]
            sizes[id(node)] = 1 + sum(size_of(child) for child in children)
        return sizes[id(node)]

    if size_of(yaml.compose(text, _Loader)) > MOST_VALUES:
        raise SpecError(f"a specification holds at most {MOST_VALUES} values")


def _at(node: yaml.Node, problem: str) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
