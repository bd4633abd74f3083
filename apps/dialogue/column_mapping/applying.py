"""Applying a mapping to a row: the parts of a task, still as the row's own plain data."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.column_mapping.limits import RowBudget
from apps.dialogue.column_mapping.spec import (
    ROLES,
    ColumnMapping,
    TurnSpec,
    compiled,
    short_source,
)
from apps.dialogue.errors import ImportRefused, TemplateError
from apps.dialogue.file_containers import Note
from apps.dialogue.templating import Template

Turn = dict[str, Any]


@dataclass(frozen=True, slots=True)
class MappedRow:
    """What a mapping makes of a row, as plain data.

    ``turns`` and each of the answers in ``chosen`` and ``rejected`` are lists of turns as Chat
    Completions has them, not read yet. ``key``, ``tools`` and ``tags`` are None where the mapping
    says nothing of them: the columns of these names then keep their usual meaning.
    """

    key: str | None
    turns: list[Turn]
    chosen: list[list[Turn]]
    rejected: list[list[Turn]]
    attributes: dict[str, Any]
    tools: list[Any] | None
    tags: list[str] | None


def apply(mapping: ColumnMapping, row: Mapping[str, Any], notes: list[Note]) -> MappedRow:
    """Make of a row, which is plain JSON data, what the mapping says; notes what it converted.

    Raises ``ImportRefused`` naming the place in the mapping and the expression
    (``conversation[0].content``), also where the row would become too much (``limits``).
    """
    values = _Values(row, notes)
    key = None if mapping.key is None else _key(values.kept(mapping.key, "key"))
    tools = None
    if mapping.tools is not None:
        tools = values.listed(values.kept(mapping.tools, "tools"), "tools", "tools") or None
    return MappedRow(
        key=key,
        turns=list(_turns(mapping, values)),
        chosen=list(_answers(mapping.chosen, values, "chosen")),
        rejected=list(_answers(mapping.rejected, values, "rejected")),
        attributes=_attributes(mapping, row, values),
        tools=tools,
        tags=None if mapping.tags is None else list(_tags(mapping.tags, values)),
    )


class _Values:
    """The values that expressions have for one row."""

    def __init__(self, row: Mapping[str, Any], notes: list[Note]) -> None:
        self._seen = {**row, "row": dict(row)}
        self.notes = notes
        self.budget = RowBudget(row)

    def of(self, source: str, place: str, **more: Any) -> Any:
        """Evaluate an expression (a value) or a template (a text)."""
        self.budget.evaluation(place)
        seen = {**self._seen, **more} if more else self._seen
        found = compiled(source)
        try:
            return found.render(seen) if isinstance(found, Template) else found.evaluate(seen)
        except TemplateError as error:
            raise ImportRefused(
                f"{error.message} (in {short_source(source)})", place=place
            ) from None

    def kept(self, source: str, place: str, **more: Any) -> Any:
        """Evaluate what stays in the task, and count how much it is."""
        value = self.of(source, place, **more)
        self.budget.keep(value, place)
        return value

    def holds(self, source: str, place: str, **more: Any) -> bool:
        """Evaluate a condition; a template holds unless it writes nothing, False or None."""
        value = self.of(source, place, **more)
        if isinstance(compiled(source), Template):
            return value.strip() not in ("", "False", "None")
        return bool(value)

    def listed(self, value: Any, place: str, things: str) -> list[Any]:
        """Take a list, or the JSON text of one; nothing for null and an empty text."""
        if isinstance(value, str) and value.lstrip().startswith("["):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError) as error:
                raise ImportRefused(f"is not valid JSON: {error}", place=place) from None
            self.notes.append(Note("converted", place, "JSON text became a list", "json_in_cell"))
        if value is None or value == "":
            return []
        if not isinstance(value, list):
            raise ImportRefused(f"must give a list of {things}, not {kind_of(value)}", place=place)
        return value


def _key(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ImportRefused(f"must give a text, not {kind_of(value)}", place="key")
    return str(value)


def _turns(mapping: ColumnMapping, values: _Values) -> Iterator[Turn]:
    if isinstance(mapping.conversation, str):
        place = "conversation"
        given = values.listed(values.kept(mapping.conversation, place), place, "turns")
        values.budget.items(len(given), place)
        yield from _checked_turns(given, place)
        return
    for index, spec in enumerate(mapping.conversation):
        yield from _turns_of(spec, values, f"conversation[{index}]")


def _checked_turns(turns: Sequence[Any], place: str) -> Iterator[Turn]:
    for index, turn in enumerate(turns):
        if not isinstance(turn, dict):
            fault = f"a turn must be an object with role and content, not {kind_of(turn)}"
            raise ImportRefused(fault, place=f"{place}[{index}]")
        yield turn


def _turns_of(spec: TurnSpec, values: _Values, place: str) -> Iterator[Turn]:
    if spec.each is None:
        yield from _turn(spec, values, place, {})
        return
    items = values.listed(values.of(spec.each, f"{place}.each"), f"{place}.each", "items")
    values.budget.items(len(items), f"{place}.each")
    for index, item in enumerate(items):
        yield from _turn(spec, values, place, {"turn": item, "index": index})


def _turn(spec: TurnSpec, values: _Values, place: str, more: dict[str, Any]) -> Iterator[Turn]:
    if spec.when is not None and not values.holds(spec.when, f"{place}.when", **more):
        return
    values.budget.turn(place)
    role = spec.role
    if role not in ROLES:
        role = values.kept(role, f"{place}.role", **more)
    turn: Turn = {"role": role}
    if spec.content is not None:
        turn["content"] = values.kept(spec.content, f"{place}.content", **more)
    for name in ("name", "tool_calls", "tool_call_id", "reasoning_content"):
        source = getattr(spec, name)
        value = None if source is None else values.kept(source, f"{place}.{name}", **more)
        if value is not None:
            turn[name] = value
    yield turn


def _answers(sources: Sequence[str] | None, values: _Values, place: str) -> Iterator[list[Turn]]:
    for index, source in enumerate(sources or ()):
        here = place if len(sources or ()) == 1 else f"{place}[{index}]"
        for answer in _answers_in(values.kept(source, here), here):
            values.budget.turn(here)
            yield answer


def _answers_in(value: Any, place: str) -> Iterator[list[Turn]]:
    """Take a text, a turn, a list of turns (one answer) or a list of texts (several answers)."""
    match value:
        case None | "" | []:
            return
        case str():
            yield [{"role": "assistant", "content": value}]
        case dict():
            yield [value]
        case [str(), *_] if all(isinstance(each, str) for each in value):
            for each in value:
                yield from _answers_in(each, place)
        case list():
            yield list(_checked_turns(value, place))
        case _:
            fault = f"must give a text, a turn or a list of turns, not {kind_of(value)}"
            raise ImportRefused(fault, place=place)


def _tags(sources: Sequence[str], values: _Values) -> Iterator[str]:
    for index, source in enumerate(sources):
        place = "tags" if len(sources) == 1 else f"tags[{index}]"
        value = values.kept(source, place)
        for tag in value if isinstance(value, list) else [value]:
            match tag:
                case None | "":
                    pass
                case str():
                    yield tag
                case int() if not isinstance(tag, bool):
                    yield str(tag)
                case _:
                    raise ImportRefused(f"must give texts, not {kind_of(tag)}", place=place)


def _attributes(mapping: ColumnMapping, row: Mapping[str, Any], values: _Values) -> dict[str, Any]:
    match mapping.attributes:
        case dict() as named:
            return {name: values.kept(each, f"attributes.{name}") for name, each in named.items()}
        case tuple() as names:
            return {name: row[name] for name in names if name in row}
        case "none":
            return {}
        case "all" | "rest" as kind:
            return _columns(mapping, row, values, left_out=kind == "rest")


def _columns(
    mapping: ColumnMapping, row: Mapping[str, Any], values: _Values, *, left_out: bool
) -> dict[str, Any]:
    """Keep the columns of a row; ``left_out`` are those that the mapping reads elsewhere."""
    read = columns_read(mapping)
    kept = {name: value for name, value in row.items() if not (left_out and name in read)}
    for name in [name for name in kept if name in _taken(mapping)]:
        del kept[name]
        if name not in columns_read(mapping):
            reason = (
                f"the column gave way to the task's own {name}; attributes can name it otherwise"
            )
            values.notes.append(Note("dropped", name, reason, "name_taken"))
    return kept


def _taken(mapping: ColumnMapping) -> frozenset[str]:
    given = {"id": mapping.key, "tools": mapping.tools, "tags": mapping.tags}
    return frozenset({"conversation", *(name for name, source in given.items() if source)})


@lru_cache(maxsize=64)
def _columns_read(sources: tuple[str, ...]) -> frozenset[str]:
    names: set[str] = set()
    for source in sources:
        found = compiled(source)
        names |= found.names
        names |= {key for name, key in found.lookups if name == "row"}
    return frozenset(names)


def columns_read(mapping: ColumnMapping) -> frozenset[str]:
    """Return the columns that anything but the attributes reads by name."""
    return _columns_read(tuple(mapping.sources()))
