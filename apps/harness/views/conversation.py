"""What a session plays: its conversation and its tools.

The bodies are stored with the revision, ready to send, and kept in this process by revision: they
never change, so the session's row is all that a hot request reads.
"""

import json
import threading
from collections import OrderedDict
from collections.abc import Callable

from django.http import HttpResponse

from apps.accounts.permissions import Right
from apps.dialogue.message import parse_conversation
from apps.dialogue.provider_formats import convert
from apps.episodes.queries import environment_of, messages_body, prompt_body
from apps.harness.answers import json_answer, ready_answer
from apps.harness.errors import WrongShape
from apps.harness.tool_list import tool_list
from apps.harness.visit import Visit
from apps.tasks.queries import tools

FORMATS = ("openai", "openrouter", "anthropic", "google")
"""The formats that the clients build themselves; here for harnesses without a client."""

CACHED_BYTES = 64 * 2**20


class BodyCache:
    """The most recently used bodies, at most ``size`` bytes of them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._used = 0
        self._bodies: OrderedDict[tuple[int, str], bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, revision: int, form: str, make: Callable[[], bytes]) -> bytes:
        """The body of ``revision`` in this form; ``make`` is called if it is not here."""
        key = (revision, form)
        with self._lock:
            body = self._bodies.get(key)
            if body is not None:
                self._bodies.move_to_end(key)
                return body
        body = make()
        if len(body) <= self._size // 4:
            self._keep(key, body)
        return body

    def _keep(self, key: tuple[int, str], body: bytes) -> None:
        with self._lock:
            self._used += len(body) - len(self._bodies.get(key, b""))
            self._bodies[key] = body
            while self._used > self._size:
                self._used -= len(self._bodies.popitem(last=False)[1])


_BODIES = BodyCache(CACHED_BYTES)


def prompt(visit: Visit) -> HttpResponse:
    episode = visit.episode_here
    make = lambda: prompt_body(episode).encode()  # noqa: E731
    return ready_answer(_BODIES.get(episode.revision_id, "prompt", make))


def messages(visit: Visit) -> HttpResponse:
    """The conversation as stored, or with ``?format=`` as the payload the client would build."""
    episode = visit.episode_here
    form = visit.request.GET.get("format") if visit.request.META.get("QUERY_STRING") else None
    if form is not None and form not in FORMATS:
        raise WrongShape(f"format: {form[:40]!a} is not one of {', '.join(FORMATS)}.")

    def make() -> bytes:
        stored = messages_body(episode)
        return stored.encode() if form is None else _converted(stored, form)

    return ready_answer(_BODIES.get(episode.revision_id, form or "messages", make))


def _converted(stored: str, form: str) -> bytes:
    """The provider's payload; `DialogueError` if that format cannot carry the conversation."""
    return json_answer(convert(parse_conversation(json.loads(stored)), form)).content


def task_tools(visit: Visit) -> HttpResponse:
    episode = visit.episode_here
    environment = environment_of(episode)
    return ready_answer(tool_list(environment, tools(episode.actor, environment, Right.SERVE)))
