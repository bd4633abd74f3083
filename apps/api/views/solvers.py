"""Solvers: versions of task specifications, with what is doubtful about them."""

from typing import TYPE_CHECKING

from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.permissions import Right
from apps.accounts.queries import get_project
from apps.api.authentication import actor_of
from apps.api.bodies import runs as bodies
from apps.api.pagination import Order, PageQuery, cut
from apps.api.parsing import read_body, read_query
from apps.api.resource import Resource
from apps.api.schema import operation
from apps.dialogue.solver.lint import lint_spec
from apps.dialogue.solver.spec import parse_task_spec
from apps.runs import actions, queries

if TYPE_CHECKING:
    from apps.runs.models import SolverSpec

TAG = "solvers"


def _detail(row: "SolverSpec") -> bodies.SolverDetail:
    return bodies.SolverDetail.model_validate(
        {
            "key": row.key,
            "version": row.version,
            "display_name": row.display_name,
            "author": row.author,
            "created_at": row.created_at,
            "text": row.text,
            "lints": lint_spec(parse_task_spec(row.text)),
        }
    )


class SolversView(Resource):
    @operation(
        "list_solvers",
        "The newest version of every solver, by key",
        tag=TAG,
        query=PageQuery,
        answer=bodies.SolverPage,
    )
    def get(self, request: Request, project: str) -> Response:
        actor = actor_of(request)
        rows = queries.specs(actor, get_project(actor, project))
        page = cut(rows, read_query(request, PageQuery), Order("key", str))
        items = [bodies.Solver.model_validate(row) for row in page.rows]
        return Response(bodies.SolverPage(items=items, next=page.next))

    @operation(
        "save_solver",
        "Save a specification as the next version of its key",
        tag=TAG,
        body=bodies.NewSolver,
        answer=bodies.SolverDetail,
        status=201,
    )
    def post(self, request: Request, project: str) -> Response:
        """A LatticeFlow ``task.yaml`` as text, YAML or JSON; all that is wrong is named at once.

        The text of the newest version again makes no new version. ``lints`` are warnings.
        """
        actor = actor_of(request)
        owner = get_project(actor, project, Right.AUTHOR)
        body = read_body(request, bodies.NewSolver)
        row = actions.save_spec(actor=actor, project=owner, text=body.text, key=body.key)
        return Response(_detail(row), status=201)


class SolverChecksView(Resource):
    @operation(
        "check_solver",
        "Read a specification without saving it",
        tag=TAG,
        body=bodies.SpecText,
        answer=bodies.SolverCheck,
    )
    def post(self, request: Request, project: str) -> Response:
        """Its lints, or (422) everything that is wrong with it."""
        get_project(actor_of(request), project)
        spec = parse_task_spec(read_body(request, bodies.SpecText).text)
        return Response(
            bodies.SolverCheck.model_validate(
                {"key": spec.key, "display_name": spec.display_name, "lints": lint_spec(spec)}
            )
        )


class SolverView(Resource):
    @operation(
        "read_solver",
        "One version of a solver",
        tag=TAG,
        query=bodies.SolverQuery,
        answer=bodies.SolverDetail,
    )
    def get(self, request: Request, project: str, solver: str) -> Response:
        actor = actor_of(request)
        owner = get_project(actor, project)
        version = read_query(request, bodies.SolverQuery).version
        return Response(_detail(queries.get_spec(actor, owner, solver, version)))


class SolverVersionsView(Resource):
    @operation(
        "list_solver_versions",
        "All versions of a solver, newest first",
        tag=TAG,
        query=PageQuery,
        answer=bodies.SolverPage,
    )
    def get(self, request: Request, project: str, solver: str) -> Response:
        actor = actor_of(request)
        owner = get_project(actor, project)
        queries.get_spec(actor, owner, solver)
        rows = queries.spec_versions(actor, owner, solver)
        page = cut(rows, read_query(request, PageQuery), Order("version", descending=True))
        items = [bodies.Solver.model_validate(row) for row in page.rows]
        return Response(bodies.SolverPage(items=items, next=page.next))
