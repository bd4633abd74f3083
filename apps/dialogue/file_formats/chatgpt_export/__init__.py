"""ChatGPT's data export: ``{"title", "mapping": {id: node}, "current_node"}``, a tree of messages.

An edited question or a regenerated answer makes a branch: each is a conversation of its own, the
one the person saw last under the conversation's own id.
"""

from collections.abc import Iterator
from typing import Any

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, Row, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.chatgpt_export.nodes import is_shown, read_nodes
from apps.dialogue.file_formats.turns import (
    MessageTree,
    branch_rows,
    make_tree,
    note_left_out,
    note_orphans,
    read_placed_turns,
)

_READ = frozenset({"id", "author", "content", "recipient", "metadata", "status"})

_OTHERS = ("messages", "conversation", "conversations", "turns", "text", "prompt", "conversation_a")
"""Keys of formats whose rows have a ``conversation_id`` and perhaps a title too."""


def recognises(row: dict[str, Any]) -> bool:
    mapping = row.get("mapping")
    if isinstance(mapping, dict):
        return "current_node" in row or any(
            isinstance(node, dict) and "message" in node for node in mapping.values()
        )
    # Exports hold conversations without their messages now and then.
    if "mapping" in row and mapping is None and "title" in row:
        return True
    titled = "title" in row and ("conversation_id" in row or "current_node" in row)
    return titled and not any(key in row for key in _OTHERS)


def expand(row: Row) -> Iterator[Row]:
    """Make one row of each branch, and leave a conversation without branches as it is."""
    mapping = row.value.get("mapping")
    if not isinstance(mapping, dict) or not mapping:
        yield row
        return
    tree = _tree(mapping)
    yield from branch_rows(
        row,
        tree,
        lambda leaf: _branch(row.value, tree, leaf),
        shown=frozenset(name for name in mapping if is_shown(_message(mapping, name))),
        current=_current(row.value, mapping),
        key=key if isinstance(key := _keyed(row.value).get("id"), str) else "",
        place="mapping",
    )


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    mapping = row.get("mapping")
    if not isinstance(mapping, dict) or not mapping:
        raise ImportRefused(
            "the export holds no messages of this conversation: there is no mapping",
            place="mapping",
            code="missing_mapping",
        )
    tree = _tree(mapping)
    note_orphans(tree, notes, "mapping")
    current = _current(row, mapping)
    if current is None:
        leaves = tree.leaves(frozenset(mapping))
        if not leaves:
            raise ImportRefused("the nodes go in a circle", place="mapping", code="orphan_parent")
        current = leaves[-1]
        reason = "current_node names no node; the last branch was taken"
        notes.append(Note("converted", "current_node", reason, "missing_current_node"))
    path = [(name, _message(mapping, name)) for name in tree.path(current)]
    turns = read_nodes(path, notes)
    note_left_out((message for _, message in path), _READ, notes, "mapping")
    used = ("mapping", "current_node")
    return content_of(_keyed(row), read_placed_turns(turns, notes), notes, used=used)


def _tree(mapping: dict[str, Any]) -> MessageTree:
    parents: dict[str, str | None] = {}
    order: dict[str, list[Any]] = {}
    for name, node in mapping.items():
        if not isinstance(node, dict):
            raise ImportRefused("a node must be an object", place=f"mapping.{name}", code="bad_row")
        parent = node.get("parent")
        parents[name] = parent if isinstance(parent, str) else None
        children = node.get("children")
        order[name] = children if isinstance(children, list) else []
    for name, children in order.items():
        # Some tools leave parent out and write children alone.
        for child in children:
            if isinstance(child, str) and child in parents and "parent" not in mapping[child]:
                parents[child] = name
    return make_tree(parents, order)


def _message(mapping: dict[str, Any], name: str) -> dict[str, Any]:
    message = mapping[name].get("message")
    return message if isinstance(message, dict) else {}


def _current(row: dict[str, Any], mapping: dict[str, Any]) -> str | None:
    current = row.get("current_node")
    return current if isinstance(current, str) and current in mapping else None


def _branch(row: dict[str, Any], tree: MessageTree, leaf: str) -> dict[str, Any]:
    mapping = {name: row["mapping"][name] for name in tree.path(leaf)}
    return {**row, "mapping": mapping, "current_node": leaf}


def _keyed(row: dict[str, Any]) -> dict[str, Any]:
    if row.get("id") in (None, "") and row.get("conversation_id"):
        return {**row, "id": row["conversation_id"]}
    return row


FORMAT = RowFormat("chatgpt_export", "ChatGPT data export", recognises, read, expand=expand)
