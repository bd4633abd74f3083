"""Solvers, runs, samples."""

from typing import TYPE_CHECKING

from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.permissions import Actor, Right
from apps.accounts.queries import get_project
from apps.api.authentication import actor_of
from apps.api.bodies import runs as bodies
from apps.api.pagination import Order, PageQuery, cut
from apps.api.parsing import NoBody, NoQuery, named_in_body, read_body, read_query
from apps.api.resource import Resource
from apps.api.schema import operation
from apps.runs import actions, queries
from apps.tasks.queries import get_environment, get_split

if TYPE_CHECKING:
    from apps.runs.models import Run, Sample

TAG = "runs"
PLACES = {"evaluated": "model", "spec": "solver"}
"""What the room calls otherwise than a launch's body does."""


def run_answer(row: "Run") -> bodies.Run:
    """A run with its counters, which its writers keep."""
    return bodies.Run.model_validate(
        {
            "number": row.number,
            "name": row.name,
            "state": row.state,
            "error": row.error,
            "environment": row.environment.slug,
            "split": row.split.name if row.split else None,
            "solver": row.spec.key,
            "solver_version": row.spec.version,
            "model": row.evaluated.key,
            "config": row.config,
            "trials": row.trials,
            "limit": row.sample_limit,
            "concurrency": row.concurrency,
            "author": row.author,
            "samples_total": row.samples_total,
            "samples_done": row.samples_done,
            "samples_scored": row.samples_scored,
            "calls": row.calls,
            "calls_unknown": row.calls_unknown,
            "input_tokens": row.input_tokens,
            "output_tokens": row.output_tokens,
            "cost": row.cost,
            "ended": row.ended,
            "metrics": row.metrics,
            "created_at": row.created_at,
            "started_at": row.started_at,
            "finished_at": row.finished_at,
        }
    )


def sample_answer(row: "Sample") -> bodies.Sample:
    task = row.revision.task
    trace = row.trace
    return bodies.Sample.model_validate(
        {
            "position": row.position,
            "trial": row.trial,
            "state": row.state,
            "ended": row.ended,
            "task_id": task.pk,
            "task_key": task.key,
            "revision": row.revision.number,
            "answer": trace.answer if trace else None,
            "trace": trace.pk if trace else None,
            "scores": list(trace.scores.all()) if trace else [],
            "finished_at": row.finished_at,
        }
    )


def _run(actor: Actor, project: str, number: int, right: Right = Right.VIEW) -> "Run":
    return queries.get_run(actor, get_project(actor, project, right), number)


class RunsView(Resource):
    @operation("list_runs", "Runs, newest first", tag=TAG, query=PageQuery, answer=bodies.RunPage)
    def get(self, request: Request, project: str) -> Response:
        actor = actor_of(request)
        rows = queries.runs(actor, get_project(actor, project))
        page = cut(rows, read_query(request, PageQuery), Order("number", descending=True))
        return Response(
            bodies.RunPage(items=[run_answer(row) for row in page.rows], next=page.next)
        )

    @operation(
        "launch_run",
        "Play a solver over tasks, in the background",
        tag=TAG,
        body=bodies.NewRun,
        answer=bodies.Run,
        status=201,
    )
    def post(self, request: Request, project: str) -> Response:
        """Over the ready tasks of a split (or of all), as they are now, each in every trial."""
        actor = actor_of(request)
        owner = get_project(actor, project, Right.AUTHOR)
        body = read_body(request, bodies.NewRun)
        with named_in_body(PLACES):
            environment = get_environment(actor, owner, body.environment)
            run = actions.launch(
                actor=actor,
                project=owner,
                environment=environment,
                split=None if body.split is None else get_split(actor, environment, body.split),
                spec=queries.get_spec(actor, owner, body.solver, body.solver_version),
                evaluated=body.model,
                config=body.config,
                trials=body.trials,
                limit=body.limit,
                concurrency=body.concurrency,
                name=body.name,
            )
        return Response(run_answer(run), status=201)


class RunView(Resource):
    @operation("read_run", "A run: progress, spend, metrics", tag=TAG, answer=bodies.Run)
    def get(self, request: Request, project: str, run: int) -> Response:
        """Ask again for progress: the numbers are counters, cheap to read."""
        read_query(request, NoQuery)
        return Response(run_answer(_run(actor_of(request), project, run)))


class CancelView(Resource):
    @operation("cancel_run", "Stop a run within a second", tag=TAG, answer=bodies.Run)
    def post(self, request: Request, project: str, run: int) -> Response:
        """No further request goes out; replies on their way are recorded as late."""
        actor = actor_of(request)
        row = _run(actor, project, run, Right.AUTHOR)
        read_body(request, NoBody)
        actions.cancel(actor=actor, run=row)
        return Response(run_answer(_run(actor, project, run)))


class ResumeView(Resource):
    @operation(
        "resume_run",
        "Go on with what was cancelled, interrupted or failed",
        tag=TAG,
        answer=bodies.Run,
    )
    def post(self, request: Request, project: str, run: int) -> Response:
        """Replies that were paid for are used again; 409 if there is nothing left to do."""
        actor = actor_of(request)
        row = _run(actor, project, run, Right.AUTHOR)
        read_body(request, NoBody)
        actions.resume(actor=actor, run=row)
        return Response(run_answer(_run(actor, project, run)))


class SamplesView(Resource):
    @operation(
        "list_samples",
        "A run's samples by position",
        tag=TAG,
        query=bodies.SamplesQuery,
        answer=bodies.SamplePage,
    )
    def get(self, request: Request, project: str, run: int) -> Response:
        actor = actor_of(request)
        row = _run(actor, project, run)
        query = read_query(request, bodies.SamplesQuery)
        page = queries.samples(
            actor,
            row,
            ended=query.ended or None,
            search=query.search,
            after=query.after,
            limit=query.limit,
        )
        items = [sample_answer(sample) for sample in page.rows]
        return Response(bodies.SamplePage(items=items, next=page.next))


class SampleView(Resource):
    @operation("read_sample", "One task in one trial", tag=TAG, answer=bodies.Sample)
    def get(self, request: Request, project: str, run: int, position: int) -> Response:
        """Its conversation is the trace."""
        read_query(request, NoQuery)
        actor = actor_of(request)
        row = queries.get_sample(actor, _run(actor, project, run), position)
        return Response(sample_answer(row))
