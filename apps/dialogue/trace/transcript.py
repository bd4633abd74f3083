from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.dialogue.message import Message
from apps.dialogue.trace.entries import EntryKind, TraceEntry


@dataclass(frozen=True, slots=True)
class Mark:
    """A point of a transcript: how many messages were kept, how many entries written."""

    messages: int
    entries: int


@dataclass(frozen=True, slots=True)
class _Kept:
    position: int
    is_answer: bool


class Transcript:
    """A conversation as it grows: what is kept now, and everything that happened.

    Entries are only ever added; dropping messages marks their entries as discarded. ``on_entry``
    hears of each entry as it is written, ``on_discard`` of the positions (first and last,
    inclusive) that a stop dropped, so that a caller can store every turn at once.
    """

    def __init__(
        self,
        *,
        on_entry: Callable[[TraceEntry], object] | None = None,
        on_discard: Callable[[int, int], object] | None = None,
    ) -> None:
        self.entries: list[TraceEntry] = []
        self._messages: list[Message] = []
        self._kept: list[_Kept] = []
        self._views: list[dict[str, str]] = []
        self._on_entry = on_entry
        self._on_discard = on_discard

    @property
    def messages(self) -> Sequence[Message]:
        """The messages kept now."""
        return self._messages

    @property
    def views(self) -> list[dict[str, str]]:
        """The kept messages as templates see them: ``role`` and plain-text ``content``."""
        return self._views

    @property
    def answer_position(self) -> int | None:
        """The position of the last kept reply of the evaluated model."""
        return next((kept.position for kept in reversed(self._kept) if kept.is_answer), None)

    @property
    def answer(self) -> str | None:
        """The text of the last kept reply of the evaluated model."""
        pairs = zip(reversed(self._messages), reversed(self._kept), strict=True)
        return next((message.text for message, kept in pairs if kept.is_answer), None)

    def write(self, kind: EntryKind, path: str, body: dict[str, Any]) -> TraceEntry:
        """Add an entry that is not a message."""
        entry = TraceEntry(len(self.entries), kind, path, body)
        self.entries.append(entry)
        if self._on_entry is not None:
            self._on_entry(entry)
        return entry

    def append(
        self,
        message: Message,
        path: str,
        *,
        loops: Sequence[int] = (),
        model_call: int | None = None,
        is_answer: bool = False,
    ) -> TraceEntry:
        """Keep a message; ``model_call`` is the position of the call whose reply it is."""
        body = {"message": message.to_wire(), "model_call": model_call, "loops": list(loops)}
        self._messages.append(message)
        self._kept.append(_Kept(len(self.entries), is_answer))
        self._views.append({"role": message.role, "content": message.text})
        return self.write("message_event", path, body)

    def mark(self) -> Mark:
        """Remember where the conversation stands, for ``discard_since``."""
        return Mark(len(self._messages), len(self.entries))

    def discard_since(self, mark: Mark) -> tuple[int, int] | None:
        """Drop what was kept since ``mark``; returns the first and last position, if any."""
        if len(self.entries) == mark.entries:
            return None
        first, last = mark.entries, len(self.entries) - 1
        for kept in (self._messages, self._kept, self._views):
            del kept[mark.messages :]
        self.entries[first:] = [replace(entry, discarded=True) for entry in self.entries[first:]]
        if self._on_discard is not None:
            self._on_discard(first, last)
        return first, last
