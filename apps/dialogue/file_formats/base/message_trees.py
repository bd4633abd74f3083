"""Conversations kept as trees: edited questions and regenerated answers are branches."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass


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
