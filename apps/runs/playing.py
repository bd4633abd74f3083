"""The worker: claims samples and plays them, hundreds at a time on one event loop.

The database says what there is to do. A player takes samples of any open run for a limited time,
renews its leases while it lives, looks for cancelled runs several times a second, and writes
through one thread. Killing it at any moment loses nothing that was written.
"""

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from typing import Final

from django.conf import settings
from django.db import connections, transaction

from apps.accounts.errors import Refusal
from apps.dialogue.errors import DialogueError
from apps.providers.client import Caller
from apps.runs.conversation import RunContext, SamplePlay, load_context
from apps.runs.leases import Claimed, Lease, claim, clear_cancelled, release, renew
from apps.runs.ledger import CancelledByRun, Desk, LeaseLost, PlayerStopping
from apps.runs.models import Run, RunState
from apps.runs.results import compute_metrics
from apps.runs.writer import Writer
from apps.runs.writes import Finish, commit

CAPACITY: Final = 256
"""Conversations that one process plays at once."""

COLLECT: Final = 0.02
"""Seconds in which several ended conversations make one claim."""

LOOK_EVERY: Final = 0.3
"""Seconds between looks for cancelled runs and for new samples."""

METRICS_EVERY: Final = 2.0
METRICS_SHARE: Final = 0.05
"""Live metrics are computed at most this often, and for at most this share of the time."""

GRACE: Final = 5.0
"""Seconds that answers are waited for when the process is told to stop."""

log = logging.getLogger(__name__)


def play(
    run_id: int | None = None,
    *,
    should_stop: Callable[[], bool] = lambda: False,
    demo_url: str | None = None,
) -> None:
    """Play until there is nothing to claim: one run, or every open one.

    ``should_stop`` is asked several times a second; once it says yes, nothing new is sent, answers
    on their way are waited for a few seconds, and what is unfinished is given back.
    """
    asyncio.run(_Player(run_id, should_stop, demo_url).run())


@dataclass(eq=False)
class _Playing:
    """A conversation under way. ``task.cancel()`` means "stop"; ``stop_as`` says in which way."""

    lease: Lease
    play: SamplePlay
    task: "asyncio.Task[None] | None" = None
    stop_as: "_Stop | None" = None

    def stop(self, how: "_Stop") -> None:
        if self.task is not None and self.stop_as is None:
            self.stop_as = how
            self.task.cancel()


class _Stop(Enum):
    CANCELLED = "its run is being cancelled: this is how it ends"
    RELEASED = "this process is going: somebody else goes on"
    LOST = "somebody else has claimed it already"


class _Player:
    def __init__(
        self, run_id: int | None, should_stop: Callable[[], bool], demo_url: str | None
    ) -> None:
        self._run_id = run_id
        self._should_stop = should_stop
        self._demo_url = demo_url
        self._owner = f"{socket.gethostname()[:40]}:{os.getpid()}:{secrets.token_hex(6)}"
        self._playing: dict[int, _Playing] = {}
        self._contexts: dict[int, RunContext] = {}
        self._wake = asyncio.Event()
        self._metrics_due: dict[int, float] = {}

    async def run(self) -> None:
        async with Caller() as caller:
            self._writer = Writer(commit)
            self._desk = Desk(self._writer, caller, self._should_stop)
            self._reader = ThreadPoolExecutor(1, "run metrics")
            try:
                async with asyncio.TaskGroup() as group:
                    keepers = [group.create_task(self._renew()), group.create_task(self._watch())]
                    await self._claim_and_play()
                    await self._hand_over()
                    for keeper in keepers:
                        keeper.cancel()
            finally:
                await self._close()

    async def _close(self) -> None:
        """Whatever happened: leave nothing running. What is not written is taken over later."""
        tasks = [each.task for each in self._playing.values() if each.task is not None]
        for task in (*tasks, *self._desk.exchanges):
            task.cancel()
        await asyncio.gather(*tasks, *self._desk.exchanges, return_exceptions=True)
        await self._writer.close()
        await asyncio.to_thread(self._close_reader)

    def _close_reader(self) -> None:
        self._reader.submit(connections.close_all).result()
        self._reader.shutdown()

    async def _claim_and_play(self) -> None:
        """The main loop: fill up with samples, wait for something to happen, fill up again."""
        while not self._should_stop():
            claimed = await self._claim()
            for each in claimed:
                self._start(each)
            if not (claimed or self._playing or self._desk.exchanges):
                return
            await self._pause()

    async def _claim(self) -> list[Claimed]:
        room = CAPACITY - len(self._playing)
        if room <= 0:
            return []
        await self._writer.call(clear_cancelled)
        claimed: list[Claimed] = await self._writer.call(
            lambda: claim(self._owner, most=room, run_id=self._run_id)
        )
        playable = []
        for each in claimed:
            if await self._know(each.lease.run_id):
                playable.append(each)
            else:
                await self._writer.call(release, [each.lease])
        return playable

    async def _know(self, run_id: int) -> bool:
        """Load what a run needs; a run that cannot be played any more is interrupted."""
        if run_id in self._contexts:
            return True
        try:
            self._contexts[run_id] = await self._writer.call(load_context, run_id, self._demo_url)
        except (DialogueError, Refusal) as error:
            await self._writer.call(_interrupt, run_id, str(error))
            return False
        return True

    def _start(self, claimed: Claimed) -> None:
        context = self._contexts[claimed.lease.run_id]
        playing = _Playing(claimed.lease, SamplePlay(claimed, context, self._desk))
        self._playing[claimed.lease.sample_id] = playing
        playing.task = asyncio.create_task(self._converse(playing))
        playing.task.add_done_callback(lambda task: self._ended(playing, task))

    def _ended(self, playing: _Playing, task: "asyncio.Task[None]") -> None:
        if self._playing.get(playing.lease.sample_id) is playing:
            del self._playing[playing.lease.sample_id]
        if not task.cancelled() and (error := task.exception()) is not None:
            # The lease runs out by itself: another attempt comes later, and not for ever.
            log.error("Sample %s failed", playing.lease.sample_id, exc_info=error)
        self._wake.set()

    async def _converse(self, playing: _Playing) -> None:
        match await self._play_out(playing):
            case Finish() as finish:
                await self._writer.post(finish)
                self._refresh_metrics(playing.lease.run_id)
            case _Stop.CANCELLED:
                await self._writer.post(playing.play.cancelled())
            case _Stop.RELEASED:
                await self._writer.call(release, [playing.lease])
            case _Stop.LOST:
                pass

    async def _play_out(self, playing: _Playing) -> "Finish | _Stop":
        try:
            return await playing.play.play()
        except asyncio.CancelledError:
            if playing.stop_as is None:
                raise
            return playing.stop_as
        except CancelledByRun:
            return _Stop.CANCELLED
        except LeaseLost:
            return _Stop.LOST
        except PlayerStopping:
            return _Stop.RELEASED

    async def _pause(self) -> None:
        """Wait until a conversation ends, and a moment for more of them, or a little while."""
        self._wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_EVERY):
                await self._wake.wait()
                await asyncio.sleep(COLLECT)

    async def _renew(self) -> None:
        """Keep the leases; let go of samples that somebody else has claimed."""
        while True:
            await asyncio.sleep(settings.RUN_LEASE_SECONDS / 3)
            ours = list(self._playing.values())
            held = await self._writer.call(renew, self._owner)
            for playing in ours:
                if playing.lease.sample_id not in held:
                    playing.stop(_Stop.LOST)

    async def _watch(self) -> None:
        """Stop the conversations of runs that are being cancelled."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            runs = {playing.lease.run_id for playing in self._playing.values()}
            if not runs:
                continue
            cancelled = await self._writer.call(_cancelled_runs, runs)
            for playing in list(self._playing.values()):
                if playing.lease.run_id in cancelled:
                    playing.stop(_Stop.CANCELLED)

    async def _hand_over(self) -> None:
        """Wait a little for answers on their way, then give back what is unfinished."""
        for how in (None, _Stop.RELEASED):
            tasks = []
            for playing in list(self._playing.values()):
                if how is not None:
                    playing.stop(how)
                if playing.task is not None:
                    tasks.append(playing.task)
            waiting = [*tasks, *self._desk.exchanges]
            if waiting:
                await asyncio.wait(waiting, timeout=GRACE)

    def _refresh_metrics(self, run_id: int) -> None:
        """Compute live metrics beside the conversations, now and then."""
        now = time.monotonic()
        if now < self._metrics_due.get(run_id, now - 1):
            return
        self._metrics_due[run_id] = now + 3600
        loop = asyncio.get_running_loop()

        def done(seconds: float) -> None:
            wait = max(METRICS_EVERY, seconds / METRICS_SHARE)
            self._metrics_due[run_id] = time.monotonic() + wait

        future = loop.run_in_executor(self._reader, _store_live_metrics, run_id)
        future.add_done_callback(lambda each: done(each.result()))


def _cancelled_runs(run_ids: set[int]) -> set[int]:
    rows = Run.objects.filter(pk__in=run_ids, state__in=(RunState.CANCELLING, RunState.CANCELLED))
    return set(rows.values_list("pk", flat=True))


def _interrupt(run_id: int, reason: str) -> None:
    Run.objects.filter(pk=run_id, state__in=(RunState.QUEUED, RunState.RUNNING)).update(
        state=RunState.INTERRUPTED, error=reason
    )


def _store_live_metrics(run_id: int) -> float:
    """Store a run's metrics so far, unless it has ended with its last ones; gives the seconds."""
    started = time.monotonic()
    run = Run.objects.select_related("spec").get(pk=run_id)
    metrics = compute_metrics(run)
    with transaction.atomic():
        Run.objects.filter(pk=run_id, finished_at=None).update(metrics=metrics)
    return time.monotonic() - started
