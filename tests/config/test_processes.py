"""The embedded broker and the supervisor, with real processes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import redis

from apps.config import embedded_broker
from apps.config.supervisor import Supervisor, Watched


@pytest.fixture
def supervisor() -> "Supervisor":
    handlers = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    said: list[str] = []
    keeper = Supervisor(say=said.append)
    yield keeper
    keeper.stop_all()
    signal.signal(signal.SIGTERM, handlers[0])
    signal.signal(signal.SIGINT, handlers[1])


def test_the_embedded_broker_wants_its_password(tmp_path: Path, supervisor: Supervisor) -> None:
    broker = embedded_broker.prepare(tmp_path)
    supervisor.add("broker", broker.command, os.environ)
    supervisor.wait_until(lambda: embedded_broker.answers(broker.port), what="it", seconds=10)
    with redis.Redis.from_url(broker.url) as client:
        assert client.ping()
    with (
        redis.Redis(port=broker.port) as stranger,
        pytest.raises(redis.exceptions.AuthenticationError),
    ):
        stranger.ping()
    assert (tmp_path / "broker-url").stat().st_mode & 0o077 == 0


def test_without_any_server_program_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded_broker, "get_binary_path", None)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(embedded_broker.NoBroker, match="CELERY_BROKER_URL"):
        embedded_broker.server_program()


def test_a_process_that_dies_at_once_is_restarted_ever_more_slowly() -> None:
    watched = Watched("brief", [sys.executable, "-c", ""], os.environ)
    delays = []
    for _ in range(3):
        watched.start()
        assert watched.process is not None
        watched.process.wait()
        delays.append(watched.plan_restart())
    assert delays == [1.0, 3.0, 7.0]


def test_a_crashed_process_comes_back_and_the_end_stops_all(
    tmp_path: Path, supervisor: Supervisor
) -> None:
    marks = tmp_path / "starts"
    script = f"open({str(marks)!r}, 'a').write('x'); import time; time.sleep(60)"
    supervisor.add("sleeper", [sys.executable, "-c", script], os.environ)
    supervisor.wait_until(marks.exists, what="it", seconds=10)
    first = supervisor.processes[0].process
    assert first is not None
    first.kill()
    first.wait()
    deadline = time.monotonic() + 20

    def look() -> bool:
        return len(marks.read_text()) > 1 or time.monotonic() > deadline

    class UntilSeen(list[Watched]):
        """Ends the watch as soon as the second start was seen."""

        def __iter__(self):
            supervisor.stopping = look()
            return super().__iter__()

    supervisor.processes = UntilSeen(supervisor.processes)
    supervisor.watch()
    assert len(marks.read_text()) == 2
    supervisor.stop_all()
    assert supervisor.processes[0].ended()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's end")
def test_a_killed_supervisor_leaves_no_process_behind() -> None:
    script = (
        "import os, sys, time\n"
        "from apps.config.supervisor import Supervisor\n"
        "keeper = Supervisor(say=print)\n"
        "keeper.add('sleeper', [sys.executable, '-c', 'import time; time.sleep(60)'], os.environ)\n"
        "print(keeper.processes[0].process.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 20
    while _lives(child):
        assert time.monotonic() < deadline, "the child lives on"
        time.sleep(0.05)


def _lives(pid: int) -> bool:
    """Whether the process runs; one that nobody has waited for yet does not."""
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def test_a_start_that_fails_says_which_process_ended(supervisor: Supervisor) -> None:
    supervisor.add("broken", [sys.executable, "-c", "raise SystemExit(3)"], os.environ)
    with pytest.raises(SystemExit, match="broken ended"):
        supervisor.wait_until(lambda: False, what="The thing", seconds=10)


def test_production_without_secrets_is_explained(tmp_path: Path) -> None:
    environment = {
        **{k: v for k, v in os.environ.items() if k not in {"SECRET_KEY", "ENCRYPTION_KEYS"}},
        "DEBUG": "0",
        "TURNWRIGHT_VAR": str(tmp_path),
    }
    answer = subprocess.run(
        [sys.executable, "manage.py", "check"],
        env=environment, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert answer.returncode != 0
    assert "turnwright.E001" in answer.stderr
    assert "turnwright.E002" in answer.stderr
