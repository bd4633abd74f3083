"""A proposed mapping reads the rows it was made from."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.column_mapping import apply, suggest
from apps.dialogue.errors import ImportRefused
from tests.dialogue.conversations import json_values, texts

A, B = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}


@pytest.mark.parametrize(
    ("row", "turns", "attributes"),
    [
        ({"question": "a", "answer": "x"}, [A], {"answer": "x"}),
        ({"Prompt": "a", "Response": "b", "score": 1}, [A, B], {"score": 1}),
        ({"response": "b", "user message": "a"}, [A, B], {}),
        ({"user_1": "a", "assistant_1": "b", "user_2": ""}, [A, B], {}),
        ({"turn 2": "b", "turn 1": "a"}, [A, B], {}),
        ({"turns": ["a", "b"]}, [A, B], {}),
        ({"turns": '["a", "b"]'}, [A, B], {}),
        ({"chat": [A, B]}, [A, B], {}),
        ({"log": [{"who": 1, "sender": "Guest", "body": "a"},
                  {"who": 2, "sender": "Support", "body": "b"}]}, [A, B], {}),
        ({"n": 5, "words in {{ braces }}": "a"}, [A], {"n": 5}),
        ({"self": "a"}, [A], {}),
    ],
)  # fmt: skip
def test_columns_are_recognised_by_name_and_value(
    row: dict[str, Any], turns: list[Any], attributes: dict[str, Any]
) -> None:
    mapped = apply(suggest([row]), row, [])
    assert mapped.turns == turns
    assert mapped.attributes == attributes


def test_a_pair_is_proposed_as_a_pair() -> None:
    row = {"prompt": "a", "chosen": "b", "rejected": "c"}
    mapped = apply(suggest([row]), row, [])
    assert (mapped.turns, mapped.chosen) == ([A], [[B]])
    assert mapped.rejected == [[{"role": "assistant", "content": "c"}]]


def test_a_column_that_some_rows_lack_is_no_error() -> None:
    rows: list[dict[str, Any]] = [{"question": "a", "system": "s"}, {"question": "a"}]
    mapping = suggest(rows)
    assert [len(apply(mapping, row, []).turns) for row in rows] == [2, 1]


def test_rows_without_any_text_are_refused() -> None:
    with pytest.raises(ImportRefused, match="no column holds a text"):
        suggest([{"a": 1, "b": None}])


NAMES = st.sampled_from(
    ["id", "question", "turns", "messages", "chosen", "user_1", "user_2", "system", "x y", "range"]
)


@given(st.lists(st.dictionaries(NAMES | texts, texts | json_values, max_size=5), max_size=4))
def test_a_proposal_reads_the_rows_it_was_made_from(rows: list[dict[str, Any]]) -> None:
    try:
        mapping = suggest(rows)
    except ImportRefused:
        return
    for row in rows:
        apply(mapping, row, [])
