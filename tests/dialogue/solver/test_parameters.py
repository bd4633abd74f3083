"""The eleven types of config_spec."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from apps.dialogue.errors import SpecError
from apps.dialogue.solver.parameters import AnyParameter, NotAccepted
from apps.dialogue.specification import read

PARAMETER: TypeAdapter[Any] = TypeAdapter(AnyParameter)


def parameter(kind: str, **more: Any) -> Any:
    return read(PARAMETER, {"key": "k", "type": kind, "display_name": "K", **more})


COLOURS = {"allowed_values": ["red", "blue"]}

ACCEPTED: list[tuple[str, dict[str, Any], Any, Any]] = [
    ("string", {}, "x", "x"),
    ("string", {"string_kind": "jinja", "examples": [{"value": "a", "display_name": "A"}]}, "", ""),
    ("int", {}, 3, 3),
    ("int", {}, 3.0, 3),
    ("int", {}, "-3", -3),
    ("float", {"min": 0, "max": 1}, 0.5, 0.5),
    ("float", {}, "1e3", 1000.0),
    ("boolean", {}, True, True),
    ("boolean", {}, "false", False),
    ("categorical", COLOURS, "red", "red"),
    ("categorical", {**COLOURS, "multiple": True}, ["red", "blue"], ["red", "blue"]),
    ("categorical", {**COLOURS, "multiple": True}, '["red"]', ["red"]),
    ("categorical", {**COLOURS, "values_mapping": {"red": 1}}, "red", 1),
    ("list", {"dtype": "integer"}, [1, 2], [1, 2]),
    ("list", {"dtype": "string"}, '["a"]', ["a"]),
    ("dict", {"value_dtype": "float"}, {"a": 1}, {"a": 1.0}),
    ("dict", {"value_dtype": "boolean"}, '{"a": true}', {"a": True}),
    ("model", {"usage": "judge_model"}, "m", "m"),
    ("dataset", {}, "demo/x", "demo/x"),
    ("dataset_column", {}, "q", "q"),
    ("task_result", {}, "r", "r"),
    ("int", {"nullable": True}, None, None),
]


@pytest.mark.parametrize(("kind", "more", "value", "accepted"), ACCEPTED)
def test_a_value_of_the_type_is_accepted(
    kind: str, more: dict[str, Any], value: Any, accepted: Any
) -> None:
    taken = parameter(kind, **more).accept(value)
    assert taken == accepted
    assert type(taken) is type(accepted)


REFUSED: list[tuple[str, dict[str, Any], Any, str]] = [
    ("string", {}, 3, "a text"),
    ("int", {}, 1.5, "a whole number"),
    ("int", {}, True, "a whole number"),
    ("int", {"max": 3}, 4, "at most 3"),
    ("float", {"min": 0}, -0.1, "at least 0"),
    ("float", {}, "nan", "a number"),
    ("float", {}, True, "a number"),
    ("boolean", {}, "yes", "true or false"),
    ("boolean", {}, 1, "true or false"),
    ("categorical", COLOURS, "green", "red, blue"),
    ("categorical", {**COLOURS, "multiple": True}, ["red", "green"], "'green'"),
    ("list", {"dtype": "integer"}, ["a"], "a whole number"),
    ("list", {"dtype": "integer"}, 3, "a list"),
    ("list", {"dtype": "integer"}, "[1", "JSON"),
    ("dict", {"value_dtype": "string"}, {"a": 1}, "a text"),
    ("dict", {"value_dtype": "string"}, [1], "an object"),
    ("model", {}, None, "null"),
]


@pytest.mark.parametrize(("kind", "more", "value", "naming"), REFUSED)
def test_another_value_is_refused_by_name(
    kind: str, more: dict[str, Any], value: Any, naming: str
) -> None:
    with pytest.raises(NotAccepted) as refused:
        parameter(kind, **more).accept(value)
    assert naming in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "more", "place"),
    [
        ("int", {"default_value": "x"}, "default_value"),
        ("categorical", {"allowed_values": []}, "allowed_values"),
        ("list", {"dtype": "text"}, "dtype"),
        ("dict", {}, "value_dtype"),
        ("string", {"max": 3}, "max"),
        ("model", {"usage": "other"}, "usage"),
        ("number", {}, "type"),
    ],
)
def test_a_wrong_parameter_is_refused_with_its_place(
    kind: str, more: dict[str, Any], place: str
) -> None:
    with pytest.raises(SpecError) as refused:
        parameter(kind, **more)
    assert refused.value.place == place
