"""Keeping a few processes alive: start them, restart what crashes, stop all in order."""

import ctypes
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FrameType

PATIENCE_AT_STOP = 15.0  # seconds until a process that does not end is killed
QUICK_DEATH = 5.0  # seconds; a process that lived shorter is restarted ever more slowly
SLOWEST_RESTART = 30.0

_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


def _end_with_the_supervisor() -> None:
    """Have the kernel end this process when its parent dies, even of SIGKILL."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)


@dataclass
class Watched:
    """One process and what is known of it."""

    name: str
    command: list[str]
    environment: Mapping[str, str]
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    quick_deaths: int = 0
    next_start: float = 0.0

    def start(self) -> None:
        # A session of its own, so that Ctrl-C in the terminal reaches the supervisor alone and the
        # processes are ended in order.
        self.process = subprocess.Popen(  # noqa: S603 - our own command lines
            self.command,
            env=dict(self.environment),
            start_new_session=True,
            preexec_fn=_end_with_the_supervisor if _LIBC else None,  # noqa: PLW1509 - no threads
        )
        self.started_at = time.monotonic()

    def ended(self) -> bool:
        return self.process is not None and self.process.poll() is not None

    def plan_restart(self) -> float:
        """Forget the dead process; answer after how many seconds the next one may start."""
        self.process = None
        lived = time.monotonic() - self.started_at
        self.quick_deaths = self.quick_deaths + 1 if lived < QUICK_DEATH else 0
        delay = min(SLOWEST_RESTART, 2.0**self.quick_deaths - 1)
        self.next_start = time.monotonic() + delay
        return delay

    def stop(self) -> None:
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(PATIENCE_AT_STOP)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@dataclass
class Supervisor:
    """Runs processes in the order given and stops them in the opposite order."""

    say: Callable[[str], None]
    processes: list[Watched] = field(default_factory=list)
    stopping: bool = False

    def __post_init__(self) -> None:
        signal.signal(signal.SIGTERM, self._stop_soon)
        signal.signal(signal.SIGINT, self._stop_soon)

    def _stop_soon(self, signum: int, frame: FrameType | None) -> None:
        self.stopping = True

    def add(self, name: str, command: list[str], environment: Mapping[str, str]) -> None:
        watched = Watched(name, command, environment)
        watched.start()
        self.processes.append(watched)

    def wait_until(self, ready: Callable[[], bool], *, what: str, seconds: float) -> None:
        """Block until ``ready()``; `SystemExit` when it takes too long or a process died."""
        deadline = time.monotonic() + seconds
        while not self.stopping and not ready():
            dead = next((w for w in self.processes if w.ended()), None)
            if dead is not None or time.monotonic() > deadline:
                self.stop_all()
                cause = f"{dead.name} ended" if dead else f"it took over {seconds:.0f} s"
                sys.exit(f"{what} did not start: {cause}.")
            time.sleep(0.05)

    def watch(self) -> None:
        """Restart whatever ends, until somebody asks to stop."""
        while not self.stopping:
            for watched in self.processes:
                if watched.ended():
                    code = watched.process.returncode if watched.process else 0
                    delay = watched.plan_restart()
                    self.say(f"{watched.name} ended with {code}; restarting in {delay:.0f} s")
                if watched.process is None and time.monotonic() >= watched.next_start:
                    watched.start()
            time.sleep(0.2)

    def stop_all(self) -> None:
        for watched in reversed(self.processes):
            watched.stop()
