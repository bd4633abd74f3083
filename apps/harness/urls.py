"""The addresses of the protocol, which share the root of the host with those of other surfaces.

``/{word}`` for the words of `ROOT`; ``/{environment}/{word}`` or bare ``/{word}`` for those of
`INSIDE`. Whatever starts with another word of this server's own is somebody else's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from django.http.response import HttpResponseBase

from apps.harness.views import calls, conversation, discovery, sessions
from apps.harness.visit import Visit
from apps.tasks.names import RESERVED_SLUGS

View = Callable[[Visit], HttpResponseBase]


@dataclass(frozen=True, slots=True)
class Route:
    method: str
    view: View

    @property
    def allowed(self) -> tuple[str, ...]:
        return ("GET", "HEAD") if self.method == "GET" else (self.method,)


ROOT: Final[Mapping[str, Route]] = {
    "health": Route("GET", discovery.health),
    "version": Route("GET", discovery.version),
    "list_environments": Route("GET", discovery.list_environments),
    "create_session": Route("POST", sessions.create_session),
    "create": Route("POST", sessions.create),
    "ping": Route("POST", sessions.ping),
    "delete": Route("POST", sessions.delete),
    "delete_session": Route("POST", sessions.delete),
}
INSIDE: Final[Mapping[str, Route]] = {
    "tools": Route("GET", discovery.list_tools),
    "splits": Route("GET", discovery.list_splits),
    "tasks": Route("POST", discovery.list_tasks),
    "num_tasks": Route("POST", discovery.num_tasks),
    "task": Route("POST", discovery.get_task),
    "task_range": Route("POST", discovery.get_task_range),
    "prompt": Route("GET", conversation.prompt),
    "messages": Route("GET", conversation.messages),
    "task_tools": Route("GET", conversation.task_tools),
    "call": Route("POST", calls.call),
    "score_group": Route("POST", calls.score_group),
}
PLATFORM: Final = "v1"
"""Where harnesses upload rollouts; nothing is served there yet."""

ELSEWHERE: Final = RESERVED_SLUGS - ROOT.keys() - INSIDE.keys() - {PLATFORM}


@dataclass(frozen=True, slots=True)
class Address:
    """``route`` is None if the path is ours but leads nowhere."""

    route: Route | None
    word: str = ""
    environment: str | None = None
    is_bare: bool = False


NOWHERE: Final = Address(None)


def find_address(path: str) -> Address | None:
    """What a decoded path asks for; None for a path of another surface.

    Doubled and trailing slashes do not count: a client whose base URL ends in a slash asks for
    ``//ping``.
    """
    match [step for step in path.split("/") if step]:
        case []:
            return None
        case [first, *_] if first.lower() in ELSEWHERE:
            return None
        case [file] if "." in file:
            return None  # like favicon.ico: no environment has a dot in its name
        case [word] if word in ROOT:
            return Address(ROOT[word], word)
        case [word] if word in INSIDE:
            return Address(INSIDE[word], word, is_bare=True)
        case [environment, word] if word in INSIDE and environment.lower() not in RESERVED_SLUGS:
            return Address(INSIDE[word], word, environment)
        case _:
            return NOWHERE
