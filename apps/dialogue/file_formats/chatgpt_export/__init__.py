"""ChatGPT's data export: ``{"title", "mapping": {id: node}, "current_node"}``, a tree of messages.

An edited question or a regenerated answer makes a branch: each is a conversation of its own, the
one the person saw last under the conversation's own id.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import (
    MessageTree,
    Note,
    Row,
    RowFormat,
    TaskContent,
    content_of,
    make_tree,
    read_placed_turns,
)
from apps.dialogue.file_formats.chatgpt_export.nodes import is_shown, read_nodes

_OTHERS = ("messages", "conversation", "conversations", "turns", "text", "prompt", "conversation_a")
"""Keys of formats whose rows have a ``conversation_id`` and perhaps a title too."""


def recognises(row: dict[str, Any]) -> bool:
    mapping = row.get("mapping")
    if isinstance(mapping, dict):
        return "current_node" in row or any(
            isinstance(node, dict) and "message" in node for node in mapping.values()
        )
    # Exports hold conversations without their messages now and then.
    titled = "title" in row and ("conversation_id" in row or "current_node" in row)
    return titled and not any(key in row for key in _OTHERS)


def expand(row: Row) -> Iterator[Row]:
    """Make one row of each branch, and leave a conversation without branches as it is."""
    mapping = row.value.get("mapping")
    if not isinstance(mapping, dict) or not mapping:
        yield row
        return
    tree = _tree(mapping)
    current = _current(row.value, mapping)
    shown = [name for name in tree.parents if is_shown(_message(mapping, name))]
    leaves = tree.leaves(frozenset(shown), current if current in shown else None)
    if len(leaves) < 2 and not tree.lost:
        yield row
        return
    active = _active(tree, leaves, current)
    for number, leaf in enumerate(leaves, 1):
        told = f"branch {number} of {len(leaves)}" + (
            ", where the conversation stood" if leaf == active else ""
        )
        notes = [Note("kept", f"mapping.{leaf}", told, "branches")] if len(leaves) > 1 else []
        if number == 1 and tree.lost:
            fault = f"{len(tree.lost)} nodes are their own forebears and stand in no conversation"
            notes.append(Note("dropped", "mapping", fault, "orphan_parent"))
        value = _branch(row.value, tree, leaf, is_active=leaf == active)
        yield replace(row, value=value, notes=(*row.notes, *notes))


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    mapping = row.get("mapping")
    if not isinstance(mapping, dict) or not mapping:
        raise ImportRefused(
            "the export holds no messages of this conversation: there is no mapping",
            place="mapping",
            code="missing_mapping",
        )
    tree = _tree(mapping)
    _note_orphans(tree, notes)
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


def _active(tree: MessageTree, leaves: list[str], current: str | None) -> str | None:
    """Return the leaf of the branch that holds where the conversation stood."""
    if current in leaves:
        return current
    shown = set(tree.path(current)) if current else set()
    on_path = [leaf for leaf in leaves if leaf in shown]
    if on_path:
        return on_path[-1]
    return next((leaf for leaf in leaves if current in tree.path(leaf)), leaves[-1:][0])


def _branch(
    row: dict[str, Any], tree: MessageTree, leaf: str, *, is_active: bool
) -> dict[str, Any]:
    mapping = {name: row["mapping"][name] for name in tree.path(leaf)}
    branch = {**row, "mapping": mapping, "current_node": leaf}
    key = _keyed(row).get("id")
    return branch if is_active or key is None else {**branch, "id": f"{key}-{leaf}"}


def _keyed(row: dict[str, Any]) -> dict[str, Any]:
    if row.get("id") in (None, "") and row.get("conversation_id"):
        return {**row, "id": row["conversation_id"]}
    return row


def _note_orphans(tree: MessageTree, notes: list[Note]) -> None:
    for name in tree.orphans:
        reason = "its parent is not in the export; the conversation begins here"
        notes.append(Note("converted", f"mapping.{name}.parent", reason, "orphan_parent"))


FORMAT = RowFormat("chatgpt_export", "ChatGPT data export", recognises, read, expand=expand)
