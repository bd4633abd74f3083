"""A whole installation for tests: its own state, database and broker, and real processes."""

import contextlib
import os
import secrets
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from apps.config import embedded_broker

ROOT = Path(__file__).resolve().parent.parent.parent


class Installation:
    """Processes of the product that share ``database_url`` and ``broker_url``.

    ``broker_url`` None means the embedded broker, which `start_broker` starts.
    """

    def __init__(self, folder: Path, database_url: str, broker_url: str | None) -> None:
        self.folder = folder
        self.database_url = database_url
        self._broker: embedded_broker.EmbeddedBroker | None = None
        if broker_url is None:
            self._broker = embedded_broker.prepare(folder / "run")
            broker_url = self._broker.url
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in _CLEARED},
            "DJANGO_SETTINGS_MODULE": "apps.config.settings",
            "TURNWRIGHT_VAR": str(folder),
            "DATABASE_URL": database_url,
            "CELERY_BROKER_URL": broker_url,
            "RUN_LEASE_SECONDS": "2",
        }
        self._processes: list[subprocess.Popen[bytes]] = []

    def start_broker(self) -> None:
        """Start the embedded broker; one given by its address runs already."""
        if self._broker is not None:
            port = self._broker.port
            self.start(*self._broker.command)
            wait_until(lambda: embedded_broker.answers(port), "the broker")

    def manage(self, *arguments: str, code: int = 0) -> str:
        """Run a management command to its end; gives its standard output."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def worker(self) -> "subprocess.Popen[bytes]":
        """Start a worker with its beat inside, so that one kill takes both."""
        name = f"test-{secrets.token_hex(4)}"
        return self.start(
            sys.executable, "-m", "celery", "--app", "apps.config", "worker", "--beat",
            "--schedule", str(self.folder / name), "--concurrency", "2", "--loglevel", "INFO",
            "--without-gossip", "--without-mingle", "--hostname", f"{name}@localhost",
        )  # fmt: skip

    def start(self, *command: str) -> "subprocess.Popen[bytes]":
        """Start a process in a group of its own; its output is kept in the folder."""
        with (self.folder / f"process-{len(self._processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def kill(self, process: "subprocess.Popen[bytes]") -> None:
        """kill -9 a process and its children: no time to say good-bye."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)

    def stop_all(self) -> None:
        for process in reversed(self._processes):
            self.kill(process)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Ask the database, beside everything that runs."""
        parts = urlsplit(self.database_url)
        if parts.scheme == "sqlite":
            with contextlib.closing(sqlite3.connect(parts.path[1:], timeout=20)) as connection:
                return connection.execute(query).fetchall()
        with psycopg.connect(self.database_url) as server:
            return server.execute(query).fetchall()  # type: ignore[arg-type]

    def value(self, query: str) -> Any:
        return self.rows(query)[0][0]

    def logs(self) -> str:
        """What the processes have said so far."""
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("process-*.log")))


_CLEARED = {"DEBUG", "SECRET_KEY", "ENCRYPTION_KEYS", "CACHE_URL", "ALLOW_PRIVATE_ENDPOINTS"}


def wait_until(happens: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Wait until something happens; fails, naming it, if it does not."""
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain for {what}"
        time.sleep(0.05)
