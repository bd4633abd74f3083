"""Tasks and their revisions. A save names the revision it started from; a stale one gets 409."""

import json
from typing import TYPE_CHECKING, Any

from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.errors import Conflict, NotFound
from apps.accounts.permissions import Actor, Right
from apps.accounts.queries import get_project
from apps.api.authentication import actor_of
from apps.api.bodies import tasks as bodies
from apps.api.pagination import Order, PageQuery, cut
from apps.api.parsing import NoQuery, named_in_body, read_body, read_query
from apps.api.resource import Resource
from apps.api.schema import operation
from apps.tasks import actions, queries
from apps.tasks.content import load_content, ready_problems

if TYPE_CHECKING:
    from apps.tasks.models import Environment, Revision, Task

TASKS = "tasks"
REVISIONS = "revisions"


def task_answer(row: "Task") -> bodies.Task:
    return bodies.Task.model_validate(_columns(row))


def task_detail(row: "Task") -> bodies.TaskDetail:
    """A task with its current content, and what keeps it from being served."""
    current = row.current
    if current is None:
        raise NotFound(f"Task {row.key!r} has no content.", place="task")
    shown = revision_detail(current)
    return bodies.TaskDetail.model_validate(
        {
            **_columns(row),
            "revision": shown.number,
            "content": shown.content,
            "grader": shown.grader,
            "scripted": shown.scripted,
            "unready": [
                {"place": each.place, "message": each.message}
                for each in ready_problems(load_content(current.content))
            ],
        }
    )


def _columns(row: "Task") -> dict[str, Any]:
    return {
        "id": row.pk,
        "key": row.key,
        "split": row.split.name,
        "position": row.position,
        "status": row.status,
        "summary": row.summary,
        "turns": row.turns,
        "tags": row.tags,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "updated_by": row.updated_by,
    }


def revision_detail(row: "Revision") -> bodies.RevisionDetail:
    return bodies.RevisionDetail(
        **bodies.Revision.model_validate(row).model_dump(),
        content=json.loads(row.content),
        grader=json.loads(row.grader) if row.grader else None,
        scripted=json.loads(row.scripted) if row.scripted else None,
    )


def _environment(
    actor: Actor, project: str, environment: str, right: Right = Right.VIEW
) -> "Environment":
    return queries.get_environment(actor, get_project(actor, project, right), environment)


def _task(
    actor: Actor, project: str, environment: str, task: int, right: Right = Right.VIEW
) -> "Task":
    return queries.get_task(actor, _environment(actor, project, environment, right), task)


def _with_current(refusal: Conflict) -> Conflict:
    """The conflict, showing the revision that is current now as the API shows revisions."""
    current = refusal.current
    shown = None if current is None else revision_detail(current)
    return Conflict(refusal.message, place=refusal.place, current=shown)


def _saved(revision: "Revision", base: int) -> Response:
    """201 for a revision that was made over ``base``, 200 if it is still ``base``."""
    return Response(revision_detail(revision), status=200 if revision.number == base else 201)


class TasksView(Resource):
    @operation(
        "list_tasks",
        "Tasks by position",
        tag=TASKS,
        query=bodies.TasksQuery,
        answer=bodies.TaskPage,
    )
    def get(self, request: Request, project: str, environment: str) -> Response:
        """Without ``status`` all but the archived; ``search`` finds tasks that hold all words."""
        actor = actor_of(request)
        where = _environment(actor, project, environment)
        query = read_query(request, bodies.TasksQuery)
        if query.key is not None:
            return Response(_with_key(actor, where, query.key))
        page = queries.list_tasks(
            actor,
            where,
            split=query.split,
            status=query.status,
            search=query.search,
            after=query.after,
            limit=query.limit,
        )
        items = [task_answer(row) for row in page.rows]
        return Response(bodies.TaskPage(items=items, next=page.next))

    @operation(
        "create_task",
        "Write a task at the end of the list",
        tag=TASKS,
        body=bodies.NewTask,
        answer=bodies.TaskDetail,
        status=201,
    )
    def post(self, request: Request, project: str, environment: str) -> Response:
        """A draft may be incomplete; ``status: ready`` checks everything first."""
        actor = actor_of(request)
        where = _environment(actor, project, environment, Right.AUTHOR)
        body = read_body(request, bodies.NewTask)
        with named_in_body():
            row = actions.create_task(
                actor=actor,
                environment=where,
                split=body.split,
                key=body.key,
                content=body.content,
                status=body.status,
                message=body.message,
                grader=body.grader,
                scripted=body.scripted,
            )
        return Response(task_detail(row), status=201)


def _with_key(actor: Actor, environment: "Environment", key: str) -> bodies.TaskPage:
    try:
        row = queries.get_task_by_key(actor, environment, key)
    except NotFound:
        return bodies.TaskPage(items=[], next=None)
    return bodies.TaskPage(items=[task_answer(row)], next=None)


class TaskView(Resource):
    @operation("read_task", "One task with its content", tag=TASKS, answer=bodies.TaskDetail)
    def get(self, request: Request, project: str, environment: str, task: int) -> Response:
        read_query(request, NoQuery)
        return Response(task_detail(_task(actor_of(request), project, environment, task)))

    @operation(
        "change_task",
        "Rename, move, make ready, archive",
        tag=TASKS,
        body=bodies.TaskChange,
        answer=bodies.TaskDetail,
    )
    def patch(self, request: Request, project: str, environment: str, task: int) -> Response:
        """What a task says is not changed here but saved as a revision."""
        actor = actor_of(request)
        row = _task(actor, project, environment, task, Right.AUTHOR)
        body = read_body(request, bodies.TaskChange)
        with named_in_body(), transaction.atomic():
            if body.key is not None:
                actions.rename_task(actor=actor, task=row, key=body.key)
            if body.split is not None:
                actions.move_task(actor=actor, task=row, split=body.split)
            if body.status is not None:
                actions.set_status(actor=actor, task=row, status=body.status)
        return Response(task_detail(_task(actor, project, environment, task)))


class RevisionsView(Resource):
    @operation(
        "list_revisions",
        "A task's history, newest first",
        tag=REVISIONS,
        query=PageQuery,
        answer=bodies.RevisionPage,
    )
    def get(self, request: Request, project: str, environment: str, task: int) -> Response:
        actor = actor_of(request)
        rows = queries.revisions(actor, _task(actor, project, environment, task))
        page = cut(rows, read_query(request, PageQuery), Order("number", descending=True))
        items = [bodies.Revision.model_validate(row) for row in page.rows]
        return Response(bodies.RevisionPage(items=items, next=page.next))

    @operation(
        "save_revision",
        "Save a task's content",
        tag=REVISIONS,
        body=bodies.NewRevision,
        answer=bodies.RevisionDetail,
        status=(200, 201),
    )
    def post(self, request: Request, project: str, environment: str, task: int) -> Response:
        """If ``base`` is no longer current: 409, whose ``current`` is the revision that is.

        Content equal to the current one makes no new revision: the answer is 200 with that one.
        """
        actor = actor_of(request)
        row = _task(actor, project, environment, task, Right.AUTHOR)
        body = read_body(request, bodies.NewRevision)
        try:
            saved = actions.save_revision(
                actor=actor,
                task=row,
                base=body.base,
                content=body.content,
                message=body.message,
                status=body.status,
                grader=body.grader,
                scripted=body.scripted,
            )
        except Conflict as refusal:
            raise _with_current(refusal) from None
        return _saved(saved, body.base)


class RevisionView(Resource):
    @operation(
        "read_revision",
        "One revision with its content",
        tag=REVISIONS,
        answer=bodies.RevisionDetail,
    )
    def get(
        self, request: Request, project: str, environment: str, task: int, number: int
    ) -> Response:
        read_query(request, NoQuery)
        actor = actor_of(request)
        row = _task(actor, project, environment, task)
        return Response(revision_detail(queries.get_revision(actor, row, number)))


class RestoreView(Resource):
    @operation(
        "restore_revision",
        "Make an earlier content current again",
        tag=REVISIONS,
        body=bodies.Restore,
        answer=bodies.RevisionDetail,
        status=(200, 201),
    )
    def post(
        self, request: Request, project: str, environment: str, task: int, number: int
    ) -> Response:
        """As a new revision: the history only grows. 200 if it is the current content already."""
        actor = actor_of(request)
        row = _task(actor, project, environment, task, Right.AUTHOR)
        body = read_body(request, bodies.Restore)
        try:
            saved = actions.restore_revision(actor=actor, task=row, number=number, base=body.base)
        except Conflict as refusal:
            raise _with_current(refusal) from None
        return _saved(saved, body.base)
