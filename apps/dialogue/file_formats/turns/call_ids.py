"""Ids for calls and results that came without: unique, and tied to one another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class GivenId:
    """An id; ``invented`` where the file had none, ``tied`` where a call and a result share it."""

    value: str
    invented: bool
    tied: bool = True


class CallIds:
    """The ids of a conversation, and the calls of the last assistant turn that wait."""

    def __init__(self, wires: Sequence[dict[str, Any]]) -> None:
        self._taken = set(_ids_in(wires))
        self._count = 0
        self._open: list[tuple[str, str]] = []

    def begin_turn(self) -> None:
        """Forget open calls: an assistant's or a system's turn begins (rule C3)."""
        self._open = []

    def call(self, given: object, name: str) -> GivenId:
        """Return the id of a call of the tool ``name``."""
        found = _given(given)
        made = found or self._fresh()
        self._open.append((made, name))
        return GivenId(made, invented=found is None)

    def answer(self, given: object, name: object) -> GivenId:
        """Return the id a result carries: its own, else that of the first open call of ``name``."""
        found = _given(given)
        if found is not None:
            self._open = [each for each in self._open if each[0] != found]
            return GivenId(found, invented=False)
        wanted = name if isinstance(name, str) and name else None
        for each in self._open:
            if wanted in (None, each[1]):
                self._open.remove(each)
                return GivenId(each[0], invented=True)
        return GivenId(self._fresh(), invented=True, tied=False)

    def _fresh(self) -> str:
        while (made := f"call_{self._count}") in self._taken:
            self._count += 1
        self._taken.add(made)
        return made


def _given(value: object) -> str | None:
    """Return an id as a text; a number is one, null and empty are none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def _ids_in(wires: Sequence[dict[str, Any]]) -> Iterator[str]:
    for wire in wires:
        calls = wire.get("tool_calls")
        for each in calls if isinstance(calls, list) else ():
            if isinstance(each, dict) and (found := _given(each.get("id"))):
                yield found
        if found := _given(wire.get("tool_call_id")):
            yield found
