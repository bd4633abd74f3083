"""One request of a harness: who asks, for which environment, in which session.

Each answer is looked up when it is first asked for. A hot request asks for its session alone, which
is one read; only where that finds nothing is the key looked at by itself.
"""

import base64
import binascii
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.http import HttpRequest
from django.utils.functional import cached_property

from apps.accounts.errors import Gone, NotFound
from apps.accounts.permissions import Right
from apps.episodes.actions import end_silent_session, note_key, note_life
from apps.episodes.queries import Episode, HarnessActor, find_episode, harness_actor
from apps.harness.errors import BadRequest, NotAuthenticated
from apps.tasks.queries import default_environment, get_environment

if TYPE_CHECKING:
    from apps.tasks.models import Environment

LONGEST_KEY = 512
SID = re.compile(r"[A-Za-z0-9_-]{1,128}")
NO_KEY = "Send an API key in X-API-Key, or as Authorization: Bearer."
BAD_KEY = "This API key is unknown, revoked or expired, or may not serve harnesses."


@dataclass(frozen=True, slots=True)
class Deployment:
    """What ``X-Deployment`` names: the client's ``environments.get("project/environment")``."""

    project: str
    environment: str


class Visit:
    """``named`` is the environment in the path, if there is one."""

    def __init__(self, request: HttpRequest, named: str | None) -> None:
        self.request = request
        self.named = named

    def _header(self, name: str) -> str:
        return str(self.request.META.get(f"HTTP_{name}", "")).strip()

    @cached_property
    def secret(self) -> str:
        """The text of the key; `NotAuthenticated` without one."""
        given = self._header("X_API_KEY")
        if not given:
            scheme, _, rest = self._header("AUTHORIZATION").partition(" ")
            given = rest.strip() if scheme.lower() == "bearer" else ""
        if not given:
            raise NotAuthenticated(NO_KEY)
        if len(given) > LONGEST_KEY:
            raise NotAuthenticated(BAD_KEY)
        return given

    @cached_property
    def harness(self) -> HarnessActor:
        """The key that asks and its project."""
        found = harness_actor(self.secret)
        if found is None:
            raise NotAuthenticated(BAD_KEY)
        note_key(key=found.key)
        return found

    @cached_property
    def deployment(self) -> Deployment | None:
        """None without the header; a header that says nothing is refused like a wrong one."""
        if "HTTP_X_DEPLOYMENT" not in self.request.META:
            return None
        project, _, environment = self._header("X_DEPLOYMENT").partition("/")
        if not (project and environment) or "/" in environment:
            raise BadRequest("X-Deployment is project/environment.")
        return Deployment(project, environment)

    @cached_property
    def environment(self) -> "Environment":
        """The environment of the path, else of ``X-Deployment``, else the project's default one."""
        actor, project = self.harness.actor, self.harness.project
        name = self.environment_name(self.named)
        if name is None:
            return default_environment(actor, project)
        return get_environment(actor, project, name, Right.SERVE)

    def environment_name(self, named: str | None) -> str | None:
        """The environment to look for in the key's project; None: the default one."""
        self._check_project(self.harness.project.slug)
        if named is not None:
            return named
        return self.deployment.environment if self.deployment else None

    def _check_project(self, slug: str) -> None:
        if self.deployment and self.deployment.project.lower() != slug:
            raise NotFound("There is no such project for this key.", place="project")

    @property
    def sid(self) -> str:
        """The session's id, whatever it may turn out to be; the key comes first."""
        given = self._header("X_SESSION_ID")
        if not given:
            _ = self.harness
            raise BadRequest("The header X-Session-ID is missing.")
        return given if SID.fullmatch(given) else ""

    def find_episode(self) -> Episode | None:
        """The session of this key that the request names, ended or not."""
        secret, sid = self.secret, self.sid
        episode = find_episode(secret, sid) if sid else None
        if episode is None:
            _ = self.harness
        return episode

    @cached_property
    def episode(self) -> Episode:
        """The living session that the request names; asking is a sign of life."""
        episode = self.find_episode()
        if episode is None:
            raise NotFound("There is no such session; create it first.", place="sid")
        if episode.is_over():
            end_silent_session(episode=episode)
            raise Gone("This session has ended.", place="sid")
        note_life(episode=episode)
        return episode

    @cached_property
    def episode_here(self) -> Episode:
        """The same for an address inside of an environment, which has to be the session's."""
        episode = self.episode
        self._check_project(episode.project)
        named = self.named or (self.deployment.environment if self.deployment else "")
        if named.lower() != episode.environment:
            # Not 404: the client would take that for an old server and ask somewhere else.
            raise BadRequest(f"This session plays {episode.environment!r}.")
        return episode

    def check_secrets(self) -> None:
        """Refuse a malformed ``X-Secrets``; nothing here needs one, so nothing keeps it."""
        given = self._header("X_SECRETS")
        if not given:
            return
        try:
            held = json.loads(base64.b64decode(given, validate=True))
            readable = all(isinstance(each["value"], str) for each in held.values())
        except (binascii.Error, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            readable = False
        if not readable:
            raise BadRequest("X-Secrets is not base64 of an object of {name: {value}}.")
