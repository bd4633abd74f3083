"""What is remarked on a conversation, and what rows have in common; roles that a person changed."""

import io
import json
from typing import Any

import pytest

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats import ReadRow, read_tasks


def read(*rows: Any, **options: Any) -> list[ReadRow]:
    data = "\n".join(json.dumps(row) for row in rows)
    return list(read_tasks(io.BytesIO(data.encode()), **options))


def chat(*turns: tuple[str, Any], **more: Any) -> dict[str, Any]:
    return {**more, "messages": [{"role": role, "content": text} for role, text in turns]}


def codes(row: Any) -> set[str]:
    return {note.code for note in read(row)[0].notes if note.code}


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ("ua", set()), ("sua", set()), ("sa", set()), ("uu", set()), ("aa", set()), ("s", set()),
        ("au", {"starts_with_assistant"}), ("sauu", {"starts_with_assistant", "same_role_twice"}),
        ("uaa", {"same_role_twice"}), ("uasu", {"late_system"}), ("ssua", set()),
        ("us", {"late_system"}),
    ],
)  # fmt: skip
def test_the_order_of_turns_is_remarked_where_both_speak(roles: str, expected: set[str]) -> None:
    names = {"s": "system", "u": "user", "a": "assistant"}
    assert codes(chat(*((names[role], "x") for role in roles))) == expected


def test_results_of_tools_between_calls_are_no_second_turn() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    row = {"messages": [
        {"role": "user", "content": "go"},
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "x"},
        {"role": "user", "content": "and?"},
    ]}  # fmt: skip
    assert "same_role_twice" not in codes(row)


def test_empty_and_very_long_turns_are_remarked() -> None:
    assert codes(chat(("user", "x"), ("assistant", " \n"))) == {"empty_turn"}
    assert codes(chat(("user", "x" * 300_000))) == {"very_long_turn"}


@pytest.mark.parametrize(
    "secret",
    [
        "sk-THISISNOTAREALKEY0000000000", "sk-ant-api03-" + "x" * 30, "ghp_" + "A" * 36,
        "AKIA" + "ABCD" * 4, "xoxb-123456789012-abc", "-----BEGIN RSA PRIVATE KEY-----",
        "hf_" + "a" * 30, "someone@example.invalid", "4111 1111 1111 1111", "4111-1111-1111-1111",
        "5500005555555559",
    ],
)  # fmt: skip
def test_what_looks_like_a_secret_is_remarked_without_being_repeated(secret: str) -> None:
    (row,) = read(chat(("user", "x"), ("assistant", f"it is {secret}, so")))
    (note,) = [note for note in row.notes if note.code == "possible_secret"]
    assert note.place == "messages[1].blocks[0].text"
    assert secret not in note.message


@pytest.mark.parametrize(
    "text",
    ["sk-short", "4111 1111 1111 1112", "1234567890123", "0000000000000000", "user@home", "a@b",
     "@someone", "2026-01-02 10:11:12", "task-ABCDEFGHIJKLMNOPQRST"],
)  # fmt: skip
def test_what_is_no_secret_is_not_remarked(text: str) -> None:
    assert codes(chat(("user", text))) == set()


def test_the_same_key_and_the_same_conversation_are_remarked() -> None:
    rows = read(
        chat(("user", "a"), id=7), chat(("user", "b"), id="7"), chat(("user", "c"), id=7.0),
        chat(("user", " a\n"), id="x", more=1), chat(("assistant", "a")),
    )  # fmt: skip
    remarked = [
        [
            (note.code, note.message)
            for note in row.notes
            if note.code in ("id_collision", "duplicates")
        ]
        for row in rows
    ]
    assert remarked == [
        [], [("id_collision", "the key '7' is also that of line 1")],
        [("id_collision", "the key '7.0' is also that of line 1")],
        [("duplicates", "the conversation is the same as on line 1")], [],
    ]  # fmt: skip


def test_a_pair_with_the_same_prompt_is_no_duplicate() -> None:
    rows = read(
        {"prompt": "p", "chosen": "a", "rejected": "b"},
        {"prompt": "p", "chosen": "a", "rejected": "c"},
    )  # fmt: skip
    assert "duplicates" not in {note.code for note in rows[1].notes}


TALK = b"[09:14] Ann: hi\n[09:15] Bo: ho\n[09:16] Ann: bye\n"


def roles_of(data: bytes, **roles: Any) -> str:
    (row,) = read_tasks(io.BytesIO(data), roles=roles)
    return row.roles


def test_a_speaker_gets_another_role_and_so_does_a_turn() -> None:
    assert roles_of(TALK) == "uau"
    assert roles_of(TALK, speakers={"Ann": "assistant", "Bo": "user"}) == "aua"
    assert roles_of(TALK, turns={"1:2": "system"}) == "uas"
    assert roles_of(TALK, speakers={"Ann": "assistant"}, turns={"1:0": "user"}) == "uaa"


def test_a_turn_becomes_the_result_of_the_call_before_it_and_text_again() -> None:
    data = b"User: go\nAssistant: [tool_call f] {}\nUser: 42\nAssistant: ok"
    (row,) = read_tasks(io.BytesIO(data), roles={"turns": {"1:2": "tool"}})
    assert row.roles == "uata"
    assert row.task is not None
    (result,) = row.task.messages[2].blocks
    assert result.type == "tool_result"
    assert result.tool_call_id == "call_1"
    data = data.replace(b"User: 42", b"Tool: 42")
    (row,) = read_tasks(io.BytesIO(data), roles={"turns": {"1:2": "user"}})
    assert row.roles == "uaua"
    assert row.task is not None
    assert row.task.messages[2].text == "42"


def test_a_role_in_which_a_block_cannot_stand_is_refused_by_name() -> None:
    data = b"User: go\nAssistant: [tool_call f] {}\nTool: x"
    (row,) = read_tasks(io.BytesIO(data), roles={"turns": {"1:1": "user"}})
    assert row.task is None
    assert row.notes[-1].code == "role_change"
    assert "tool_call block cannot stand in a user message" in row.notes[-1].message


@pytest.mark.parametrize(
    "roles",
    [[], {"speaker": {}}, {"turns": []}, {"turns": {"1:0": "critic"}}, {"speakers": {"a": 1}}],
)
def test_changes_of_another_shape_are_refused_at_once(roles: Any) -> None:
    with pytest.raises(ImportRefused):
        read_tasks(io.BytesIO(TALK), roles=roles)


def test_conversations_that_differ_in_white_space_alone_are_duplicates() -> None:
    rows = read(*[chat(("user", text), ("assistant", "z")) for text in ("x y", " x\n y", "xy")])
    found = [{note.code for note in row.notes} for row in rows]
    assert ["duplicates" in each for each in found] == [False, True, False]
