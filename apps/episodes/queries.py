"""Reading sessions. A harness asks with the text of its key, which is checked here as well."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from apps.accounts.models import ApiKey, Project
from apps.accounts.permissions import Actor, Right, rights_of_scopes
from apps.accounts.queries import digest_of, key_for
from apps.episodes.models import Session, ToolRun
from apps.tasks.models import Environment, Revision

LIFE = timedelta(minutes=15)
"""How long a session lives without a sign of life."""


@dataclass(frozen=True, slots=True)
class Episode:
    """A bound session as one request sees it; ``environment`` and ``project`` are slugs."""

    pk: int
    sid: str
    actor: Actor
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


# The only read of a hot request, so it goes around the ORM, which would double its cost.
_EPISODE = """
    SELECT s.id, p.id, p.slug, e.slug, s.environment_id, s.revision_id, s.last_seen_at,
           s.finished_at, s.ended_at, k.id, k.name, k.scopes, k.expires_at, k.revoked_at,
           k.last_used_at
    FROM episodes_session s
    JOIN accounts_apikey k ON k.id = s.api_key_id
    JOIN accounts_project p ON p.id = s.project_id
    JOIN tasks_environment e ON e.id = s.environment_id
    WHERE s.sid = %s AND k.digest = %s
"""


def find_episode(secret: str, sid: str) -> Episode | None:
    """The session ``sid`` of the key whose text is ``secret``, ended or not.

    None if this key has bound no such session, and also if the key itself is not good (any more):
    `harness_actor` tells the two apart.
    """
    with connection.cursor() as cursor:
        cursor.execute(_EPISODE, [sid, digest_of(secret)])
        row = cursor.fetchone()
    if row is None:
        return None
    key = ApiKey(
        pk=row[9],
        name=row[10],
        project_id=row[1],
        scopes=json.loads(row[11]) if isinstance(row[11], str) else row[11],
        expires_at=_moment_or_none(row[12]),
        revoked_at=_moment_or_none(row[13]),
        last_used_at=_moment_or_none(row[14]),
    )
    if not _may_serve(key):
        return None
    return Episode(
        pk=row[0],
        sid=sid,
        actor=Actor(api_key=key),
        project=row[2],
        environment=row[3],
        environment_id=row[4],
        revision_id=row[5],
        last_seen_at=_moment(row[6]),
        finished_at=_moment_or_none(row[7]),
        ended_at=_moment_or_none(row[8]),
    )


def _may_serve(key: ApiKey) -> bool:
    if key.revoked_at is not None:
        return False
    if key.expires_at is not None and key.expires_at <= timezone.now():
        return False
    return Right.SERVE in rights_of_scopes(key.scopes)


def _moment(value: Any) -> datetime:
    """A column's moment: SQLite hands out text or a naive one, PostgreSQL an aware one."""
    read: datetime = datetime.fromisoformat(value) if isinstance(value, str) else value
    return read if read.tzinfo is not None else read.replace(tzinfo=UTC)


def _moment_or_none(value: Any) -> datetime | None:
    return None if value is None else _moment(value)


@dataclass(frozen=True, slots=True)
class HarnessActor:
    """A good key and its project."""

    actor: Actor
    key: ApiKey
    project: Project


def harness_actor(secret: str) -> HarnessActor | None:
    """Who asks with this key; None if it is unknown, revoked, expired or may not serve."""
    key = key_for(secret)
    if key is None or not _may_serve(key):
        return None
    return HarnessActor(actor=Actor(api_key=key), key=key, project=key.project)


def messages_body(episode: Episode) -> str:
    """The body of ``/messages``, ready to send."""
    return _body(episode, "messages_body")


def prompt_body(episode: Episode) -> str:
    """The body of ``/prompt``, ready to send."""
    return _body(episode, "prompt_body")


def _body(episode: Episode, column: str) -> str:
    return str(Revision.objects.values_list(column, flat=True).get(pk=episode.revision_id))


def environment_of(episode: Episode) -> Environment:
    return Environment.objects.select_related("project").get(pk=episode.environment_id)


def find_run(episode: Episode, task_id: str, kind: str) -> ToolRun | None:
    """The call of this session that was given ``task_id``; no other session's."""
    return ToolRun.objects.filter(session_id=episode.pk, task_id=task_id, kind=kind).first()


def finished_before(run: ToolRun) -> bool:
    """True if the episode was ended by another call while ``run`` took its time."""
    if run.ready_at is None or run.ready_at == run.settled_at or run.ends_episode:
        return False
    return Session.objects.filter(pk=run.session_id, finished_at__lt=run.ready_at).exists()
