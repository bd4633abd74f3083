"""What a column mapping says: which columns of a row are the turns, the key, the attributes."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    TypeAdapter,
    model_validator,
)

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.column_mapping.limits import MOST_EXPRESSIONS
from apps.dialogue.errors import SpecError, TemplateError
from apps.dialogue.specification import SpecModel, read, refusal
from apps.dialogue.templating import Expression, Template, compile_expression, compile_template

NAMES_TAKEN: Final = frozenset({"id", "conversation"})
"""What a task is served under already; an attribute cannot have these names."""

ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool"})
"""Words that mean themselves where a role stands; anything else there is an expression."""


Attributes = Literal["rest", "all", "none"] | tuple[str, ...] | dict[str, str]


def compiled(source: str) -> Expression | Template:
    """Compile a value of a mapping: a template if it holds ``{{`` or ``{%``, else an expression."""
    if "{{" in source or "{%" in source:
        return compile_template(source)
    return compile_expression(source)


def short_source(source: str) -> str:
    """Return an expression as an error message shows it."""
    return repr(source if len(source) <= 80 else f"{source[:77]}...")


def _compiles(source: str) -> str:
    if not source.strip():
        raise refusal("must not be empty: write the name of a column, like question")
    try:
        compiled(source)
    except TemplateError as error:
        raise refusal(f"{error} in {short_source(source)}") from None
    return source


def _no_braces(value: object) -> object:
    """Explain what YAML makes of ``{{ question }}`` without quotes."""
    if isinstance(value, dict):
        raise refusal('must be a text; put a template in quotes: "{{ question }}"')
    return value


Source = Annotated[str, BeforeValidator(_no_braces), AfterValidator(_compiles)]
"""A template (it holds ``{{`` or ``{%`` and gives a text) or an expression (it gives a value)."""


def _role(source: str) -> str:
    return source if source in ROLES else _compiles(source)


RoleSource = Annotated[str, BeforeValidator(_no_braces), AfterValidator(_role)]


class TurnSpec(SpecModel):
    """One turn of the conversation, or one turn for each item of a list.

    ``each`` gives a list; then ``turn`` (its item) and ``index`` (from 0) can be used. ``when`` is
    a condition: a turn for which it is false is left out.
    """

    role: RoleSource
    content: Source | None = None
    when: Source | None = None
    each: Source | None = None
    name: Source | None = None
    tool_calls: Source | None = None
    tool_call_id: Source | None = None
    reasoning_content: Source | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "TurnSpec":
        if self.content is None and self.tool_calls is None:
            raise refusal("is missing", ".content")
        return self


def _check_names(names: Iterable[object]) -> None:
    for name in names:
        if isinstance(name, str) and name in NAMES_TAKEN:
            fault = f"{name!r} is taken: a task is served with {name!r} of its own"
            raise refusal(fault, f".{name}")


_SOURCE: Final[TypeAdapter[str]] = TypeAdapter(Source)
_SOURCES: Final[TypeAdapter[tuple[str, ...]]] = TypeAdapter(
    Annotated[tuple[Source, ...], Field(min_length=1)]
)
_TURNS: Final[TypeAdapter[tuple[TurnSpec, ...]]] = TypeAdapter(
    Annotated[tuple[TurnSpec, ...], Field(min_length=1)]
)
_NAMES: Final[TypeAdapter[tuple[str, ...]]] = TypeAdapter(tuple[str, ...])
_NAMED: Final[TypeAdapter[dict[str, str]]] = TypeAdapter(dict[str, Source])

# The kinds of a value are told apart by hand, so that a problem inside one of them stands at its
# own place: pydantic's unions would name every alternative.


def _conversation(value: object) -> tuple[TurnSpec, ...] | str:
    match value:
        case list() | tuple():
            return _TURNS.validate_python(value)
        case str():
            return _SOURCE.validate_python(value)
        case _:
            raise refusal(f"must be a list of turns or an expression, not {kind_of(value)}")


def _sources(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    return _SOURCES.validate_python([value] if isinstance(value, str) else value)


def _attributes(value: object) -> Attributes:
    match value:
        case "rest" | "all" | "none":
            return value
        case str():
            raise refusal(f"{value!r} is not one of rest, all, none; columns are a list of names")
        case list() | tuple():
            _check_names(value)
            return _NAMES.validate_python(value)
        case dict():
            _check_names(value)
            return _NAMED.validate_python(value)
        case _:
            raise refusal(f"must be rest, all, none, a list or an object, not {kind_of(value)}")


Answers = Annotated[tuple[str, ...], BeforeValidator(_sources)]


class ColumnMapping(SpecModel):
    """How a row becomes a task.

    A value is a template if it holds ``{{`` or ``{%``, and gives a text; anything else is a Jinja
    expression over the row: the columns are its names, ``row`` is the whole row (for odd names:
    ``row["odd name"]``).

    * ``key``: the task's key; without it the column id, key, task_id or question_id.
    * ``conversation``: a list of turns, or an expression that gives one.
    * ``chosen``, ``rejected``: answers beside each other; each an expression that gives a text, a
      turn, or a list of turns, or a list of such expressions.
    * ``attributes``: ``rest`` (every column that nothing else here reads), ``all``, ``none``, a
      list of columns, or an object of names and expressions.
    * ``tools``: gives a list of tools. ``tags``: gives a text or a list of texts.
    """

    key: Source | None = None
    conversation: Annotated[tuple[TurnSpec, ...] | str, BeforeValidator(_conversation)] = ()
    chosen: Answers | None = None
    rejected: Answers | None = None
    attributes: Annotated[Attributes, BeforeValidator(_attributes)] = "rest"
    tools: Source | None = None
    tags: Answers | None = None

    @model_validator(mode="after")
    def _has_turns(self) -> "ColumnMapping":
        if not self.conversation and self.chosen is None and self.rejected is None:
            raise refusal("is missing: say which columns are the turns", ".conversation")
        return self

    def to_data(self) -> dict[str, Any]:
        """Return the mapping as plain data, which ``parse_mapping`` reads back."""
        data: dict[str, Any] = self.model_dump(mode="json", exclude_defaults=True)
        return data

    def sources(self) -> Iterator[str]:
        """Every expression and template of the mapping but those of attributes."""
        yield from (each for each in (self.key, self.tools) if each is not None)
        for several in (self.chosen, self.rejected, self.tags):
            yield from several or ()
        if isinstance(self.conversation, str):
            yield self.conversation
            return
        for turn in self.conversation:
            written = turn.model_dump(exclude_none=True)
            yield from (
                value for name, value in written.items() if name != "role" or value not in ROLES
            )


_MAPPING: Final[TypeAdapter[ColumnMapping]] = TypeAdapter(ColumnMapping)


def parse_mapping(raw: object) -> ColumnMapping:
    """Read a mapping from plain data; raises ``SpecError`` with every problem at its place."""
    if isinstance(raw, dict):
        _check_count(raw)
    return read(_MAPPING, raw)


def _check_count(raw: dict[Any, Any]) -> None:
    """Count the expressions before any is compiled, which takes its time."""
    count = 0
    for key, value in raw.items():
        count += _expressions_in(key, value)
        if count > MOST_EXPRESSIONS:
            fault = f"a mapping has at most {MOST_EXPRESSIONS} expressions"
            raise SpecError(fault, place=str(key)[:80])


def _expressions_in(key: object, value: object) -> int:
    match value:
        case list() | tuple() if key == "attributes":
            return 0  # names of columns, which nothing compiles
        case list() | tuple():
            return sum(_expressions_in("", each) if isinstance(each, dict) else 1 for each in value)
        case dict():
            return sum(1 for name, each in value.items() if name != "role" or each not in _WORDS)
        case _:
            return 1


_WORDS: Final = tuple(ROLES)
"""As a tuple, to look for values of any kind in it."""
