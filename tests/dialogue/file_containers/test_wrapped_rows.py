"""Rows in objects, columns and broken arrays are found, with their lines, and nothing is silent."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.file_containers import Row, file_rows

CHAT = {"messages": [{"role": "user", "content": "hi"}]}


def rows(data: str | bytes, name: str = "") -> list[Row]:
    return list(file_rows(io.BytesIO(data if isinstance(data, bytes) else data.encode()), name))


def values(data: str, name: str = "") -> list[Any]:
    return [row.value for row in rows(data, name)]


def codes(row: Row) -> list[str]:
    return [note.code for note in row.notes]


@pytest.mark.parametrize("name", ["data", "rows", "items", "examples", "train"])
@pytest.mark.parametrize("indent", [None, 1])
def test_a_list_of_rows_in_an_object_is_unwrapped(name: str, indent: int | None) -> None:
    wrapped = {name: [{"question": "a"}, {"question": "b"}], "count": 2, "more": {"x": [1]}}
    found = rows(json.dumps(wrapped, indent=indent))
    assert [row.value for row in found] == wrapped[name]
    assert [row.line for row in found] == ([1, 1] if indent is None else [3, 6])
    assert "wrapped" in codes(found[0])
    said = " ".join(note.message for row in found for note in row.notes)
    assert "'count'" in said
    assert "'more'" in said


def test_the_list_may_stand_behind_other_keys() -> None:
    data = {"version": 1, "data": [{"question": "a"}], "license": "x"}
    assert values(json.dumps(data, indent=2)) == [{"question": "a"}]


def test_what_the_viewer_of_hugging_face_puts_around_rows_is_taken_off() -> None:
    page = {"features": [], "rows": [{"row_idx": 0, "row": CHAT, "truncated_cells": []}]}
    assert values(json.dumps(page)) == [CHAT]
    page = {"rows": page["rows"], "num_rows_total": 1}
    assert values(json.dumps(page, indent=1) + "\n" + json.dumps(page)) == [CHAT, CHAT]


@pytest.mark.parametrize(
    "row",
    [
        {"data": [{"role": "user", "content": "x"}]},
        {"items": [{"type": "message", "role": "user", "content": []}]},
        {"items": [{"from": "human", "value": "x"}]},
        {"question": "q", "data": [{"a": 1}]},
        {"conversations": [{"from": "human", "value": "x"}]},
        {"messages": [{"role": "user", "content": "a"}], "tools": [{"name": "x"}]},
        {"data": []}, {"data": ["a"]}, {"turns": ["a", "b"]}, {"a": {}}, {"data": {"x": 1}},
    ],
)  # fmt: skip
@pytest.mark.parametrize("indent", [None, 2])
def test_a_row_that_only_looks_wrapped_is_left_alone(row: Any, indent: int | None) -> None:
    assert values(json.dumps(row, indent=indent)) == [row]


@pytest.mark.parametrize(
    "table",
    [
        {"messages": [CHAT["messages"], CHAT["messages"]], "id": [1, 2]},
        {"messages": {"0": CHAT["messages"], "1": CHAT["messages"]}, "id": {"0": 1, "1": 2}},
        {"columns": ["messages", "id"], "index": [0, 1],
         "data": [[CHAT["messages"], 1], [CHAT["messages"], 2]]},
    ],
    ids=["lists", "pandas", "pandas split"],
)  # fmt: skip
@pytest.mark.parametrize("indent", [None, 2])
def test_columns_become_rows(table: Any, indent: int | None) -> None:
    found = rows(json.dumps(table, indent=indent))
    assert [row.value for row in found] == [{**CHAT, "id": 1}, {**CHAT, "id": 2}]
    assert codes(found[0]) == ["columnar"]
    assert codes(found[1]) == []


def test_columns_of_texts_become_rows() -> None:
    assert values('{"question": ["a", "b"], "answer": ["c", null]}') == [
        {"question": "a", "answer": "c"}, {"question": "b", "answer": None}
    ]  # fmt: skip


def test_a_bare_list_of_turns_is_one_conversation() -> None:
    turns = [{"role": "user", "content": "a"}, {"content": "b", "role": "assistant"}]
    for data in (turns, [turns, turns]):
        for indent in (None, 1):
            found = rows(json.dumps(data, indent=indent))
            assert {codes(row)[-1] for row in found} == {"bare_list"}
            assert [row.value for row in found] == [{"messages": turns}] * (len(found))
    lines = json.dumps(turns) + "\n" + json.dumps(turns)
    assert [row.line for row in rows(lines, "x.jsonl")] == [1, 2]
    of = [{**turn, "conversation_id": n} for n, turn in enumerate(turns)]
    assert values(json.dumps(of)) == of


def test_a_broken_element_of_an_array_is_one_fault() -> None:
    data = '[\n{"a": 1},\n{"a": oops},\n\n{"a": 3},\n{"a": "cut o\n{"a": 5}\n]'
    found = rows(data)
    assert [(row.line, row.value, bool(row.fault)) for row in found] == [
        (2, {"a": 1}, False), (3, None, True), (5, {"a": 3}, False),
        (6, None, True), (7, {"a": 5}, False),
    ]  # fmt: skip
    assert "(line 3, character 7)" in found[1].fault


def test_a_broken_element_of_a_pretty_array_is_one_fault() -> None:
    good = {"messages": [{"role": "user", "content": "x"}]}
    data = json.dumps([good, {"bad": 1}, good], indent=2).replace('"bad": 1', '"bad": oops')
    found = rows(data)
    assert [row.value for row in found] == [good, None, good]
    assert [row.line for row in found] == [2, 10, 13]


def test_objects_one_after_another_go_on_behind_a_broken_one() -> None:
    good = json.dumps({"a": {"b": 1}}, indent=1)
    found = rows(f"{good}\n{good.replace('1', 'oops')}\n{good}\n")
    assert [row.value for row in found] == [{"a": {"b": 1}}, None, {"a": {"b": 1}}]


def test_nothing_is_made_of_the_inside_of_a_broken_object() -> None:
    data = '[\n{\n"messages": [\n{\n"role": oops\n},\n{\n"role": "user"\n}\n]\n}\n]'
    (row,) = rows(data)
    assert "what may follow it was not read" in row.fault


def test_commas_that_are_not_where_they_should_be_are_noted() -> None:
    found = rows('[,,{"a": 1}{"a": 2},,{"a": 3},]')
    assert [row.value for row in found] == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert [codes(row) for row in found] == [
        ["extra_comma"], ["missing_comma"], ["extra_comma", "extra_comma"]
    ]  # fmt: skip


def test_objects_on_one_line_are_rows_each() -> None:
    found = rows('{"a": 1}{"a": 2} {"a": 3}\n{"a": 4},\n{"a": 5} {"a"\n{"a": 6}\n')
    assert [(row.line, row.value) for row in found] == [
        (1, {"a": 1}), (1, {"a": 2}), (1, {"a": 3}), (2, {"a": 4}), (3, None), (4, {"a": 6})
    ]  # fmt: skip
    assert codes(found[3]) == ["extra_comma"]


def test_a_name_that_promises_another_json_is_noted_once() -> None:
    lines = '{"a": 1}\n{"a": 2}\n{"a": 3}'
    assert [codes(row) for row in rows(lines, "x.json")] == [["jsonl_in_json"], [], []]
    assert [codes(row) for row in rows('{"a": 1}', "x.json")] == [[]]
    assert [codes(row) for row in rows(lines, "x.jsonl")] == [[], [], []]
    assert [codes(row) for row in rows('[{"a": 1}, {"a": 2}]', "x.jsonl")] == [
        ["array_in_jsonl"],
        [],
    ]


def test_bytes_that_are_no_utf_8_spoil_only_their_own_value() -> None:
    found = rows(b'[{"a": "\xc3\xa9"}, {"a": "\xe9"}, {"a": "b"}]')
    assert [row.value for row in found] == [{"a": "é"}, None, {"a": "b"}]
    assert found[1].fault_code == "bad_encoding"


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(["x", "y", "z", "zz"]), JSON, min_size=1, max_size=3)


@given(st.lists(OBJECTS, min_size=1, max_size=4), st.sampled_from([None, 0, 2]), st.integers(1, 50))
def test_any_objects_come_out_as_they_went_in(
    objects: list[dict[str, Any]], indent: int | None, size: int
) -> None:
    for written in (
        "\n".join(json.dumps(each, indent=indent) for each in objects),
        json.dumps(objects, indent=indent, ensure_ascii=False),
        json.dumps({"data": objects}, indent=indent),
    ):
        data = written.encode()
        pieces = [data[at : at + size] for at in range(0, len(data), size)]
        found = list(file_rows(pieces))
        if "columnar" not in {code for row in found for code in codes(row)}:
            assert [row.value for row in found] == objects


@pytest.mark.parametrize("first", [True, False])
def test_a_list_whose_elements_hold_conversations_may_have_any_name(first: bool) -> None:
    threads = {"threads": [{"id": "a", **CHAT}, {"id": "b", **CHAT}]}
    beside = {"version": 4, "prompts": [{"id": "p", "name": "no conversation"}]}
    found = rows(json.dumps({**threads, **beside} if first else {**beside, **threads}))
    assert [row.value for row in found] == threads["threads"]
    said = " ".join(note.message for row in found for note in row.notes)
    assert "'prompts'" in said
    assert "'version'" in said


@pytest.mark.parametrize(
    "turn", [{"user": "human", "text": "a"}, {"speaker": "Ann", "text": "a"}, {"text": "a"}]
)
def test_turns_with_a_text_are_no_rows(turn: dict[str, str]) -> None:
    row = {"conversations": [turn, turn]}
    assert values(json.dumps(row)) == [row]


@pytest.mark.parametrize("indent", [None, 2])
def test_rows_may_stand_under_their_numbers(indent: int | None) -> None:
    counted = rows(json.dumps({"0": CHAT, "1": CHAT}, indent=indent))
    assert [row.value for row in counted] == [CHAT, CHAT]
    assert codes(counted[0]) == ["wrapped"]
    chosen = rows(json.dumps({"17": CHAT, "42": CHAT}, indent=indent))
    assert [row.value["__index_level_0__"] for row in chosen] == [17, 42]


@pytest.mark.parametrize("row", [{"0": CHAT, "x": CHAT}, {"0": {"a": 1}}, {"9" * 5000: CHAT}])
def test_other_objects_of_objects_stay_one_row(row: Any) -> None:
    assert values(json.dumps(row)) == [row]
