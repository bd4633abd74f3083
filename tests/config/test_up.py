"""`manage.py up`: one command, four processes, and nothing left behind."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.worker, pytest.mark.timeout(240)]
ROOT = Path(__file__).resolve().parents[2]


class OneCommand:
    """A whole Turnwright in a folder of its own, as `make run` starts it."""

    def __init__(self, var: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "apps.config.settings",
            "TURNWRIGHT_VAR": str(var),
            "PORT": str(self.port),
            "WEB_WORKERS": "1",
        }
        self.environment.pop("DATABASE_URL", None)
        self.output = var.parent / "up.log"
        with self.output.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "up"],
                cwd=ROOT, env=self.environment, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip

    def said(self) -> str:
        return self.output.read_text()

    def wait_for(self, words: str, seconds: float = 120) -> None:
        deadline = time.monotonic() + seconds
        while words not in self.said():
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.1)

    def ask(self, path: str, body: object = None) -> Any:
        [key] = re.findall(r"tw_\S+", self.said())[:1]
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(
            self.url + path, data, {"X-API-Key": key, "Content-Type": "application/json"}
        )
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return json.loads(answer.read())

    def beats(self) -> list[int]:
        """Celery's beat, wherever it runs below the command."""
        return [pid for pid in descendants_of(self.process.pid) if " beat " in command_of(pid)]

    def wait_for_another_beat(self, than: int, seconds: float = 60) -> None:
        """Until one runs that has got as far as to write its schedule."""
        deadline = time.monotonic() + seconds
        run = Path(self.environment["TURNWRIGHT_VAR"]) / "run"
        while not set(self.beats()) - {than} or not list(run.glob("beat-schedule*")):
            assert time.monotonic() < deadline, self.said()
            time.sleep(0.1)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(60)


def children_of(pid: int) -> list[int]:
    """The direct children, whichever thread started them; none of a process that has ended."""
    try:
        lists = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [int(child) for text in lists for child in text.split()]


def descendants_of(pid: int) -> list[int]:
    return [below for child in children_of(pid) for below in [child, *descendants_of(child)]]


def command_of(pid: int) -> str:
    """The command line; empty of a process that has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except (FileNotFoundError, ProcessLookupError):
        return ""


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[OneCommand]:
    started = OneCommand(tmp_path / "var")
    yield started
    if started.process.poll() is None:
        started.stop()


def test_one_command_brings_up_a_demo_that_serves_runs_brings_beat_back_and_stops(
    installation: OneCommand,
) -> None:
    installation.wait_for("Ctrl-C stops everything.")
    assert f"Turnwright is ready on {installation.url}" in installation.said()
    assert "sign in   admin / " in installation.said()
    [beat] = installation.beats()
    os.kill(beat, signal.SIGKILL)
    assert {"name": "test", "type": "test"} in installation.ask("/capitals/splits")

    run = installation.ask(
        "/api/v1/projects/demo/runs/",
        {
            "environment": "capitals", "split": "test", "solver": "clarify-capitals",
            "model": "demo", "limit": 3,
        },
    )  # fmt: skip
    deadline = time.monotonic() + 90
    while (seen := installation.ask(f"/api/v1/projects/demo/runs/{run['number']}/"))[
        "state"
    ] != "finished":
        assert time.monotonic() < deadline, seen
        time.sleep(0.3)
    assert seen["samples_done"] == 3
    assert seen["metrics"][0]["value"] == 1.0

    installation.wait_for_another_beat(than=beat)
    assert "beat ended with -9" in installation.said()
    assert len(installation.beats()) == 1
    assert len(children_of(installation.process.pid)) == 4
    pids = descendants_of(installation.process.pid)
    assert installation.stop() == 0
    assert not [pid for pid in pids if command_of(pid)]


def test_a_port_in_use_is_explained_before_anything_is_started(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "apps.config.settings",
            "TURNWRIGHT_VAR": str(tmp_path),
            "PORT": str(taken.getsockname()[1]),
        }
        answer = subprocess.run(
            [sys.executable, "manage.py", "up"],
            cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
    assert answer.returncode == 1
    assert "PORT=8001 make run" in answer.stderr
    assert not (tmp_path / "turnwright.sqlite3").exists()
