"""Values that JSON, UTF-8 and a database can carry survive exactly; others are refused (P4, P5)."""

import json
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given

from apps.dialogue.blocks.json_values import NotJson, checked_attributes, json_copy, json_object
from apps.dialogue.errors import InvalidAttributes
from tests.dialogue.conversations import json_objects


def nested(levels: int) -> Any:
    value: Any = 0
    for _ in range(levels):
        value = [value]
    return value


@given(json_objects)
def test_a_value_survives_exactly_and_is_a_copy(value: dict[str, Any]) -> None:
    copied = json_object(value)
    assert json.dumps(copied) == json.dumps(value)
    assert repr(copied) == repr(value)  # 1, 1.0 and True stay what they are
    value["added"] = 1
    assert "added" not in copied


@pytest.mark.parametrize(
    ("value", "path", "reason"),
    [
        ({"a": [1, nan]}, ".a[1]", "nan"),
        ({"a": inf}, ".a", "inf"),
        ({"a": {"b": "x\x00"}}, ".a.b", "NUL"),
        ({"a": ["ok", "\ud83d"]}, ".a[1]", "surrogate"),
        ({"k\x00": 1}, "", "NUL"),
        ({"\udc00": 1}, "", "surrogate"),
        ({1: 2}, "", "key 1"),
        ({"a": 10**4300}, ".a", "4300 digits"),
        ({"a": -(10**4300)}, ".a", "4300 digits"),
        ({"a": {1, 2}}, ".a", "set"),
        ({"a": b"x"}, ".a", "bytes"),
        ({"a": nested(3000)}, ".a", "nested more than 200"),
    ],
)
def test_what_cannot_be_carried_is_refused_with_its_path(
    value: dict[Any, Any], path: str, reason: str
) -> None:
    with pytest.raises(NotJson) as refused:
        json_object(value)
    assert refused.value.path.startswith(path)
    assert reason in refused.value.message
    assert len(str(refused.value)) < 200


def test_the_largest_things_that_are_taken() -> None:
    assert json_copy(10**4300 - 1) == 10**4300 - 1
    assert json_copy(nested(200)) == nested(200)
    with pytest.raises(NotJson):
        json_copy(nested(201))


@pytest.mark.parametrize("value", [None, [], "x", 5, True])
def test_an_object_is_wanted(value: object) -> None:
    with pytest.raises(NotJson, match="must be an object"):
        json_object(value)


def test_attributes_are_refused_by_place() -> None:
    with pytest.raises(InvalidAttributes) as refused:
        checked_attributes({"question": "Q", "scores": [1.5, nan]})
    assert refused.value.place == "attributes.scores[1]"
    assert str(refused.value).startswith("attributes.scores[1]: is nan")
