"""Opening, binding and ending sessions, and the calls made in them.

Sessions leave no audit lines: their rows are the record of what harnesses did. The statements of
every episode are written by hand for the same reason as those of `queries`.
"""

import threading
import time
import uuid
from collections.abc import Sequence
from copy import copy
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from apps.accounts.actions import note_key_use
from apps.accounts.errors import Conflict, NotFound
from apps.accounts.models import ApiKey
from apps.accounts.permissions import Actor, Right, require
from apps.episodes import session_ids
from apps.episodes.clock import from_column_or_none, to_column
from apps.episodes.models import EndReason, RunKind, Session, ToolRun
from apps.episodes.outcomes import (
    Outcome,
    Stage,
    decide_call,
    decide_group,
    finished_already,
    written,
)
from apps.episodes.queries import LIFE, Episode
from apps.tasks.serving import ServedTask, served_environment

SEEN_EVERY = timedelta(minutes=1)
"""Signs of life closer together than this cost no write."""

LONGEST_TOOL_NAME = 200

_BIND = """
    INSERT INTO episodes_session
        (sid, api_key_id, project_id, environment_id, revision_id, created_at, last_seen_at,
         end_reason)
    VALUES (%s, %s, %s, %s, %s, %s, %s, '')
    ON CONFLICT (sid) DO NOTHING
"""
_SEEN = "UPDATE episodes_session SET last_seen_at = %s WHERE id = %s AND ended_at IS NULL"
_END = """
    UPDATE episodes_session SET ended_at = %s, end_reason = %s WHERE id = %s AND ended_at IS NULL
"""
_FINISHED_AT = "SELECT finished_at FROM episodes_session WHERE id = %s"
_LATEST = "SELECT MAX(ready_at) FROM episodes_toolrun WHERE session_id = %s AND ready_at > %s"
_LATEST_OF_TOOL = f"{_LATEST} AND tool = %s"
_RUN = """
    INSERT INTO episodes_toolrun
        (session_id, task_id, kind, tool, input, output, error, reward, ends_episode, settled_at,
         ready_at)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""
_FINISH = "UPDATE episodes_session SET finished_at = %s, reward = %s WHERE id = %s"


def _changed(statement: str, *parameters: Any) -> int:
    """Run a statement; how many rows it changed."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        changed: int = cursor.rowcount
    return changed


def _value(statement: str, *parameters: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchone()[0]


def open_session(*, actor: Actor) -> str:
    """A new session id for the asking key; nothing is written before it is bound."""
    return session_ids.issue(_key_of(actor).pk)


def _key_of(actor: Actor) -> ApiKey:
    if actor.api_key is None:
        raise NotFound("Sessions belong to API keys.", place="sid")
    return actor.api_key


def bind_session(*, actor: Actor, sid: str, task: ServedTask) -> None:
    """Start the episode: ``sid`` now plays the task's current revision, whatever comes later.

    Raises `NotFound` for another project's task or an id that was not opened by this key, `Gone`
    for one opened too long ago and `Conflict` for one that is bound already.
    """
    key = _key_of(actor)
    require(actor, key.project, Right.SERVE)
    if task.project_id != key.project_id:
        raise NotFound("There is no such task for this key.", place="task")
    session_ids.check(sid, key.pk)
    now = to_column(timezone.now())
    bound = _changed(
        _BIND, sid, key.pk, task.project_id, task.environment_id, task.revision_id, now, now
    )
    if not bound:
        raise Conflict("This session has been created already.", place="sid")
    if _SWEEPS.is_due():
        end_silent_sessions()


def note_life(*, episode: Episode) -> None:
    """Remember that the session and its key are in use: one write a minute at most."""
    now = timezone.now()
    if now - episode.last_seen_at > SEEN_EVERY:
        _changed(_SEEN, to_column(now), episode.pk)
        note_key(key=episode.key)


def note_key(*, key: ApiKey) -> None:
    """Remember that the key is in use; the row given, which many requests share, stays as it is."""
    note_key_use(key=copy(key))


def end_session(*, episode: Episode) -> None:
    """End the session; ended twice it stays ended as it was."""
    if episode.ended_at is None:
        _changed(_END, to_column(timezone.now()), EndReason.DELETED.value, episode.pk)


def end_silent_session(*, episode: Episode) -> None:
    """End a session that was found without a sign of life for too long."""
    if episode.ended_at is None:
        _changed(_END, to_column(timezone.now()), EndReason.EXPIRED.value, episode.pk)


def end_silent_sessions() -> int:
    """End every session without a sign of life for `LIFE`; how many there were.

    Such a session answers as ended anyway; this writes it down for those who read the rows.
    """
    now = timezone.now()
    silent = Session.objects.filter(ended_at__isnull=True, last_seen_at__lt=now - LIFE)
    return silent.update(ended_at=now, end_reason=EndReason.EXPIRED)


class NowAndThen:
    """Due at most once in ``seconds`` in this process."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._next = 0.0
        self._lock = threading.Lock()

    def is_due(self) -> bool:
        with self._lock:
            now = time.monotonic()
            if now < self._next:
                return False
            self._next = now + self.seconds
            return True


_SWEEPS = NowAndThen(60.0)


def run_call(*, episode: Episode, tool: str, given: dict[str, Any]) -> ToolRun:
    """Run a tool: decide what the call comes to and write it down, before anything is said of it.

    Whatever happens to the process or the connection afterwards, the call is found again by its
    ``task_id`` and says the same.
    """
    outcome = decide_call(tool, given, _stage(episode))
    # A name that no tool can have is cut to what a column holds.
    name = tool.replace("\x00", "\N{REPLACEMENT CHARACTER}")[:LONGEST_TOOL_NAME]
    return _settle(episode, RunKind.CALL, name, given, outcome)


def run_group(*, episode: Episode, answers: Sequence[str | None]) -> ToolRun:
    """Grade the closing texts of a group; None is a candidate without one."""
    outcome = decide_group(answers, _stage(episode))
    return _settle(episode, RunKind.SCORE_GROUP, "", answers, outcome)


def _stage(episode: Episode) -> Stage:
    return Stage(served_environment(episode.environment_id), episode.revision_id)


def _settle(episode: Episode, kind: RunKind, tool: str, given: object, outcome: Outcome) -> ToolRun:
    run = ToolRun(
        session_id=episode.pk,
        task_id=uuid.uuid4().hex,
        kind=kind.value,
        tool=tool,
        input=written(given),
    )
    with transaction.atomic():
        finished_at = _lock(episode)
        if finished_at and kind == RunKind.CALL and outcome.is_known:
            outcome = Outcome(output=finished_already(tool))
        run.output, run.error, run.reward = outcome.output, outcome.error, outcome.reward
        run.ends_episode = outcome.ends_episode
        run.settled_at = timezone.now()
        run.ready_at = run.settled_at
        if kind == RunKind.CALL:
            start = _free_at(run, exclusive=outcome.exclusive)
            run.ready_at = start + timedelta(milliseconds=outcome.delay_ms)
        _insert(run)
        if run.ends_episode:
            _changed(_FINISH, to_column(run.ready_at), run.reward, episode.pk)
    return run


def _lock(episode: Episode) -> datetime | None:
    """Keep other calls of the session out for this transaction; when its episode finished.

    SQLite needs no row lock: a transaction that writes is alone from its beginning.
    """
    suffix = " FOR UPDATE" if connection.features.has_select_for_update else ""
    return from_column_or_none(_value(_FINISHED_AT + suffix, episode.pk))


def _free_at(run: ToolRun, *, exclusive: bool) -> datetime:
    """When the tool is free: its calls run one at a time, an exclusive one runs alone."""
    now = to_column(run.settled_at)
    if exclusive:
        latest = _value(_LATEST, run.session_id, now)
    else:
        latest = _value(_LATEST_OF_TOOL, run.session_id, now, run.tool)
    return from_column_or_none(latest) or run.settled_at


def _insert(run: ToolRun) -> None:
    _changed(
        _RUN,
        run.session_id,
        run.task_id,
        run.kind,
        run.tool,
        run.input,
        run.output,
        run.error,
        run.reward,
        run.ends_episode,
        to_column(run.settled_at),
        to_column(run.ready_at),
    )
