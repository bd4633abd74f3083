"""What a harness is offered, and which arguments fit."""

import json
from typing import Any

import pytest

from apps.episodes.tools import Offer, OfferedTool, input_problem, offer
from apps.tasks.models import Environment, Tool, ToolKind
from apps.tasks.serving import ServedEnvironment


def tool(name: str, **fields: Any) -> Tool:
    return Tool(**{"name": name, "kind": ToolKind.ANSWER, "argument": "text", **fields})


def offered(*tools: Tool, offers_submit: bool = True) -> Offer:
    return offer(ServedEnvironment(Environment(offers_submit=offers_submit), tools))


def names(found: Offer) -> list[str]:
    return [each.name for each in found.listed]


def test_submit_is_offered_beside_a_terminal_tool_if_the_environment_wants_it() -> None:
    terminal = tool("reply", is_terminal=True)
    assert names(offered(terminal)) == ["submit"]
    assert names(offered(terminal, offers_submit=False)) == []
    found = offered(terminal).find("submit")
    assert found is not None
    assert (found.row, found.argument) == (terminal, "answer")


def test_submit_is_not_offered_twice() -> None:
    own = tool("submit", argument="answer")
    assert names(offered(tool("reply", is_terminal=True), own)) == ["submit"]
    assert names(offered(own)) == ["submit"]
    terminal = tool("submit", is_terminal=True)
    assert names(offered(terminal)) == []
    assert offered(terminal).find("submit") is not None


def test_a_terminal_tool_is_found_by_its_name() -> None:
    found = offered(tool("reply", is_terminal=True)).find("reply")
    assert found is not None
    assert found.argument == "text"
    assert offered(tool("reply", is_terminal=True)).find("ghost") is None


def test_an_answer_tool_without_a_schema_takes_one_text() -> None:
    (found,) = offered(tool("hand_in")).listed
    assert json.loads(found.input_schema)["required"] == ["text"]
    assert input_problem(found, {"text": "x"}) == ""
    assert "'text' is a required property" in input_problem(found, {})


def test_an_answer_tool_without_an_argument_takes_anything() -> None:
    (found,) = offered(tool("done", argument=None)).listed
    assert found.input_schema == ""
    assert input_problem(found, {"whatever": 1}) == ""


def with_schema(schema: Any) -> OfferedTool:
    (found,) = offered(tool("t", input_schema=json.dumps(schema))).listed
    return found


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"n": "x"}, "input['n']: 'x' is not of type 'integer'"),
        ({"n": 1, "deep": [{"a": None}]}, "input['deep'][0]['a']: "),
    ],
)
def test_a_problem_names_its_place(given: Any, place: str) -> None:
    items = {"type": "object", "properties": {"a": {"type": "string"}}}
    properties = {"n": {"type": "integer"}, "deep": {"type": "array", "items": items}}
    assert input_problem(with_schema({"properties": properties}), given).startswith(place)


def test_problems_are_short_and_few() -> None:
    schema = {"properties": {f"k{n}": {"type": "integer"} for n in range(50)}}
    problem = input_problem(with_schema(schema), {f"k{n}": "x" * 10_000 for n in range(50)})
    assert len(problem) < 2000


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "#/nowhere"},
    ],
)
def test_a_schema_that_cannot_be_used_is_a_problem_and_nothing_is_fetched(schema: Any) -> None:
    assert "schema" in input_problem(with_schema(schema), {"a": 1}).lower()


def test_a_reference_inside_of_the_schema_is_followed() -> None:
    schema = {"$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n"}}}
    assert input_problem(with_schema(schema), {"a": 1}) == ""
    assert input_problem(with_schema(schema), {"a": "1"})
