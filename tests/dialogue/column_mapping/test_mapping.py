"""What a mapping says, and what is said of a wrong one."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.column_mapping import parse_mapping
from apps.dialogue.errors import SpecError
from tests.dialogue.conversations import json_values

USER = {"role": "user", "content": "question"}


@pytest.mark.parametrize(
    ("raw", "place", "message"),
    [
        ({}, "conversation", "is missing"),
        ({"conversation": []}, "conversation", "must not be empty"),
        ({"conversation": 3}, "conversation", "a list of turns or an expression, not a number"),
        ({"conversation": "turns |"}, "conversation", "'turns |'"),
        ({"conversation": "a b"}, "conversation", "something follows it"),
        ({"conversation": [{"role": "user"}]}, "conversation[0].content", "is missing"),
        (
            {"conversation": [USER, {"role": "user", "content": {"question": None}}]},
            "conversation[1].content",
            "put a template in quotes",
        ),
        ({"conversation": [{**USER, "when": "a ="}]}, "conversation[0].when", "'a ='"),
        ({"conversation": [{**USER, "contents": "a"}]}, "conversation[0].contents", "content"),
        ({"conversation": [USER], "attributes": ["id"]}, "attributes.id", "is taken"),
        ({"conversation": [USER], "attributes": "some"}, "attributes", "rest, all, none"),
        ({"conversation": [USER], "attributes": {"a": "("}}, "attributes.a", "'('"),
        ({"conversation": [USER], "tags": []}, "tags", "must not be empty"),
        ({"conversation": [USER], "chosen": ["a", "b c"]}, "chosen[1]", "'b c'"),
        ({"conversation": [USER], "key": " "}, "key", "must not be empty"),
        ({"conversation": [USER], "keys": "id"}, "keys", "did you mean 'key'?"),
        ([], "", "must be an object"),
    ],
)
def test_a_wrong_mapping_is_refused_at_its_place(raw: Any, place: str, message: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_mapping(raw)
    assert refused.value.problems[0][0] == place
    assert message in refused.value.problems[0][1]


def test_every_problem_is_named_at_once() -> None:
    raw = {"conversation": [{"role": "a b", "content": "("}], "key": "{{", "attributes": 5}
    with pytest.raises(SpecError) as refused:
        parse_mapping(raw)
    places = {place for place, _ in refused.value.problems}
    assert places == {
        "conversation[0].role",
        "conversation[0].content",
        "key",
        "attributes",
    }


@pytest.mark.parametrize(
    "raw",
    [
        {"conversation": "messages"},
        {"conversation": [{**USER, "when": "question", "each": "xs"}], "key": "id"},
        {"chosen": "a", "rejected": ["b", "c"], "tags": ["'x'"], "tools": "tools"},
        {"conversation": [USER], "attributes": {"a": "b", "c": "{{ d }}"}},
        {"conversation": [USER], "attributes": ["a", "b"]},
    ],
)
def test_a_mapping_is_stored_as_plain_data(raw: dict[str, Any]) -> None:
    mapping = parse_mapping(raw)
    assert parse_mapping(mapping.to_data()) == mapping


@given(
    st.fixed_dictionaries(
        {"conversation": json_values},
        optional=dict.fromkeys(
            ["key", "chosen", "rejected", "attributes", "tools", "tags", "x"], json_values
        ),
    )
    | json_values
)
def test_nonsense_is_refused_and_never_crashes(raw: Any) -> None:
    with suppress(SpecError):
        parse_mapping(raw)


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        (
            {"conversation": [USER], "attributes": {f"a{n}": "q" for n in range(20_000)}},
            "attributes",
        ),
        ({"conversation": [{**USER, "when": "question"}] * 501}, "conversation"),
        ({"conversation": [USER], "tags": ["q"] * 1_000}, "tags"),
    ],
)
def test_a_mapping_of_too_many_expressions_is_refused(raw: Any, place: str) -> None:
    with pytest.raises(SpecError, match="at most 1000 expressions") as refused:
        parse_mapping(raw)
    assert refused.value.place == place


def test_columns_that_are_only_named_are_no_expressions() -> None:
    names = [f"column {n}" for n in range(5_000)]
    assert parse_mapping({"conversation": [USER], "attributes": names}).attributes == tuple(names)


@pytest.mark.parametrize(
    "source",
    ["[" * 90_000, "[" * 300_000, "1e400", "-1e400", "{{ 1e400 }}", "9" * 5_000, "-" * 9_000],
)
def test_what_cannot_be_compiled_is_refused_in_few_words(source: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_mapping({"conversation": [{"role": "user", "content": source}]})
    assert refused.value.place == "conversation[0].content"
    assert len(refused.value.message) < 300
