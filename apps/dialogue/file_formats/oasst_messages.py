"""OpenAssistant's flat messages, one a row: ``{"message_id", "parent_id", "text", "role"}``.

The rows of one ``message_tree_id`` are one conversation, in any order: from the root to the best
reply each time. The other branches are kept as an attribute, and a message whose parent is not in
the file is refused on its own line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, Row, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import (
    ReplyNode,
    ReplyTree,
    branch_attribute,
    read_path,
    split_tree,
)

_TREE_KEYS = ("message_tree_id", "tree_state")


def recognises(row: dict[str, Any]) -> bool:
    return "message_id" in row and "parent_id" in row and "text" in row and "role" in row


def group(row: dict[str, Any]) -> str:
    """Return the tree a message belongs to; those that name none are looked at together."""
    tree = row.get("message_tree_id")
    if tree is None:
        return ""
    if not isinstance(tree, str | int):
        raise ImportRefused(f"must be a text, not {kind_of(tree)}", place="message_tree_id")
    return str(tree)


def join(rows: Sequence[Row]) -> Iterator[Row]:
    """Make a row of each root's messages; a message that hangs on none stands alone as a fault."""
    lines: dict[str, Row] = {}
    nodes: list[ReplyNode] = []
    for row in rows:
        fault = _id_fault(row.value, lines)
        if fault:
            yield replace(row, value=None, fault=fault, fault_code="bad_message_id")
            continue
        node = _node(row.value)
        lines[node.name] = row
        nodes.append(node)
    trees, orphans = split_tree(nodes)
    for index, tree in enumerate(trees):
        yield _joined(tree, lines[tree.path[0].name], first=index == 0)
    for node in orphans:
        fault = f"the parent {node.parent!r:.80} of this message is not in the tree"
        yield replace(lines[node.name], value=None, fault=fault, fault_code="orphan_parent")


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    values = row.get("nodes")
    if not isinstance(values, list):
        values = [row]
    if not all(isinstance(value, dict) and not _id_fault(value, ()) for value in values):
        raise ImportRefused("must be messages with ids", place="nodes")
    trees, _ = split_tree([_node(value) for value in values])
    if not trees:
        raise ImportRefused("no message begins the conversation", code="orphan_parent")
    tree = trees[0]
    root = tree.path[0]
    if root.parent is not None:
        fault = "the parent of the first message is not in the file"
        notes.append(Note("kept", root.place, fault, "orphan_parent"))
    messages = read_path(tree.path, notes)
    shared = {name: root.value[name] for name in _TREE_KEYS if root.value.get(name) is not None}
    key = row.get("key", shared.get("message_tree_id", root.name))
    parts = {"id": str(key), **shared, **branch_attribute(tree.branches, notes)}
    return content_of(parts, messages, notes)


def _joined(tree: ReplyTree, row: Row, *, first: bool) -> Row:
    nodes = [node.value for node in (*tree.path, *tree.branches)]
    value: dict[str, Any] = {"nodes": nodes}
    if not first:
        value["key"] = tree.path[0].name
    return replace(row, value=value)


def _id_fault(value: dict[str, Any], taken: Any) -> str:
    name, parent = value.get("message_id"), value.get("parent_id")
    if not _is_id(name):
        return f"the message_id must be a text, not {kind_of(name)}"
    if parent is not None and not _is_id(parent):
        return f"the parent_id must be a text or null, not {kind_of(parent)}"
    if str(name) in taken:
        return f"the message_id {name!r:.80} stands on line {taken[str(name)].line} already"
    return ""


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""


def _node(value: dict[str, Any]) -> ReplyNode:
    parent = value.get("parent_id")
    name = str(value["message_id"])
    return ReplyNode(name, None if parent is None else str(parent), value, f"message {name}")


FORMAT = RowFormat(
    "oasst_messages", "OpenAssistant messages", recognises, read, group=group, join=join
)
