"""A harness without a client: it speaks the protocol in plain HTTP, inside of this process."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.test import Client

from tests.harness.bundle import find


@dataclass(frozen=True)
class Heard:
    """An answer as it arrived."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def json(self) -> Any:
        assert self.headers["Content-Type"] == "application/json", self.headers
        if "Content-Length" in self.headers:
            assert int(self.headers["Content-Length"]) == len(self.body)
        return json.loads(self.body)

    @property
    def detail(self) -> str:
        """Why it was refused; every refusal is an object with this one text."""
        assert set(self.json) == {"detail"}
        assert isinstance(self.json["detail"], str)
        assert self.json["detail"]
        return self.json["detail"]

    @property
    def events(self) -> list[tuple[str, str]]:
        """The events of a stream, read as strictly as the known clients need them."""
        assert self.status == 200, self.body
        assert self.headers["Content-Type"].startswith("text/event-stream")
        assert self.body.endswith(b"\n\n")
        return [
            _event(lines)
            for lines in self.body.decode("ascii").split("\n\n")[:-1]
            if lines[0] != ":"
        ]

    @property
    def result(self) -> Any:
        """The JSON that the events of a call carry together."""
        names = [name for name, _ in self.events]
        assert names[0] == "task_id"
        assert names[-1] == "end"
        assert set(names[1:-1]) <= {"chunk"}
        return json.loads("".join(data for _, data in self.events[1:]))

    @property
    def task_id(self) -> str:
        assert self.events[0][0] == "task_id"
        return self.events[0][1]

    @property
    def error(self) -> str:
        """What an ``error`` event says; there is nothing after it."""
        assert self.events[-1][0] == "error"
        return self.events[-1][1]


def _event(lines: str) -> tuple[str, str]:
    name, data = lines.split("\n")
    assert name.startswith("event: ")
    assert data.startswith("data: ")
    return name.removeprefix("event: "), data.removeprefix("data: ")


class Harness:
    """Asks with one API key, or with none."""

    def __init__(self, secret: str | None) -> None:
        self.secret = secret
        self.client = Client()

    def ask(
        self,
        method: str,
        path: str,
        sid: str | None = None,
        body: Any = None,
        **headers: str | None,
    ) -> Heard:
        """``body`` may be bytes; header names take _ for -."""
        named = {"X_API_KEY": self.secret, "X_SESSION_ID": sid, **headers}
        sent = {f"HTTP_{name}": value for name, value in named.items() if value is not None}
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        response = self.client.generic(
            method, path, b"" if body is None else raw, "application/json", **sent
        )
        whole = b"".join(response) if response.streaming else response.content
        return Heard(response.status_code, whole, response.headers)

    def get(self, path: str, sid: str | None = None, **headers: str | None) -> Heard:
        return self.ask("GET", path, sid, **headers)

    def post(
        self, path: str, sid: str | None = None, body: Any = None, **headers: str | None
    ) -> Heard:
        return self.ask("POST", path, sid, body, **headers)

    def opened(self) -> str:
        """The id of a session that is not created yet."""
        return self.post("/create_session", body={}).task_id

    def session(self, environment: str, key: str) -> str:
        """The id of a session that plays the task ``key`` of the bundle."""
        split, index, _ = find(environment, key)
        sid = self.opened()
        body = {"env_name": environment, "split": split, "index": index}
        heard = self.post("/create", sid, body)
        assert heard.status == 200, heard.body
        return sid

    def call(
        self, sid: str, name: str, given: Any, environment: str = "counter", **more: Any
    ) -> Heard:
        return self.post(f"/{environment}/call", sid, {"name": name, "input": given, **more})

    def submit(self, sid: str, answer: Any, **more: Any) -> Heard:
        return self.call(sid, "submit", {"answer": answer}, **more)
