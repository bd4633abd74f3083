"""Rows become the parts of tasks."""

import copy
import tracemalloc
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.column_mapping import MappedRow, apply, parse_mapping
from apps.dialogue.errors import DialogueError, ImportRefused
from apps.dialogue.file_containers import Note
from tests.dialogue.conversations import json_objects, json_values

USER = {"role": "user", "content": "question"}


def applied(mapping: dict[str, Any], row: dict[str, Any]) -> tuple[MappedRow, list[Note]]:
    notes: list[Note] = []
    return apply(parse_mapping(mapping), row, notes), notes


def test_a_table_row_becomes_turns_and_attributes() -> None:
    mapping = {
        "key": "ticket",
        "conversation": [
            {"role": "system", "content": "You answer for {{ shop }}."},
            {"role": "user", "content": "question"},
        ],
    }
    row = {"ticket": 17, "shop": "Hut & Co", "question": "Where is it?", "target": "There."}
    mapped, notes = applied(mapping, row)
    assert mapped == MappedRow(
        key="17",
        turns=[
            {"role": "system", "content": "You answer for Hut & Co."},
            {"role": "user", "content": "Where is it?"},
        ],
        chosen=[],
        rejected=[],
        attributes={"target": "There."},
        tools=None,
        tags=None,
    )
    assert not notes


def test_odd_names_are_read_through_the_row() -> None:
    mapping = {"conversation": [{"role": "user", "content": "row['the question'] ~ row.get('z')"}]}
    mapped, _ = applied(mapping, {"the question": "a", "z": "b", "not": 1})
    assert mapped.turns == [{"role": "user", "content": "ab"}]
    assert mapped.attributes == {"not": 1}


def test_each_makes_a_turn_of_every_item() -> None:
    mapping = {
        "conversation": [
            {
                "each": "log",
                "role": "'assistant' if turn.from == 'agent' else 'user'",
                "content": "turn.text",
                "when": "not turn.hidden and index < 3",
                "name": "turn.who",
            }
        ]
    }
    log = [
        {"from": "c", "text": "a", "hidden": False, "who": "Ann"},
        {"from": "agent", "text": "b", "hidden": False, "who": None},
        {"from": "agent", "text": "no", "hidden": True, "who": None},
        {"from": "c", "text": "late", "hidden": False, "who": None},
    ]
    mapped, _ = applied(mapping, {"log": log})
    assert mapped.turns == [
        {"role": "user", "content": "a", "name": "Ann"},
        {"role": "assistant", "content": "b"},
    ]


def test_one_expression_may_give_all_the_turns() -> None:
    turns = [{"role": "user", "content": "a"}]
    assert applied({"conversation": "data.turns"}, {"data": {"turns": turns}})[0].turns == turns


def test_json_in_a_cell_is_read_with_a_note() -> None:
    mapping = {"conversation": "turns", "tools": "tools"}
    row = {"turns": '[{"role": "user", "content": "a"}]', "tools": '[{"name": "f"}]'}
    mapped, notes = applied(mapping, row)
    assert mapped.turns == [{"role": "user", "content": "a"}]
    assert mapped.tools == [{"name": "f"}]
    assert [(note.place, note.code) for note in notes] == [
        ("tools", "json_in_cell"),
        ("conversation", "json_in_cell"),
    ]


def test_answers_are_texts_turns_or_lists_of_them() -> None:
    said = [{"role": "assistant", "content": "b"}]
    mapping = {"conversation": [USER], "chosen": "good", "rejected": ["bad", "worse", "empty"]}
    row = {"question": "q", "good": "a", "bad": said, "worse": ["c", "d"], "empty": None}
    mapped, _ = applied(mapping, row)
    assert mapped.chosen == [[{"role": "assistant", "content": "a"}]]
    assert mapped.rejected == [
        said,
        [{"role": "assistant", "content": "c"}],
        [{"role": "assistant", "content": "d"}],
    ]
    assert mapped.attributes == {}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ("rest", {"b": 2, "c": [3]}),
        ("all", {"question": "q", "b": 2, "c": [3]}),
        ("none", {}),
        (["c", "absent"], {"c": [3]}),
        ({"sum": "b + c[0]", "label": "{{ question }}"}, {"sum": 5, "label": "q"}),
    ],
)
def test_attributes_are_what_the_mapping_says(attributes: Any, expected: dict[str, Any]) -> None:
    row = {"question": "q", "b": 2, "c": [3]}
    mapped, _ = applied({"conversation": [USER], "attributes": attributes}, row)
    assert mapped.attributes == expected


def test_a_column_whose_name_is_taken_is_named_in_the_ledger() -> None:
    row = {"question": "q", "id": 1, "uuid": "u", "conversation": "x", "tags": "t"}
    mapped, notes = applied({"key": "uuid", "conversation": [USER]}, row)
    assert mapped.key == "u"
    assert mapped.attributes == {"tags": "t"}
    assert {(note.kind, note.place) for note in notes} == {
        ("dropped", "id"),
        ("dropped", "conversation"),
    }


def test_tags_are_texts_and_lists_of_texts() -> None:
    mapping = {"conversation": [USER], "tags": ["'imported'", "topic", "labels", "year"]}
    row = {"question": "q", "topic": None, "labels": ["a", "b"], "year": 2026}
    assert applied(mapping, row)[0].tags == ["imported", "a", "b", "2026"]


@pytest.mark.parametrize(
    ("mapping", "row", "place", "message"),
    [
        (
            {"conversation": [{"role": "user", "content": "nope"}]},
            {"question": "q"},
            "conversation[0].content",
            "'nope' is not defined (a template here sees question, row) (in 'nope')",
        ),
        (
            {"conversation": [{"role": "user", "content": "{{ row.nope }}"}]},
            {"a": 1},
            "conversation[0].content",
            "has no key 'nope'",
        ),
        ({"conversation": "a"}, {"a": 5}, "conversation", "must give a list of turns"),
        ({"conversation": "a"}, {"a": ["x"]}, "conversation[0]", "a turn must be an object"),
        ({"conversation": "a"}, {"a": "[1"}, "conversation", "is not valid JSON"),
        ({"conversation": "a", "key": "b"}, {"a": [], "b": [1]}, "key", "not a list"),
        ({"conversation": "a", "key": "b"}, {"a": [], "b": True}, "key", "true or false"),
        ({"conversation": "a", "tags": ["a", "b"]}, {"a": [], "b": {}}, "tags[1]", "an object"),
        ({"conversation": "a", "chosen": "b"}, {"a": [], "b": 5}, "chosen", "not a number"),
        ({"conversation": "a", "attributes": {"x": "1/0"}}, {"a": []}, "attributes.x", "1/0"),
        ({"conversation": "'a' * 10**9"}, {}, "conversation", "would grow too large"),
    ],
)
def test_a_row_that_does_not_fit_names_place_and_expression(
    mapping: dict[str, Any], row: dict[str, Any], place: str, message: str
) -> None:
    with pytest.raises(ImportRefused) as refused:
        applied(mapping, row)
    assert refused.value.place == place
    assert message in refused.value.message


def test_the_sandbox_has_no_way_out() -> None:
    for source in ("row.__class__", "''.__class__.__mro__", "row.update({'a': 1})"):
        with pytest.raises(ImportRefused):
            applied({"conversation": source}, {"a": []})


def test_a_condition_takes_a_text_for_what_it_is() -> None:
    turn = {"role": "user", "content": "a", "when": "a"}
    assert applied({"conversation": [turn]}, {"a": "False"})[0].turns
    written = {**turn, "when": "{{ a == 'x' }}"}
    assert not applied({"conversation": [written]}, {"a": "y"})[0].turns


EXPRESSIONS = st.sampled_from(
    ["a", "b", "row", "row.a", "a | list", "a.b", "a[0]", "[a, b]", "'{{ a }}'", "{{ a }}", "a ~ b"]
)


@given(
    st.fixed_dictionaries(
        {
            "conversation": EXPRESSIONS
            | st.lists(
                st.fixed_dictionaries(
                    {"role": st.just("user") | EXPRESSIONS, "content": EXPRESSIONS},
                    optional={"each": EXPRESSIONS, "when": EXPRESSIONS},
                ),
                min_size=1,
                max_size=2,
            )
        },
        optional={
            "key": EXPRESSIONS,
            "chosen": EXPRESSIONS,
            "tags": EXPRESSIONS,
            "tools": EXPRESSIONS,
            "attributes": st.just("all") | st.dictionaries(st.just("x"), EXPRESSIONS),
        },
    ),
    st.fixed_dictionaries({"a": json_values, "b": json_values}) | json_objects,
)
def test_any_row_is_mapped_or_refused_and_left_as_it_was(
    mapping: dict[str, Any], row: dict[str, Any]
) -> None:
    before = copy.deepcopy(row)
    with suppress(DialogueError):
        applied(mapping, row)
    assert row == before


@pytest.mark.parametrize(
    ("parts", "place"),
    [
        ({"conversation": [{**USER, "each": "text | list"}]}, "conversation[0].each"),
        ({"conversation": [{**USER, "each": "range(1000) | list"}] * 20}, "conversation[10]"),
        ({"conversation": "text | list"}, "conversation"),
        ({"conversation": [{"role": "user", "content": "text | list"}] * 400}, "conversation["),
        ({"attributes": {f"a{n}": "text * 30" for n in range(90)}}, "attributes.a"),
        ({"tags": ["text * 30"] * 90}, "tags["),
        ({"chosen": ["[text] * 9"] * 200}, "chosen["),
        (
            {"conversation": [{**USER, "each": "range(9000) | list", "when": "false"}] * 20},
            "conversation[",
        ),
    ],
)
def test_a_small_row_cannot_be_made_into_too_much(parts: dict[str, Any], place: str) -> None:
    row = {"question": "q", "text": "x" * 30_000}
    mapping = parse_mapping({"conversation": [USER], **parts})
    tracemalloc.start()
    try:
        with pytest.raises(ImportRefused) as refused:
            apply(mapping, row, [])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert refused.value.place.startswith(place)
    assert refused.value.code == "too_long"
    assert peak < 100 * 2**20


def test_a_large_row_may_become_as_large_a_task() -> None:
    text = "x" * (20 * 2**20)
    mapped, _ = applied({"conversation": [USER]}, {"question": text})
    assert mapped.turns == [{"role": "user", "content": text}]
    with pytest.raises(ImportRefused):
        applied({"conversation": [USER, USER]}, {"question": text})


def test_ten_thousand_turns_are_made_and_not_one_more() -> None:
    mapping = {"conversation": [{"each": "log", "role": "user", "content": "turn"}]}
    assert len(applied(mapping, {"log": ["x"] * 10_000})[0].turns) == 10_000
    with pytest.raises(ImportRefused, match="10001 items"):
        applied(mapping, {"log": ["x"] * 10_001})
