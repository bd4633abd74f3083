"""Fewer looks for cyclic garbage while rows stream through."""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_RARELY: Final = (200_000, 10, 10)
_lock = threading.Lock()
_inside = 0
_usual = (0, 0, 0)


@contextmanager
def collected_rarely() -> Iterator[None]:
    """Let Python look for cyclic garbage once in 200,000 new objects, in this whole process.

    The rows of a file hold no cycles and are gone after their batch, but there are so many of them
    that the usual looks (one in 700 objects, some of them through all modules) take a quarter of
    the time of an import.
    """
    global _inside, _usual  # noqa: PLW0603 -- the thresholds are the process's own
    with _lock:
        _inside += 1
        if _inside == 1:
            _usual = gc.get_threshold()
            gc.set_threshold(*_RARELY)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                gc.set_threshold(*_usual)
