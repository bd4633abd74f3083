"""Expressions: a value instead of a text, in the same sandbox."""

from typing import Any

import pytest

from apps.dialogue.errors import TemplateError
from apps.dialogue.templating import compile_expression


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("a", 1),
        ("b | map('upper')", ["X", "Y"]),
        ("b | map('upper') | join", "XY"),
        ("{'k': (a, b)}", {"k": [1, ["x", "y"]]}),
        ("a if c else none", None),
        ("range(3)", [0, 1, 2]),
        ("o.items()", [["k", 2]]),
        ("value_of_the_expression", 5),
    ],
)
def test_the_value_is_plain_data(source: str, value: Any) -> None:
    context = {"a": 1, "b": ["x", "y"], "c": False, "o": {"k": 2}, "value_of_the_expression": 5}
    assert compile_expression(source).evaluate(context) == value


def test_the_value_is_a_copy() -> None:
    context: dict[str, Any] = {"a": {"b": [1]}}
    compile_expression("a").evaluate(context)["b"].append(2)
    assert context == {"a": {"b": [1]}}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "unexpected 'end of template'"),
        ("a b", "something follows it"),
        ("a }} b", "something follows it"),
        ("{% if a %}", "unexpected"),
        ("nope", "'nope' is not defined (a template here sees a)"),
        ("[nope]", "'nope' is not defined"),
        ("a.nope", "has no"),
        ("1 / 0", "ZeroDivisionError"),
        ("'a' * 10**8", "would grow too large"),
        ("a.__class__", "has no '__class__'"),
        ("'nan' | float * 1", "is nan"),
        ("range", "is a function"),
    ],
)
def test_what_is_wrong_is_said(source: str, message: str) -> None:
    with pytest.raises(TemplateError) as refused:
        compile_expression(source).evaluate({"a": 1})
    assert message in str(refused.value)


def test_an_expression_says_what_it_reads() -> None:
    expression = compile_expression("row['x y'] ~ row.get('z') ~ (q if row.w else 1)")
    assert expression.names == {"row", "q"}
    assert {key for name, key in expression.lookups if name == "row"} >= {"x y", "z", "w"}
