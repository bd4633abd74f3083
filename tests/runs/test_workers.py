"""Real worker processes, killed in the middle: no sample is lost, no recorded call made again."""

import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.kits.fake_openai import FakeOpenAI
from tests.kits.installation import Installation, wait_until
from tests.kits.postgres import postgres_database
from tests.needs import missing
from tests.runs.stage import TWO_TURNS, rows

pytestmark = [pytest.mark.worker, pytest.mark.xdist_group("workers"), pytest.mark.timeout(300)]

TASKS = 60
THREE_TURNS = TWO_TURNS.replace(
    "  scorers:",
    '      - {type: chat_message, role: user, content: "{{ sample.target }}"}\n'
    "      - type: generate\n  scorers:",
).replace("First:", "{{ sample.id }}")


def redis_url() -> str:
    url = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/9")
    parts = urlsplit(url)
    with socket.socket() as probe:
        probe.settimeout(1)
        if probe.connect_ex((parts.hostname or "127.0.0.1", parts.port or 6379)):
            missing("Redis", "start redis-server or set TEST_REDIS_URL")
    return url


@pytest.fixture(
    params=[
        pytest.param(("sqlite", "embedded"), id="sqlite-embedded"),
        pytest.param(("sqlite", "redis"), id="sqlite-redis"),
        pytest.param(("postgres", "redis"), id="postgres-redis", marks=pytest.mark.postgres),
        pytest.param(("postgres", "embedded"), id="postgres-embedded", marks=pytest.mark.postgres),
    ]
)
def installation(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Installation]:
    """An installation without processes; migrated, its broker not started."""
    database, broker = request.param
    broker_url = redis_url() if broker == "redis" else None
    if database == "postgres":
        with postgres_database() as url:
            yield from _installed(Installation(tmp_path, url, broker_url))
    else:
        url = f"sqlite:///{tmp_path}/db.sqlite3"
        yield from _installed(Installation(tmp_path, url, broker_url))


def _installed(made: Installation) -> Iterator[Installation]:
    try:
        made.manage("migrate", "--verbosity", "0")
        yield made
    finally:
        made.stop_all()


def launch(installation: Installation, server: FakeOpenAI, model: str) -> None:
    """A run of ``TASKS`` samples with three calls each; queued, nobody plays it yet."""
    folder = installation.folder
    (folder / "tasks.jsonl").write_bytes(b"".join(rows(TASKS)))
    (folder / "spec.yaml").write_text(THREE_TURNS)
    installation.manage(
        "import_tasks", str(folder / "tasks.jsonl"), "--environment", "alpha/capitals", "--create"
    )
    installation.manage(
        "create_endpoint", "alpha", "model", "--base-url", server.url, "--model", model
    )
    installation.manage(
        "run_evaluation", str(folder / "spec.yaml"), "--project", "alpha", "--model", "model",
        "--concurrency", "20",
    )  # fmt: skip


def state(installation: Installation) -> str:
    return str(installation.value("SELECT state FROM runs_run"))


def wait_for_the_end(installation: Installation) -> None:
    try:
        wait_until(lambda: state(installation) == "finished", "the end of the run", 120)
    except AssertionError as late:
        raise AssertionError(f"{late}\n{installation.logs()[-6000:]}") from None


def expect_everything_played(installation: Installation) -> None:
    ended = installation.rows("SELECT state, ended, count(*) FROM runs_sample GROUP BY 1, 2")
    assert ended == [("done", "completed", TASKS)]
    done, scored = installation.rows("SELECT samples_done, samples_scored FROM runs_run")[0]
    assert (done, scored) == (TASKS, TASKS)
    assert installation.value("SELECT count(*) FROM traces_score") == TASKS
    kept = installation.value("SELECT count(*) FROM traces_modelcall WHERE state = 'kept'")
    assert kept == 3 * TASKS
    asked = installation.value("SELECT calls FROM runs_run")
    assert asked == installation.value("SELECT count(*) FROM traces_modelcall")


def test_a_worker_killed_in_the_middle_loses_nothing_and_repeats_no_recorded_call(
    installation: Installation, server: FakeOpenAI
) -> None:
    launch(installation, server, "echo@250")
    installation.start_broker()
    first = installation.worker()
    server.wait_for(70, seconds=60)
    installation.kill(first)
    recorded = installation.rows(
        "SELECT fingerprint FROM traces_modelcall WHERE state IN ('received', 'kept')"
    )
    assert 20 < len(recorded) < 3 * TASKS
    assert state(installation) == "running"
    installation.worker()
    wait_for_the_end(installation)
    expect_everything_played(installation)
    sent = server.sent()
    assert {fingerprint: sent[fingerprint] for (fingerprint,) in recorded} == {
        fingerprint: 1 for (fingerprint,) in recorded
    }
    unknown = installation.value("SELECT calls_unknown FROM runs_run")
    assert unknown == installation.value(
        "SELECT count(*) FROM traces_modelcall WHERE state = 'unknown'"
    )
    # Only what was on its way when the worker died may have gone out a second time. A call that was
    # written down as sent but had not left yet is as unknown as one whose answer was lost.
    assert sum(count - 1 for count in sent.values()) <= unknown <= 20
    assert len(sent) == 3 * TASKS


@pytest.mark.parametrize("installation", [("sqlite", "embedded")], indirect=True)
def test_a_worker_that_is_asked_to_stop_hands_over_without_a_single_doubtful_call(
    installation: Installation, server: FakeOpenAI
) -> None:
    launch(installation, server, "echo@250")
    installation.start_broker()
    first = installation.worker()
    server.wait_for(50, seconds=60)
    os.kill(first.pid, signal.SIGTERM)
    assert first.wait(30) == 0
    assert state(installation) == "running"
    installation.worker()
    wait_for_the_end(installation)
    expect_everything_played(installation)
    assert installation.value("SELECT calls_unknown FROM runs_run") == 0
    assert set(server.sent().values()) == {1}


@pytest.mark.parametrize("installation", [("sqlite", "embedded")], indirect=True)
def test_a_run_launched_without_a_broker_starts_when_there_is_one(
    installation: Installation, server: FakeOpenAI
) -> None:
    launch(installation, server, "echo")
    assert state(installation) == "queued"
    installation.start_broker()
    installation.worker()
    wait_for_the_end(installation)
    expect_everything_played(installation)


@pytest.mark.parametrize("installation", [("sqlite", "embedded")], indirect=True)
def test_an_interrupted_command_cancels_the_run_that_a_worker_plays(
    installation: Installation, server: FakeOpenAI
) -> None:
    launch(installation, server, "echo@400")
    installation.start_broker()
    installation.worker()
    server.wait_for(10, seconds=60)
    folder = installation.folder
    waiting = installation.start(
        "sh", "-c", 'exec "$0" manage.py run_evaluation "$1" --project alpha --model model '
        '--concurrency 10 --wait --json > "$2"', sys.executable, str(folder / "spec.yaml"),
        str(folder / "out.json"),
    )  # fmt: skip
    second = "SELECT count(*) FROM runs_sample s JOIN runs_run r ON r.id = s.run_id"
    wait_until(
        lambda: bool(installation.value(f"{second} WHERE r.number = 2 AND s.state = 'done'")),
        "the first samples of the second run",
        90,
    )
    os.kill(waiting.pid, signal.SIGINT)
    assert waiting.wait(30) == 3, installation.logs()[-4000:]
    found = json.loads((folder / "out.json").read_text().splitlines()[-1])
    assert found["status"] == "cancelled"
    assert found["scored"] == found["ended"]["completed"] < TASKS
    assert found["ended"]["cancelled"] == TASKS - found["scored"]
    sent = len(server.requests)
    wait_until(lambda: state_of(installation, 1) == "finished", "the other run", 90)
    assert len(server.requests) >= sent


def state_of(installation: Installation, number: int) -> str:
    return str(installation.value(f"SELECT state FROM runs_run WHERE number = {number}"))
