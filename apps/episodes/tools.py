"""Which tools an episode has, and whether a call's arguments fit them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jsonschema.exceptions import SchemaError
from jsonschema.protocols import Validator
from jsonschema.validators import Draft202012Validator, validator_for
from referencing.exceptions import Unresolvable
from referencing.jsonschema import EMPTY_REGISTRY

from apps.tasks.models import Tool, ToolKind
from apps.tasks.serving import ServedEnvironment

SUBMIT = "submit"
SUBMIT_ARGUMENT = "answer"
SUBMIT_DESCRIPTION = "Hand in the final answer. This ends the task."
MOST_PROBLEMS = 4
LONGEST_PROBLEM = 300


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as a harness meets it; ``argument`` is the field that an answer tool grades."""

    row: Tool
    name: str
    description: str
    input_schema: str
    argument: str | None


@dataclass(frozen=True, slots=True)
class Offer:
    """What a harness is shown: the listed tools, and the terminal one that it keeps to itself."""

    listed: tuple[OfferedTool, ...]
    terminal: OfferedTool | None

    def find(self, name: str) -> OfferedTool | None:
        """The tool of that name, listed or terminal."""
        known = (*self.listed, *((self.terminal,) if self.terminal else ()))
        return next((tool for tool in known if tool.name == name), None)


@lru_cache(maxsize=256)
def offer(served: ServedEnvironment) -> Offer:
    """The environment's tools.

    Harnesses that know nothing of terminal tools get a visible ``submit`` beside one, unless the
    environment has a tool of that name or does not want it.
    """
    environment, tools = served.environment, served.tools
    terminal = next((tool for tool in tools if tool.is_terminal), None)
    listed = [_offered(tool) for tool in tools if not tool.is_terminal]
    if terminal and environment.offers_submit and SUBMIT not in {tool.name for tool in tools}:
        listed.append(_submit(terminal))
    return Offer(listed=tuple(listed), terminal=_offered(terminal) if terminal else None)


def _offered(tool: Tool) -> OfferedTool:
    schema = tool.input_schema
    if not schema and tool.kind == ToolKind.ANSWER and tool.argument is not None:
        schema = _schema_of_one_text(tool.argument)
    return OfferedTool(tool, tool.name, tool.description, schema, tool.argument)


def _submit(terminal: Tool) -> OfferedTool:
    return OfferedTool(
        row=terminal,
        name=SUBMIT,
        description=SUBMIT_DESCRIPTION,
        input_schema=_schema_of_one_text(SUBMIT_ARGUMENT),
        argument=SUBMIT_ARGUMENT,
    )


def _schema_of_one_text(name: str) -> str:
    schema = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
    return json.dumps(schema)


def input_problem(tool: OfferedTool, given: dict[str, Any]) -> str:
    """Why ``given`` does not fit the tool's JSON Schema, with places; empty if it does."""
    if not tool.input_schema:
        return ""
    try:
        found = list(_validator(tool.input_schema).iter_errors(given))
    except (SchemaError, Unresolvable) as error:
        return f"The schema of this tool cannot be used: {str(error)[:LONGEST_PROBLEM]}"
    return "; ".join(_problems(found[:MOST_PROBLEMS]))


def _problems(errors: Iterable[Any]) -> Iterable[str]:
    for error in errors:
        place = "".join(f"[{step!r}]" for step in error.absolute_path)
        yield f"input{place[:LONGEST_PROBLEM]}: {error.message[:LONGEST_PROBLEM]}"


@lru_cache(maxsize=512)
def _validator(schema: str) -> Validator:
    """The validator of a schema's text. References lead nowhere outside of it."""
    parsed = json.loads(schema)
    made = validator_for(parsed, default=Draft202012Validator)
    made.check_schema(parsed)
    validator: Validator = made(parsed, registry=EMPTY_REGISTRY)
    return validator
