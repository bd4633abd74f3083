"""Reading sessions. A harness asks with the text of its key, which is checked here as well.

The statements of a hot request are written by hand: the ORM would double the cost of the request.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import Any

from django.db import connection
from django.utils import timezone

from apps.accounts.models import ApiKey, Project
from apps.accounts.permissions import Actor, Right, rights_of_scopes
from apps.accounts.queries import digest_of
from apps.dialogue.blocks.json_values import text_fault
from apps.episodes.bodies import TextCache
from apps.episodes.clock import from_column, from_column_or_none
from apps.episodes.models import RunKind, Session, ToolRun
from apps.episodes.outcomes import finished_already
from apps.tasks.models import Revision

LIFE = timedelta(minutes=15)
"""How long a session lives without a sign of life."""


@dataclass(frozen=True, slots=True)
class HarnessActor:
    """A good key and its project."""

    actor: Actor
    key: ApiKey
    project: Project


@dataclass(frozen=True, slots=True)
class Episode:
    """A bound session as one request sees it; ``environment`` and ``project`` are slugs."""

    pk: int
    sid: str
    key: ApiKey
    project: str
    environment: str
    environment_id: int
    revision_id: int
    last_seen_at: datetime
    finished_at: datetime | None
    ended_at: datetime | None

    def is_over(self) -> bool:
        """True once it was ended, or nothing was heard of it for `LIFE`."""
        return self.ended_at is not None or timezone.now() - self.last_seen_at > LIFE


_KEY_COLUMNS = """
    k.id, k.name, k.scopes, k.expires_at, k.revoked_at, k.last_used_at, p.id, p.slug
"""
_KEY = f"""
    SELECT {_KEY_COLUMNS}
    FROM accounts_apikey k JOIN accounts_project p ON p.id = k.project_id
    WHERE k.digest = %s
"""  # noqa: S608 -- made of our own words alone
_EPISODE = f"""
    SELECT {_KEY_COLUMNS}, s.id, e.slug, s.environment_id, s.revision_id, s.last_seen_at,
           s.finished_at, s.ended_at
    FROM episodes_session s
    JOIN accounts_apikey k ON k.id = s.api_key_id
    JOIN accounts_project p ON p.id = s.project_id
    JOIN tasks_environment e ON e.id = s.environment_id
    WHERE s.sid = %s AND k.digest = %s
"""  # noqa: S608 -- made of our own words alone
_KEY_WIDTH = 8


def harness_actor(secret: str) -> HarnessActor | None:
    """Who asks with this key; None if it is unknown, revoked, expired or may not serve."""
    row = _one_row(_KEY, [digest_of(secret)])
    key = None if row is None else _serving_key(row)
    if key is None:
        return None
    return HarnessActor(actor=Actor(api_key=key), key=key, project=key.project)


def find_episode(secret: str, sid: str) -> Episode | None:
    """The session ``sid`` of the key whose text is ``secret``, ended or not.

    None if this key has bound no such session, and also if the key itself is not good (any more):
    `harness_actor` tells the two apart.
    """
    row = _one_row(_EPISODE, [sid, digest_of(secret)])
    key = None if row is None else _serving_key(row)
    if row is None or key is None:
        return None
    pk, environment, environment_id, revision_id, seen, finished, ended = row[_KEY_WIDTH:]
    return Episode(
        pk=pk,
        sid=sid,
        key=key,
        project=key.project.slug,
        environment=environment,
        environment_id=environment_id,
        revision_id=revision_id,
        last_seen_at=from_column(seen),
        finished_at=from_column_or_none(finished),
        ended_at=from_column_or_none(ended),
    )


def _one_row(statement: str, parameters: list[Any]) -> tuple[Any, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        found: tuple[Any, ...] | None = cursor.fetchone()
    return found


def _serving_key(row: tuple[Any, ...]) -> ApiKey | None:
    """The key in the first columns of ``row``; None unless it may serve harnesses now."""
    key = _key(row[:_KEY_WIDTH])
    if key.revoked_at is not None or Right.SERVE not in rights_of_scopes(key.scopes):
        return None
    if key.expires_at is not None and key.expires_at <= timezone.now():
        return None
    return key


@lru_cache(maxsize=1024)
def _key(columns: tuple[Any, ...]) -> ApiKey:
    """Kept by what was read: building the two rows takes longer than reading them."""
    pk, name, scopes, expires_at, revoked_at, last_used_at, project_id, slug = columns
    return ApiKey(
        pk=pk,
        name=name,
        scopes=json.loads(scopes),
        expires_at=from_column_or_none(expires_at),
        revoked_at=from_column_or_none(revoked_at),
        last_used_at=from_column_or_none(last_used_at),
        project=Project(pk=project_id, slug=slug),
    )


def _body(column: str, revision_id: int) -> str:
    return str(Revision.objects.values_list(column, flat=True).get(pk=revision_id))


_MESSAGES = TextCache(48 * 2**20, partial(_body, "messages_body"))
_PROMPTS = TextCache(48 * 2**20, partial(_body, "prompt_body"))
TEXT_CACHES = (_MESSAGES, _PROMPTS)


def messages_body(episode: Episode) -> bytes:
    """The body of ``/messages``, ready to send."""
    return _MESSAGES.get_bytes(episode.revision_id)


def prompt_body(episode: Episode) -> bytes:
    """The body of ``/prompt``, ready to send."""
    return _PROMPTS.get_bytes(episode.revision_id)


def find_call(episode: Episode, task_id: str) -> ToolRun | None:
    """The call of this session that was given ``task_id``; no other session's."""
    return _find_run(episode, task_id, RunKind.CALL)


def find_group(episode: Episode, task_id: str) -> ToolRun | None:
    """The same for a group of candidates."""
    return _find_run(episode, task_id, RunKind.SCORE_GROUP)


def _find_run(episode: Episode, task_id: str, kind: RunKind) -> ToolRun | None:
    if text_fault(task_id):
        return None
    return ToolRun.objects.filter(session_id=episode.pk, task_id=task_id, kind=kind).first()


@dataclass(frozen=True, slots=True)
class Result:
    """What a caller is told: ``output`` is ASCII JSON, empty if ``error`` says why it failed."""

    output: str
    error: str


def result_of(run: ToolRun) -> Result:
    """What a run that is ready came to, the same however often it is asked for.

    If another call ended the episode while this one took its time, that one counts.
    """
    waited = run.ready_at != run.settled_at
    if run.kind == RunKind.CALL and waited and not run.ends_episode:
        session = Session.objects.filter(pk=run.session_id, finished_at__lt=run.ready_at)
        if session.exists():
            return Result(output=finished_already(run.tool), error="")
    return Result(output=run.output, error=run.error)
