"""OpenAssistant's trees: the best path is the conversation, nothing else of a tree is lost."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.dialogue.file_formats.reading import read_all, read_one, said, task_of


def node(name: str, parent: str | None, role: str, **more: Any) -> dict[str, Any]:
    return {
        "message_id": name,
        "parent_id": parent,
        "text": f"text of {name}",
        "role": role,
        "message_tree_id": "m0",
        "tree_state": "ready_for_export",
        **more,
    }


TREE = [
    node("m0", None, "prompter"),
    node("m1", "m0", "assistant", rank=1),
    node("m2", "m0", "assistant", rank=0, labels={"name": ["quality"], "value": [0.5]}),
    node("m3", "m2", "prompter"),
    node("m4", "m1", "prompter"),
    node("m5", "m3", "assistant", deleted=True, rank=0),
]
PATH = [("user", "text of m0"), ("assistant", "text of m2"), ("user", "text of m3")]


@given(st.permutations(TREE))
def test_flat_messages_in_any_order_are_the_same_conversation(rows: list[dict[str, Any]]) -> None:
    (read,) = read_all(rows)
    assert read.format == "oasst_messages"
    assert read.task is not None
    assert read.task.key == "m0"
    assert said(read.task.messages) == PATH
    kept = {each["message_id"] for each in read.task.attributes["branches"]}
    assert kept == {"m1", "m4", "m5"}


def test_what_is_known_of_a_message_stays_in_its_detail() -> None:
    (read,) = read_all(TREE)
    assert read.task is not None
    detail = read.task.messages[1].detail
    assert detail is not None
    assert detail["labels"] == {"name": ["quality"], "value": [0.5]}
    assert (detail["message_id"], detail["rank"]) == ("m2", 0)
    assert read.task.attributes["tree_state"] == "ready_for_export"


def test_a_message_without_its_parent_is_refused_on_its_own_line() -> None:
    rows = read_all([TREE[0], node("x1", "x9", "assistant"), node("x2", "x1", "prompter"), TREE[2]])
    assert [(row.line, row.roles) for row in rows] == [(1, "ua"), (2, ""), (3, "")]
    assert [row.notes[-1].code for row in rows[1:]] == ["orphan_parent"] * 2


def test_messages_of_several_trees_may_be_mixed() -> None:
    other = [
        {**node("n0", None, "prompter"), "message_tree_id": "n0"},
        {**node("n1", "n0", "assistant"), "message_tree_id": "n0"},
    ]
    rows = read_all([other[1], TREE[0], other[0]])
    assert sorted((row.roles, row.task.key) for row in rows if row.task) == [
        ("u", "m0"), ("ua", "n0")
    ]  # fmt: skip


def test_parents_that_go_in_a_circle_are_refused() -> None:
    rows = read_all([node("a", "b", "prompter"), node("b", "a", "assistant"), TREE[0]])
    assert [row.roles for row in rows if row.task] == ["u"]
    assert [row.notes[-1].code for row in rows if not row.task] == ["orphan_parent"] * 2


def test_a_tree_without_its_root_begins_at_the_first_message_that_lost_its_parent() -> None:
    (read,) = read_all([TREE[3], TREE[5]])
    assert read.roles == "u"
    assert "orphan_parent" in {note.code for note in read.notes}


def test_an_id_that_stands_twice_is_refused() -> None:
    rows = read_all([TREE[0], TREE[0]])
    assert sorted(row.roles for row in rows) == ["", "u"]


def test_nested_trees_are_read_like_flat_ones() -> None:
    row = {
        "message_tree_id": "m0",
        "tree_state": "ready_for_export",
        "prompt": {
            "message_id": "m0",
            "text": "Q",
            "role": "prompter",
            "replies": [
                {"text": "B", "role": "assistant", "rank": 1, "replies": []},
                {"text": "A", "role": "assistant", "rank": 0, "replies": []},
            ],
        },
    }
    read = read_one(row)
    assert (read.format, read.roles) == ("oasst_trees", "ua")
    assert said(task_of(row).messages) == [("user", "Q"), ("assistant", "A")]
    assert [each["text"] for each in task_of(row).attributes["branches"]] == ["B"]
    assert task_of(row).key == "m0"


def test_a_tree_of_something_else_is_refused_with_its_place() -> None:
    reply = {"text": "A", "role": "assistant", "replies": [5]}
    read = read_one({"prompt": {"text": "Q", "role": "prompter", "replies": [reply]}})
    assert (read.task, read.notes[-1].place) == (None, "prompt.replies[0].replies[0]")
