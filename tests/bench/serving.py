"""GET /messages and /prompt: our server with its database beside the reference server.

Both are asked by the same client over keep-alive connections; what counts is the server's CPU a
request, so the client's own speed does not matter.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from tests.bench.conversations import conversation
from tests.bench.measuring import cpu_of_tree, interleaved, table

TURNS = (4, 40, 400)
CONNECTIONS, REQUESTS, ROUNDS = 32, 1500, 3
SUBMIT = {
    "name": "submit",
    "kind": "submit",
    "argument": "answer",
    "description": "Hand in the answer.",
    "input_schema": {
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
    },
}
GRADER = {"type": "equals", "value": "42"}
REFERENCE = """
import json, sys
from openreward.environments import Environment, Server, tool
from openreward.environments.types import Message, Split, TextBlock, ToolOutput
from pydantic import BaseModel

TASKS = json.loads(open(sys.argv[2]).read())

class Answer(BaseModel):
    answer: str

class Dialogue(Environment):
    @classmethod
    def list_splits(cls): return [Split(name="train", type="train")]
    @classmethod
    def list_tasks(cls, split): return TASKS
    def get_messages(self):
        return [Message.model_validate(message) for message in self.task_spec["conversation"]]
    @tool
    def submit(self, params: Answer) -> ToolOutput:
        reward = float(params.answer.strip() == "42")
        return ToolOutput(blocks=[TextBlock(text="received")], reward=reward, finished=True)

Server([Dialogue]).run(host="127.0.0.1", port=int(sys.argv[1]))
"""


@dataclass(frozen=True)
class Target:
    name: str
    url: str
    pid: int
    headers: dict[str, str]
    sessions: dict[int, str]

    def cpu_per_get(self, path: str, turns: int) -> float:
        """CPU milliseconds of the server for one request."""
        before = cpu_of_tree(self.pid)
        asyncio.run(self._ask(path, {**self.headers, "X-Session-ID": self.sessions[turns]}))
        return (cpu_of_tree(self.pid) - before) / REQUESTS * 1e3

    async def _ask(self, path: str, headers: dict[str, str]) -> None:
        left = iter(range(REQUESTS))
        connector = aiohttp.TCPConnector(limit=CONNECTIONS)
        async with aiohttp.ClientSession(self.url, connector=connector, headers=headers) as http:

            async def asker() -> None:
                for _ in left:
                    async with http.get(path) as answer:
                        assert answer.status == 200, await answer.text()
                        await answer.read()

            await asyncio.gather(*(asker() for _ in range(CONNECTIONS)))


def run() -> None:
    var = Path(os.environ["TURNWRIGHT_VAR"])
    with servers(var) as (ours, reference):
        rows = []
        for path in ("/dialogue/messages", "/dialogue/prompt"):
            for turns in TURNS:
                figures = interleaved(
                    ROUNDS,
                    {
                        target.name: lambda target=target, path=path, turns=turns: (
                            target.cpu_per_get(path, turns)
                        )
                        for target in (ours, reference)
                    },
                )
                ratio = figures["ours"] / figures["reference"]
                budget = {4: 1.0, 40: 0.5, 400: 0.1}[turns]
                milliseconds = (f"{figures[name]:.2f} ms" for name in ("ours", "reference"))
                rows.append([path, turns, f"{ratio:.2f}", f"<= {budget}", *milliseconds])
        table(["GET", "turns", "ours / reference", "budget", "ours", "reference"], rows)


@contextmanager
def servers(var: Path) -> Iterator[tuple[Target, Target]]:
    """Ours and the reference server, each with one task of every length in `TURNS`."""
    tasks = [{"id": f"t{turns}", "conversation": conversation(turns)} for turns in TURNS]
    graded: list[dict[str, object]] = [{**task, "grader": GRADER} for task in tasks]
    with _ours(var, graded) as ours, _reference(var, tasks) as reference:
        yield ours, reference


@contextmanager
def _ours(var: Path, tasks: list[dict[str, object]]) -> Iterator[Target]:
    bundle = {
        "format": "conversation-kit/1",
        "owner": "bench",
        "default_environment": "dialogue",
        "environments": [
            {
                "name": "dialogue",
                "description": "",
                "splits": [{"name": "train", "type": "train"}],
                "tools": [SUBMIT],
                "score_group": False,
                "tasks": {"train": tasks},
            }
        ],
    }
    (var / "bundle.json").write_text(json.dumps(bundle))
    port = _free_port()
    environment = {**os.environ, "PORT": str(port), "WEB_WORKERS": "1"}
    _manage(environment, "migrate", "--verbosity", "0")
    _manage(environment, "load_bundle", str(var / "bundle.json"))
    key = _manage(environment, "create_api_key", "bench", "--name", "bench").strip()
    command = [
        sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1",
        "--port", str(port), "--workers", "1", "--blocking-threads", "1",
        "--log-level", "warning", "apps.config.wsgi:application",
    ]  # fmt: skip
    with _running(command, environment, port) as pid:
        url, headers = f"http://127.0.0.1:{port}", {"X-API-Key": key}
        yield Target("ours", url, pid, headers, _sessions(url, headers))


@contextmanager
def _reference(var: Path, tasks: Sequence[object]) -> Iterator[Target]:
    (var / "reference.py").write_text(REFERENCE)
    (var / "reference.json").write_text(json.dumps(tasks))
    port = _free_port()
    command = [sys.executable, str(var / "reference.py"), str(port), str(var / "reference.json")]
    with _running(command, dict(os.environ), port) as pid:
        url = f"http://127.0.0.1:{port}"
        yield Target("reference", url, pid, {}, _sessions(url, {}))


def _sessions(url: str, headers: dict[str, str]) -> dict[int, str]:
    """One open session for each length of conversation."""
    found = {}
    for index, turns in enumerate(TURNS):
        events = _post(f"{url}/create_session", headers, {}).decode()
        sid = events.partition("data: ")[2].partition("\n")[0].strip()
        body = {"env_name": "dialogue", "split": "train", "index": index}
        _post(f"{url}/create", {**headers, "X-Session-ID": sid}, body)
        found[turns] = sid
    return found


def _post(url: str, headers: dict[str, str], body: object) -> bytes:
    data = json.dumps(body).encode()
    asked = urllib.request.Request(url, data, {**headers, "Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=30) as answer:
        return bytes(answer.read())


def _manage(environment: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        env=environment, check=True, capture_output=True, text=True,
    )  # fmt: skip
    return done.stdout


@contextmanager
def _running(command: list[str], environment: dict[str, str], port: int) -> Iterator[int]:
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        else:
            raise RuntimeError(f"{command[:3]} did not start")
        yield process.pid
    finally:
        process.terminate()
        process.wait(10)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
