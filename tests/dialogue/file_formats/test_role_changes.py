"""Roles that a person changes in a preview go to the turns that were meant, and to no others."""

import json
from typing import Any

import pytest

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats import ReadRow, read_tasks
from apps.dialogue.file_formats.base.role_changes import parse_role_changes

TALK = b"Priya: My lamp flickers\nJoel: Which model?\nPriya: L2\n"
ON_ONE_LINE = json.dumps(
    [{"messages": [{"role": "user", "content": text}]} for text in ("one", "two")]
).encode()


def read(data: bytes, roles: dict[str, Any]) -> list[ReadRow]:
    return list(read_tasks([data], roles=roles))


def letters(data: bytes, roles: dict[str, Any]) -> list[str]:
    return [row.roles for row in read(data, roles)]


def test_all_turns_of_a_speaker_change_and_a_single_turn_wins() -> None:
    assert letters(TALK, {"speakers": {"Priya": "assistant", "Joel": "user"}}) == ["aua"]
    changed = {"speakers": {"Priya": "assistant"}, "turns": {"1:0": "system"}}
    assert letters(TALK, changed) == ["saa"]


def test_what_begins_on_the_same_line_is_told_apart_by_its_row() -> None:
    assert letters(ON_ONE_LINE, {"turns": {"1:0": "assistant"}}) == ["a", "a"]
    assert letters(ON_ONE_LINE, {"turns": {"#1:0": "assistant"}}) == ["u", "a"]


def test_a_change_is_noted_where_it_was_made() -> None:
    (row,) = read(TALK, {"turns": {"#0:2": "system"}})
    notes = [note for note in row.notes if note.code == "role_change"]
    assert [(note.kind, note.place) for note in notes] == [("converted", "messages[2]")]


def test_a_call_cannot_be_said_by_a_person_and_the_row_is_refused() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    row = {"messages": [{"role": "assistant", "tool_calls": [call]}]}
    (changed,) = read(json.dumps(row).encode(), {"turns": {"#0:0": "user"}})
    assert changed.task is None
    assert changed.notes[-1].code == "role_change"


@pytest.mark.parametrize(
    "roles",
    [
        {"turns": {"1:0": "critic"}},
        {"names": {}},
        {"speakers": ["Priya"]},
        ["Priya"],
        *(
            {"turns": {turn: "user"}}
            for turn in ("a", "-1:0", "1:-1", "1", "1:", ":0", "#:0", "01:0", "1:0 ", "\u0661:0")
        ),
        {"turns": {"1:" + "9" * 5_000: "user"}},
        {"turns": {"f" * 1_000 + ":1:0": "user"}},
        {"turns": {f"{n}:0": "user" for n in range(10_001)}},
        {"speakers": {"P" * 201: "user"}},
        {
            "speakers": {f"P{n}": "user" for n in range(5_001)},
            "turns": dict.fromkeys((f"{n}:0" for n in range(5_000)), "user"),
        },
    ],
)
def test_changes_of_another_shape_are_refused_at_once(roles: Any) -> None:
    with pytest.raises(ImportRefused) as refused:
        read(TALK, roles)
    assert refused.value.place.startswith("roles")
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("turn", ["1:0", "0:12", "#0:0", "#99999:3", "a/b: c.txt:1:0", "#odd:2:0"])
def test_turns_are_named_by_line_file_or_row(turn: str) -> None:
    assert parse_role_changes({"turns": {turn: "user"}}).turns == {turn: "user"}
