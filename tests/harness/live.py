"""The product as it is served: granian, its processes, a database of its own on disk."""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.harness.bundle import BUNDLE

PREPARE = """
import sys, django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("load_bundle", sys.argv[1])
call_command("create_api_key", "kit", "--name", "live")
"""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class LiveServer:
    """A server over the bundle's project; it can be killed and started again on its data."""

    var: Path
    workers: int = 2
    threads: int = 4
    port: int = field(default_factory=_free_port)
    key: str = ""
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        given = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        return {**given, "TURNWRIGHT_VAR": str(self.var), "WEB_THREADS": str(self.threads)}

    def prepare(self) -> None:
        """Make the database, load the bundle, make a key."""
        bundle = self.var / "bundle.json"
        bundle.write_text(json.dumps(BUNDLE), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-c", PREPARE, str(bundle)],
            env=self.environment, check=True, capture_output=True, text=True,
        )  # fmt: skip
        self.key = done.stdout.split()[-1]

    def copy(self, var: Path, *, workers: int, threads: int) -> "LiveServer":
        """Another server on a copy of this one's data, which must not be changing."""
        shutil.copytree(self.var, var, dirs_exist_ok=True)
        return LiveServer(var, workers=workers, threads=threads, key=self.key)

    def start(self) -> None:
        log = (self.var / "server.log").open("ab")
        self.process = subprocess.Popen(
            [
                sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1",
                "--port", str(self.port), "--workers", str(self.workers),
                "--blocking-threads", str(self.threads), "apps.config.wsgi:application",
            ],
            env=self.environment, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        log.close()
        deadline = time.monotonic() + 60
        while not self._answers():
            assert time.monotonic() < deadline, (self.var / "server.log").read_text()
            assert self.process.poll() is None, (self.var / "server.log").read_text()
            time.sleep(0.1)

    def _answers(self) -> bool:
        try:
            return self.ask("GET", "/health")[0] == 200
        except OSError:
            return False

    def kill(self) -> None:
        """End every process at once, as a power cut would."""
        self._signal(signal.SIGKILL)

    def stop(self) -> None:
        self._signal(signal.SIGTERM)

    def _signal(self, number: int) -> None:
        if self.process is not None:
            os.killpg(self.process.pid, number)
            self.process.wait(20)
            self.process = None

    def ask(
        self, method: str, path: str, body: object = None, sid: str = "", timeout: float = 20
    ) -> tuple[int, bytes]:
        """One request on a connection of its own: (status, body)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(
                method, path, None if body is None else json.dumps(body), self.headers(sid)
            )
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def headers(self, sid: str = "") -> dict[str, str]:
        session = {"X-Session-ID": sid} if sid else {}
        return {"X-API-Key": self.key, "Content-Type": "application/json", **session}

    def session(self, environment: str, split: str, index: int) -> str:
        """The id of a session of its own, created."""
        opened = self.ask("POST", "/create_session", {})[1].decode()
        sid = opened.partition("data: ")[2].partition("\n")[0]
        body = {"env_name": environment, "split": split, "index": index}
        status, said = self.ask("POST", "/create", body, sid)
        assert status == 200, said
        return sid

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)


def result_in(stream: bytes) -> dict[str, object]:
    """The JSON that the events of a call's stream carry."""
    events = [lines.split("\n") for lines in stream.decode("ascii").split("\n\n")[:-1]]
    data = [lines[1][6:] for lines in events if lines[0] in ("event: chunk", "event: end")]
    assert events[-1][0] == "event: end", stream
    found: dict[str, object] = json.loads("".join(data))
    return found
