"""Callers of the API: a key or a signed-in person, speaking JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.test import Client
from django.test.client import ClientHandler

from apps.accounts.models import User

PROBLEM = "application/problem+json"


@dataclass(frozen=True)
class Heard:
    """An answer as it arrived."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def problem(self) -> dict[str, Any]:
        """The body, which has to be problem details."""
        assert self.headers["Content-Type"] == PROBLEM, self.body
        found: dict[str, Any] = self.json
        assert found["status"] == self.status
        assert found["type"].startswith("urn:turnwright:problem:")
        assert found["detail"]
        return found


class Caller:
    """Asks below ``root``; bodies that are no bytes are sent as JSON."""

    def __init__(self, client: Client, root: str = "/api/v1/") -> None:
        self.client = client
        self.root = root

    def at(self, path: str) -> "Caller":
        return Caller(self.client, self.root + path)

    def ask(
        self, method: str, path: str = "", body: Any = None, *, media: str = "application/json"
    ) -> Heard:
        sent = {}
        if body is not None:
            raw = body if isinstance(body, bytes) else json.dumps(body).encode()
            sent = {"data": raw, "content_type": media}
        response = self.client.generic(method, self.root + path, **sent)
        whole = b"".join(response) if response.streaming else response.content
        return Heard(response.status_code, whole, response.headers)

    def get(self, path: str = "") -> Heard:
        return self.ask("GET", path)

    def post(self, path: str = "", body: Any = None) -> Heard:
        return self.ask("POST", path, body)

    def put(self, path: str = "", body: Any = None) -> Heard:
        return self.ask("PUT", path, body)

    def patch(self, path: str = "", body: Any = None) -> Heard:
        return self.ask("PATCH", path, body)

    def delete(self, path: str = "") -> Heard:
        return self.ask("DELETE", path)


_HANDLER = ClientHandler(enforce_csrf_checks=False)
"""One for all clients: each of its own would load the middleware again."""


def _client(**headers: str) -> Client:
    client = Client(headers=headers)
    client.handler = _HANDLER
    return client


def with_key(secret: str) -> Caller:
    return Caller(_client(**{"x-api-key": secret}))


def signed_in(user: User) -> Caller:
    client = _client()
    client.force_login(user)
    return Caller(client)


def nobody() -> Caller:
    return Caller(_client())
