"""A session from its opening to its end."""

from django.http import HttpResponse
from django.http.response import HttpResponseBase

from apps.accounts.errors import NotFound
from apps.episodes.actions import bind_session, end_session, open_session
from apps.harness.answers import json_answer
from apps.harness.bodies import Create, read_body
from apps.harness.errors import BadRequest, WrongShape
from apps.harness.streams import event, stream
from apps.harness.views.discovery import from_the_front, no_such_index
from apps.harness.visit import Visit
from apps.tasks.serving import ServedTask, served_split, served_task_at, served_task_by_key


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
    task = _find_task(visit, wanted)
    if wanted.toolset_name is not None:
        raise BadRequest("This server has no toolsets: an environment brings its own tools.")
    bind_session(actor=actor, sid=sid, task=task)
    return json_answer({"sid": sid})


def _find_task(visit: Visit, wanted: Create) -> ServedTask:
    """The stored task that is asked for; whatever else a client put into its spec is ignored."""
    by_index = wanted.split is not None and wanted.index is not None
    has_half = (wanted.split is None) != (wanted.index is None)
    if has_half or by_index == (wanted.task_spec is not None):
        raise WrongShape("Give either task_spec, or split and index.")
    split = served_split(
        visit.harness.actor,
        visit.harness.project,
        visit.environment_name(wanted.env_name),
        wanted.split or "",
    )
    if wanted.task_spec is not None:
        key = wanted.task_spec.get("id")
        task = served_task_by_key(split, key) if isinstance(key, str) else None
        if task is None:
            raise NotFound("task_spec.id is no task that is served here.", place="task_spec.id")
        return task
    if split.pk is None:
        raise BadRequest(f"There is no split {(wanted.split or '')[:64]!a}.")
    task = served_task_at(split, from_the_front(wanted.index or 0, split.ready_count))
    if task is None:
        raise no_such_index(split.ready_count)
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
