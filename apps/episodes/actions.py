"""Opening, binding and ending sessions, and settling the calls made in them.

Sessions leave no audit lines: their rows are the record of what harnesses did.
"""

import uuid
from datetime import datetime, timedelta

from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from apps.accounts.actions import note_key_use
from apps.accounts.errors import Conflict, Invalid, NotFound
from apps.accounts.models import ApiKey
from apps.accounts.permissions import Actor, Right, require
from apps.episodes import session_ids
from apps.episodes.models import EndReason, RunKind, Session, ToolRun
from apps.episodes.outcomes import Outcome, Stage, decide, finished_already, written
from apps.episodes.queries import LIFE, Episode
from apps.tasks.models import Environment, Task, TaskStatus

SEEN_EVERY = timedelta(minutes=1)
"""Signs of life closer together than this cost no write."""

LONGEST_TOOL_NAME = 200


def open_session(*, actor: Actor) -> str:
    """A new session id for the asking key; nothing is written before it is bound."""
    return session_ids.issue(_key_of(actor).pk)


def _key_of(actor: Actor) -> ApiKey:
    if actor.api_key is None:
        raise NotFound("Sessions belong to API keys.", place="sid")
    return actor.api_key


@transaction.atomic
def bind_session(*, actor: Actor, sid: str, environment: Environment, task: Task) -> Session:
    """Start the episode: ``sid`` now plays the task's current revision, whatever comes later.

    Raises `NotFound` for an id that was not opened by this key, `Gone` for one opened too long ago,
    `Conflict` for one that is bound already and `Invalid` for a task that is not served.
    """
    require(actor, environment.project, Right.SERVE)
    key = _key_of(actor)
    session_ids.check(sid, key.pk)
    if task.environment_id != environment.pk or task.status != TaskStatus.READY:
        raise Invalid(f"The task {task.key!r} is not served.", place="task")
    if task.current_id is None:
        raise Invalid(f"The task {task.key!r} has no content.", place="task")
    try:
        with transaction.atomic():
            session = Session.objects.create(
                sid=sid,
                api_key=key,
                project_id=environment.project_id,
                environment=environment,
                revision_id=task.current_id,
            )
    except IntegrityError:
        raise Conflict("This session has been created already.", place="sid") from None
    note_key_use(key=key)
    if cache.add("episodes.silent-sessions-ended", True, SEEN_EVERY.total_seconds()):
        end_silent_sessions()
    return session


def note_life(*, episode: Episode) -> None:
    """Remember that the session and its key are in use: one write a minute at most."""
    now = timezone.now()
    if now - episode.last_seen_at > SEEN_EVERY:
        Session.objects.filter(pk=episode.pk, ended_at__isnull=True).update(last_seen_at=now)
        note_key_use(key=_key_of(episode.actor))


def end_session(*, episode: Episode) -> None:
    """End the session; ended twice it stays ended as it was."""
    if episode.ended_at is None:
        Session.objects.filter(pk=episode.pk, ended_at__isnull=True).update(
            ended_at=timezone.now(), end_reason=EndReason.DELETED
        )


def end_silent_session(*, episode: Episode) -> None:
    """End a session that was found without a sign of life for too long."""
    if episode.ended_at is None:
        Session.objects.filter(pk=episode.pk, ended_at__isnull=True).update(
            ended_at=timezone.now(), end_reason=EndReason.EXPIRED
        )


def end_silent_sessions() -> int:
    """End every session without a sign of life for `LIFE`; how many there were.

    Such a session answers as ended anyway; this writes it down for those who read the rows.
    """
    now = timezone.now()
    silent = Session.objects.filter(ended_at__isnull=True, last_seen_at__lt=now - LIFE)
    return silent.update(ended_at=now, end_reason=EndReason.EXPIRED)


def start_call(*, episode: Episode, tool: str, given: dict[str, object]) -> ToolRun:
    """Remember a call before anything is said of it, so that it can be resumed from here on."""
    name = tool.replace("\x00", "\N{REPLACEMENT CHARACTER}")[:LONGEST_TOOL_NAME]
    return _start(episode, RunKind.CALL, tool=name, given=given)


def start_group(*, episode: Episode, answers: list[str | None]) -> ToolRun:
    """Remember a group whose closing texts are to be graded; None: a candidate without one."""
    return _start(episode, RunKind.SCORE_GROUP, tool="", given=answers)


def _start(episode: Episode, kind: RunKind, *, tool: str, given: object) -> ToolRun:
    return ToolRun.objects.create(
        session_id=episode.pk,
        task_id=uuid.uuid4().hex,
        kind=kind,
        tool=tool,
        input=written(given),
    )


def settle(*, episode: Episode, run: ToolRun) -> ToolRun:
    """Decide what ``run`` comes to and when, once; whoever asks again gets the same.

    Any process may settle a run that another one left behind: deciding has no side effects, and
    the first to write wins.
    """
    if run.settled_at is None:
        outcome = decide(run, Stage(episode.environment_id, episode.revision_id))
        run = _write_outcome(run.pk, episode.pk, outcome)
    return run


@transaction.atomic
def _write_outcome(run_pk: int, session_pk: int, outcome: Outcome) -> ToolRun:
    session = Session.objects.select_for_update().get(pk=session_pk)
    run = ToolRun.objects.get(pk=run_pk)
    if run.settled_at is not None:
        return run
    if run.kind == RunKind.CALL and session.finished_at and outcome.is_known:
        outcome = Outcome(output=finished_already(run.tool))
    run.output, run.error, run.reward = outcome.output, outcome.error, outcome.reward
    run.ends_episode = outcome.ends_episode
    run.settled_at = timezone.now()
    run.ready_at = _start_of(run, run.settled_at, outcome) + timedelta(
        milliseconds=outcome.delay_ms
    )
    run.save()
    if run.ends_episode:
        session.finished_at, session.reward = run.ready_at, run.reward
        session.save(update_fields=["finished_at", "reward"])
    return run


def _start_of(run: ToolRun, now: datetime, outcome: Outcome) -> datetime:
    """When the tool is free: its calls run one at a time, an exclusive one runs alone."""
    ahead = ToolRun.objects.filter(session=run.session_id, ready_at__gt=now, kind=run.kind)
    if not outcome.exclusive:
        ahead = ahead.filter(tool=run.tool)
    latest: datetime | None = ahead.aggregate(latest=Max("ready_at"))["latest"]
    return latest or now
