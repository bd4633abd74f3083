"""One thread that writes for a whole event loop: many conversations, few transactions."""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import close_old_connections, connections

LINGER: Final = 0.004
"""Seconds that the first of a group waits for company; model calls take far longer."""

LARGEST_GROUP: Final = 400


@dataclass(frozen=True, slots=True)
class _Job:
    """Something to write, and who waits for it. ``alone``: a function for a transaction apart."""

    write: Any
    alone: Callable[[], Any] | None
    future: "asyncio.Future[Any]"


@dataclass(frozen=True, slots=True)
class Written:
    """What became of one write: a value, or the error it ended with."""

    value: Any = None
    error: BaseException | None = None


class Writer:
    """Collects writes of one event loop and hands them to ``commit`` in groups, in order.

    ``commit`` runs in the writer's thread, which has a database connection of its own; it takes the
    writes of a group and gives what became of each.
    """

    def __init__(self, commit: Callable[[Sequence[Any]], Sequence[Written]]) -> None:
        self._commit = commit
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="run writer", daemon=True)
        self._thread.start()

    def post(self, write: Any) -> "asyncio.Future[Any]":
        """Hand in a write; the future is done when it is committed."""
        return self._put(write, None)

    def call(self, function: Callable[..., Any], *args: Any) -> "asyncio.Future[Any]":
        """Run a function in the writer's thread, after everything handed in before it."""
        return self._put(None, lambda: function(*args))

    def _put(self, write: Any, alone: Callable[[], Any] | None) -> "asyncio.Future[Any]":
        future: asyncio.Future[Any] = self._loop.create_future()
        self._queue.put(_Job(write, alone, future))
        return future

    async def close(self) -> None:
        """Write what is left, then end the thread and its connection."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        try:
            while self._write_group(self._gather()):
                pass
        finally:
            connections.close_all()

    def _gather(self) -> list[_Job | None]:
        gathered = [self._queue.get()]
        if gathered[0] is not None and gathered[0].alone is None:
            time.sleep(LINGER)
        while len(gathered) < LARGEST_GROUP and gathered[-1] is not None:
            try:
                gathered.append(self._queue.get_nowait())
            except queue.Empty:
                break
        return gathered

    def _write_group(self, gathered: Sequence[_Job | None]) -> bool:
        """Write a group in order; False after the last one."""
        close_old_connections()
        together: list[_Job] = []
        for job in gathered:
            if job is not None and job.alone is None:
                together.append(job)
                continue
            self._flush(together)
            together = []
            if job is None:
                return False
            self._settle([(job, _outcome(job.alone))])
        self._flush(together)
        return True

    def _flush(self, jobs: Sequence[_Job]) -> None:
        if not jobs:
            return
        outcome = _outcome(lambda: self._commit([job.write for job in jobs]))
        written = [outcome] * len(jobs) if outcome.error else outcome.value
        self._settle(list(zip(jobs, written, strict=True)))

    def _settle(self, done: Sequence[tuple[_Job, Written]]) -> None:
        self._loop.call_soon_threadsafe(_tell, done)


def _outcome(function: Callable[[], Any] | None) -> Written:
    """Whatever goes wrong belongs to the one who waits, not to this thread."""
    try:
        return Written(value=function() if function else None)
    except BaseException as error:  # noqa: BLE001 - handed on, see above
        return Written(error=error)


def _tell(done: Sequence[tuple[_Job, Written]]) -> None:
    for job, written in done:
        if job.future.done():
            continue
        if written.error is not None:
            job.future.set_exception(written.error)
        else:
            job.future.set_result(written.value)
