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
from apps.dialogue.blocks.json_values import text_fault
from apps.episodes.models import RunKind, Session, ToolRun
from apps.episodes.outcomes import finished_already
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
    """What a settled run that is ready comes to, the same however often it is asked for.

    If another call ended the episode while this one took its time, that one counts.
    """
    waited = run.ready_at != run.settled_at
    if run.kind == RunKind.CALL and waited and not run.ends_episode:
        session = Session.objects.filter(pk=run.session_id, finished_at__lt=run.ready_at)
        if session.exists():
            return Result(output=finished_already(run.tool), error="")
    return Result(output=run.output, error=run.error)
