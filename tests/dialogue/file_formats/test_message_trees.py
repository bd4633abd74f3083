"""Branches of a conversation end where no shown message follows, in the order of the file."""

from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.file_formats.turns import make_tree

NAMES = [f"m{n}" for n in range(8)]


def test_branches_come_in_the_order_the_children_are_listed() -> None:
    tree = make_tree({"a": None, "b": "a", "c": "a", "d": "b"}, {"a": ["c", "b"]})
    assert tree.leaves(set("abcd")) == ["c", "d"]
    assert tree.path("d") == ["a", "b", "d"]


def test_hidden_ends_make_no_branch_of_their_own() -> None:
    tree = make_tree({"a": None, "b": "a", "hidden": "b", "c": "a"})
    assert tree.leaves(set("abc")) == ["b", "c"]
    assert tree.leaves({"a"}) == ["a"]


def test_where_the_conversation_stands_is_a_branch_even_if_messages_follow() -> None:
    tree = make_tree({"a": None, "b": "a", "c": "b"})
    assert tree.leaves(set("abc"), "b") == ["b", "c"]


def test_messages_without_their_parent_begin_a_conversation() -> None:
    tree = make_tree({"a": None, "b": "gone"})
    assert tree.orphans == ("b",)
    assert tree.path("b") == ["b"]


def test_messages_in_a_circle_are_lost_and_end_no_walk() -> None:
    tree = make_tree({"a": None, "b": "c", "c": "b", "d": "d"})
    assert tree.lost == ("b", "c", "d")
    assert tree.leaves(set("abcd")) == ["a"]
    assert set(tree.path("b")) == {"b", "c"}


@given(st.dictionaries(st.sampled_from(NAMES), st.none() | st.sampled_from([*NAMES, "gone"])))
def test_every_message_is_on_a_branch_or_lost(parents: dict[str, str | None]) -> None:
    tree = make_tree(parents)
    told = set(tree.lost)
    for leaf in tree.leaves(frozenset(parents)):
        told |= set(tree.path(leaf))
    assert told == set(parents)
