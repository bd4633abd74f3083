"""A session from its opening to its end."""

from typing import TYPE_CHECKING

from django.http import HttpResponse
from django.http.response import HttpResponseBase

from apps.accounts.errors import NotFound
from apps.episodes.actions import bind_session, end_session, open_session
from apps.harness.answers import json_answer
from apps.harness.bodies import Create, read_body
from apps.harness.errors import BadRequest, WrongShape
from apps.harness.streams import event, stream
from apps.harness.views.discovery import find_split, from_the_front
from apps.harness.visit import Visit
from apps.tasks.queries import ready_task_at, ready_task_by_key

if TYPE_CHECKING:
    from apps.tasks.models import Environment, Task


def create_session(visit: Visit) -> HttpResponseBase:
    """Hand out an id, as a stream. The body is not read: clients put there what they like."""
    visit.check_secrets()
    sid = open_session(actor=visit.harness.actor)
    return stream([event("task_id", sid), event("end", "")])


def create(visit: Visit) -> HttpResponse:
    """Bind the id to a task; a refusal leaves it as free as it was."""
    actor, sid = visit.harness.actor, visit.sid
    visit.check_secrets()
    wanted = read_body(visit.request, Create)
    environment = visit.environment_named(wanted.env_name)
    if wanted.toolset_name is not None:
        raise BadRequest("This server has no toolsets: an environment brings its own tools.")
    task = _task(visit, environment, wanted)
    bind_session(actor=actor, sid=sid, environment=environment, task=task)
    return json_answer({"sid": sid})


def _task(visit: Visit, environment: "Environment", wanted: Create) -> "Task":
    """The stored task that is asked for; whatever else a client put into its spec is ignored."""
    actor = visit.harness.actor
    by_index = wanted.split is not None and wanted.index is not None
    if by_index == (wanted.task_spec is not None) or (wanted.split is None) != (
        wanted.index is None
    ):
        raise WrongShape("Give either task_spec, or split and index.")
    if wanted.task_spec is not None:
        key = wanted.task_spec.get("id")
        task = ready_task_by_key(actor, environment, key) if isinstance(key, str) else None
        if task is None:
            raise NotFound("task_spec.id is no task that is served here.", place="task_spec.id")
        return task
    split = find_split(visit, environment, wanted.split or "")
    place = from_the_front(wanted.index or 0, split)
    task = ready_task_at(actor, environment, split, place)
    if task is None:
        raise BadRequest(f"The split {split.name!r} has no task at {wanted.index}.")
    return task


def ping(visit: Visit) -> HttpResponse:
    _ = visit.episode
    return json_answer({"status": "ok"})


def delete(visit: Visit) -> HttpResponse:
    """End the session. Deleted twice, or never created, it is gone all the same."""
    episode = visit.find_episode()
    if episode is not None:
        end_session(episode=episode)
    return json_answer({"sid": visit.sid})
