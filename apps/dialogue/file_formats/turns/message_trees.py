"""Conversations kept as trees: edited questions and regenerated answers are branches."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import Note, Row

MOST_BRANCHES = 1000
"""Each branch repeats what was said before it, so that many of them are far more than the file."""


@dataclass(frozen=True, slots=True)
class MessageTree:
    """Messages by id: whose child each is, and the children of each in their order.

    A message whose parent is not there is a root; ``lost`` are those that hang on no root, because
    their parents go in a circle.
    """

    parents: Mapping[str, str | None]
    children: Mapping[str | None, Sequence[str]]
    orphans: tuple[str, ...]
    lost: tuple[str, ...]

    def leaves(self, shown: Collection[str], current: str | None = None) -> list[str]:
        """Return where the branches end: the shown messages that no shown message follows.

        ``current``, where the conversation stands, ends a branch wherever it is.
        """
        followed: set[str] = set()
        found: list[str] = []
        for name in reversed(self._in_order()):
            follows = name in followed or name in shown
            if name in shown and (name not in followed or name == current):
                found.append(name)
            parent = self.parents.get(name)
            if follows and parent is not None:
                followed.add(parent)
        return found[::-1]

    def path(self, leaf: str) -> list[str]:
        """Return the messages from the root to ``leaf``."""
        path: list[str] = []
        seen: set[str] = set()
        name: str | None = leaf
        while name is not None and name in self.parents and name not in seen:
            path.append(name)
            seen.add(name)
            name = self.parents[name]
        return path[::-1]

    def _in_order(self) -> list[str]:
        return _walk(self.children)


def note_left_out(
    messages: Iterable[Mapping[str, Any]], known: Collection[str], notes: list[Note], place: str
) -> None:
    """Note which keys of messages say something and became nothing: ids, times, counts."""
    said: dict[str, None] = {}
    for message in messages:
        for key, value in message.items():
            if key not in known and value not in (None, "", [], {}, False):
                said[key] = None
    if said:
        reason = f"what the page kept of its messages was left out: {', '.join(said)}"
        notes.append(Note("dropped", place, reason, "bookkeeping"))


def make_tree(
    parents: Mapping[str, str | None], order: Mapping[str, Iterable[object]] | None = None
) -> MessageTree:
    """Make a tree of ids and the ids of their parents.

    ``order`` tells the order of children where a file lists them; others come as they stand.
    """
    known = {name: parent if parent in parents else None for name, parent in parents.items()}
    orphans = tuple(
        name for name, parent in parents.items() if parent is not None and parent not in parents
    )
    children: dict[str | None, list[str]] = {}
    for name, parent in known.items():
        children.setdefault(parent, []).append(name)
    for parent, listed in (order or {}).items():
        if len(children.get(parent, ())) > 1:
            places = {name: index for index, name in enumerate(map(str, listed))}
            children[parent].sort(key=lambda name: places.get(name, len(places)))
    reached = set(_walk(children))
    lost = tuple(name for name in parents if name not in reached)
    return MessageTree(known, children, orphans, lost)


def _walk(children: Mapping[str | None, Sequence[str]]) -> list[str]:
    """Return the messages, each before those below it, the first child's before the second's."""
    ordered: list[str] = []
    waiting = list(reversed(children.get(None, ())))
    while waiting:
        name = waiting.pop()
        ordered.append(name)
        waiting += reversed(children.get(name, ()))
    return ordered


def branch_rows(
    row: Row,
    tree: MessageTree,
    branch: Callable[[str], dict[str, Any]],
    *,
    shown: Collection[str],
    current: str | None,
    key: str,
    place: str,
) -> Iterator[Row]:
    """Make one row of each branch, and leave a conversation without branches as it is.

    ``branch`` returns the row that ends at a leaf. The branch where the conversation stood (the
    last one, where the file does not tell) has the ``key`` of the conversation; the others have the
    name of their leaf behind it. ``place`` is where the messages are. Raises ``ImportRefused``
    for more than ``MOST_BRANCHES``.
    """
    standing = current if current in shown else None
    leaves = tree.leaves(shown, standing)
    if not leaves or (len(leaves) == 1 and not tree.lost):
        yield row
        return
    if len(leaves) > MOST_BRANCHES:
        fault = f"has {len(leaves)} branches; at most {MOST_BRANCHES} of a conversation are read"
        raise ImportRefused(fault, place=place, code="too_many_branches")
    active = _active(tree, leaves, current)
    for number, leaf in enumerate(leaves, 1):
        notes: list[Note] = []
        if len(leaves) > 1:
            stood = ", where the conversation stood" if leaf == active else ""
            told = f"branch {number} of {len(leaves)}{stood}"
            notes.append(Note("kept", f"{place}.{leaf}", told, "branches"))
        if number == 1 and tree.lost:
            fault = f"{len(tree.lost)} messages are their own forebears and were left out"
            notes.append(Note("dropped", place, fault, "orphan_parent"))
        value = branch(leaf)
        if key:
            value["id"] = key if leaf == active else f"{key}-{leaf}"
        yield replace(row, value=value, notes=(*row.notes, *notes))


def note_orphans(tree: MessageTree, notes: list[Note], place: str) -> None:
    """Say which messages begin a conversation because their parents are not in the file."""
    for name in tree.orphans:
        reason = "its parent is not in the file; the conversation begins here"
        notes.append(Note("converted", f"{place}.{name}", reason, "orphan_parent"))
    if tree.lost:
        reason = f"{len(tree.lost)} messages are their own forebears; it begins at one of them"
        notes.append(Note("converted", place, reason, "orphan_parent"))


def _active(tree: MessageTree, leaves: Sequence[str], current: str | None) -> str | None:
    """Return the leaf of the branch that holds where the conversation stood."""
    if current in leaves:
        return current
    if current is not None:
        before = frozenset(tree.path(current))
        for leaf in reversed(leaves):
            if leaf in before or current in tree.path(leaf):
                return leaf
    return leaves[-1] if leaves else None
