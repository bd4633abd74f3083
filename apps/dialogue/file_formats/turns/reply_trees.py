"""OpenAssistant's trees of messages: which path is the conversation, and what branches off it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.turns.message_trees import make_tree
from apps.dialogue.file_formats.turns.placed_turns import PlacedTurn, read_placed_turns
from apps.dialogue.message import Message

_OF_THE_TREE = ("message_tree_id", "tree_state")
_ROLES = {"prompter": "user"}


@dataclass(frozen=True, slots=True)
class ReplyNode:
    """A message of a tree: its keys as the file has them, and its place there."""

    name: str
    parent: str | None
    value: dict[str, Any]
    place: str

    @property
    def preference(self) -> tuple[bool, float]:
        """Where it stands among its siblings: deleted ones last, then by rank, the best is 0."""
        rank = self.value.get("rank")
        ranked = isinstance(rank, int | float) and not isinstance(rank, bool)
        return bool(self.value.get("deleted")), float(rank) if ranked and rank else (
            0.0 if ranked else float("inf")
        )


@dataclass(frozen=True, slots=True)
class ReplyTree:
    """The messages below one root: the path that was taken, and the others in their order."""

    path: tuple[ReplyNode, ...]
    branches: tuple[ReplyNode, ...]


def split_tree(nodes: Sequence[ReplyNode]) -> tuple[tuple[ReplyTree, ...], tuple[ReplyNode, ...]]:
    """Return a tree for each root, and the messages that hang on none.

    From the root the path goes to the best reply each time, until there is none that was not
    deleted. Where no message is a root, the first that has lost its parent stands in.
    """
    by_name = {node.name: node for node in nodes}
    parents = {node.name: node.parent for node in nodes}
    siblings: dict[str, list[ReplyNode]] = {}
    for node in nodes:
        if node.parent is not None:
            siblings.setdefault(node.parent, []).append(node)
    order = {
        parent: [node.name for node in sorted(each, key=lambda node: node.preference)]
        for parent, each in siblings.items()
    }
    children = make_tree(parents, order).children
    roots = [node.name for node in nodes if node.parent is None]
    if not roots:
        roots = [node.name for node in nodes if node.parent not in by_name][:1]
    trees, reached = [], set[str]()
    for root in roots:
        path, below = [by_name[root]], _below(root, children)
        while found := [
            by_name[name]
            for name in children.get(path[-1].name, ())
            if not by_name[name].value.get("deleted")
        ]:
            path.append(found[0])
        taken = {node.name for node in path}
        branches = tuple(node for node in nodes if node.name in below and node.name not in taken)
        trees.append(ReplyTree(tuple(path), branches))
        reached |= below
    return tuple(trees), tuple(node for node in nodes if node.name not in reached)


def _below(root: str, children: Any) -> set[str]:
    """Return a message and all that follow it."""
    found: set[str] = set()
    waiting = [root]
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting += [each for each in children.get(name, ()) if each not in found]
    return found


def read_path(path: Sequence[ReplyNode], notes: list[Note]) -> tuple[Message, ...]:
    """Read the messages of a path; labels, ranks and ids stay in their detail."""
    return read_placed_turns([PlacedTurn(node.place, _wire(node)) for node in path], notes)


def branch_attribute(branches: Sequence[ReplyNode], notes: list[Note]) -> dict[str, Any]:
    """Return the other messages of a tree as an attribute, and note how many there are."""
    if not branches:
        return {}
    fault = f"{len(branches)} messages are on other branches: kept as the attribute branches"
    notes.append(Note("kept", "", fault, "branches"))
    kept = [
        {**_without(node.value, ("replies", *_OF_THE_TREE)), "parent_id": node.parent}
        for node in branches
    ]
    return {"branches": kept}


def _wire(node: ReplyNode) -> dict[str, Any]:
    rest = _without(node.value, ("replies", "text", "role", *_OF_THE_TREE))
    role = node.value.get("role")
    shown = _ROLES.get(role, role) if isinstance(role, str) else role
    return {**rest, "role": shown, "content": node.value.get("text")}


def _without(value: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {key: each for key, each in value.items() if key not in names}
