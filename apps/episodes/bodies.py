"""Texts of revisions, kept in this process: a revision never changes, so they are never stale."""

import threading
from collections import OrderedDict
from collections.abc import Callable


class TextCache:
    """The most recently used texts, at most ``size`` bytes of them; ``read`` fetches the others."""

    def __init__(self, size: int, read: Callable[[int], str]) -> None:
        self._size = size
        self._read = read
        self._used = 0
        self._texts: OrderedDict[int, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, revision_id: int) -> str:
        return self.get_bytes(revision_id).decode()

    def get_bytes(self, revision_id: int) -> bytes:
        """The text of a revision in UTF-8, ready to send."""
        with self._lock:
            text = self._texts.get(revision_id)
            if text is not None:
                self._texts.move_to_end(revision_id)
                return text
        text = self._read(revision_id).encode()
        if len(text) <= self._size // 4:
            self._keep(revision_id, text)
        return text

    def clear(self) -> None:
        """Forget all texts: where revisions are not for ever, as in tests that are rolled back."""
        with self._lock:
            self._texts.clear()
            self._used = 0

    def _keep(self, revision_id: int, text: bytes) -> None:
        with self._lock:
            self._used += len(text) - len(self._texts.get(revision_id, b""))
            self._texts[revision_id] = text
            while self._used > self._size:
                self._used -= len(self._texts.popitem(last=False)[1])
