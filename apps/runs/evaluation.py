"""Waiting for a run at a command line: beside the workers, or in place of them."""

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from typing import Any, Final

from django.conf import settings

from apps.accounts.errors import Conflict
from apps.accounts.permissions import Actor
from apps.providers.demo_server import demo_server
from apps.runs.actions import cancel
from apps.runs.leases import runs_without_player
from apps.runs.models import Run
from apps.runs.playing import play
from apps.runs.queries import progress

LOOK_EVERY: Final = 0.25
PICK_UP: Final = 3.0
"""Seconds in which a worker has to begin before this process plays by itself."""

CANCEL_WITHIN: Final = 10.0


class Evaluation:
    """A run that somebody waits for; ``interrupted`` is set from a signal handler."""

    def __init__(self, actor: Actor, run: Run, on_progress: Callable[[dict[str, Any]], None]):
        self.interrupted = threading.Event()
        self._actor = actor
        self._run = run
        self._on_progress = on_progress
        self._stop = threading.Event()
        self._player: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._alone_since = time.monotonic()

    def wait(self) -> dict[str, Any]:
        """Wait until the run has ended; gives its `progress`. An interruption cancels it.

        If no worker plays the run, this process does, with a demo endpoint of its own.
        """
        with ExitStack() as stack:
            stack.callback(self._end_player)
            seen = progress(self._run)
            while seen["open"] and not self.interrupted.is_set():
                self._on_progress(seen)
                self._play_if_nobody_does(stack)
                self.interrupted.wait(LOOK_EVERY)
                if self._failure is not None:
                    raise self._failure
                seen = progress(self._run)
            if seen["open"]:
                seen = self._cancel()
            self._on_progress(seen)
            return seen

    def _play_if_nobody_does(self, stack: ExitStack) -> None:
        if self._player is not None:
            return
        if self._run.pk not in runs_without_player():
            self._alone_since = time.monotonic()
            return
        patience = PICK_UP if settings.CELERY_BROKER_URL else 0
        if time.monotonic() - self._alone_since >= patience:
            url = stack.enter_context(demo_server())
            stack.callback(self._end_player)
            self._player = threading.Thread(target=self._play, args=(url,), name="player")
            self._player.start()

    def _play(self, demo_url: str) -> None:
        try:
            play(self._run.pk, should_stop=self._stop.is_set, demo_url=demo_url)
        except BaseException as error:  # noqa: BLE001 - raised again where somebody waits
            self._failure = error

    def _end_player(self) -> None:
        self._stop.set()
        if self._player is not None:
            self._player.join()

    def _cancel(self) -> dict[str, Any]:
        with suppress(Conflict):  # it has ended in the same moment
            cancel(actor=self._actor, run=self._run)
        deadline = time.monotonic() + CANCEL_WITHIN
        seen = progress(self._run)
        while seen["open"] and time.monotonic() < deadline:
            time.sleep(LOOK_EVERY)
            seen = progress(self._run)
        return seen
