"""Imports in steps: propose, look, accept or discard, undo."""

from typing import TYPE_CHECKING

from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.permissions import Actor, Right
from apps.accounts.queries import get_project
from apps.api.authentication import actor_of
from apps.api.bodies import imports as bodies
from apps.api.parsing import NoBody, NoQuery, body_pieces, read_body, read_query
from apps.api.resource import Resource
from apps.api.schema import operation
from apps.api.views.transfer import ANY, FILE, TAG, mapping_of
from apps.tasks import actions, queries

if TYPE_CHECKING:
    from apps.tasks.models import Environment, Import


def _environment(actor: Actor, project: str, environment: str) -> "Environment":
    owner = get_project(actor, project, Right.AUTHOR)
    return queries.get_environment(actor, owner, environment, Right.AUTHOR)


def _import(actor: Actor, project: str, environment: str, number: int) -> "Import":
    return queries.get_import(actor, _environment(actor, project, environment), number)


def _answer(row: "Import", status: int = 200) -> Response:
    return Response(bodies.Import.model_validate(row), status=status)


class ImportsView(Resource):
    @operation(
        "list_imports",
        "Imports, newest first",
        tag=TAG,
        query=bodies.NumberedPageQuery,
        answer=bodies.ImportPage,
    )
    def get(self, request: Request, project: str, environment: str) -> Response:
        actor = actor_of(request)
        where = _environment(actor, project, environment)
        query = read_query(request, bodies.NumberedPageQuery)
        rows = queries.imports(actor, where, before=query.after, limit=query.limit + 1)
        shown = rows[: query.limit]
        page = bodies.ImportPage(
            items=[bodies.Import.model_validate(row) for row in shown],
            next=shown[-1].pk if len(rows) > len(shown) else None,
        )
        return Response(page)

    @operation(
        "propose_import",
        "Hold a file and tell what would become of it",
        tag=TAG,
        query=bodies.NewImportQuery,
        body={ANY: FILE},
        answer=bodies.Import,
        status=201,
    )
    def post(self, request: Request, project: str, environment: str) -> Response:
        """Nothing is written before the import is accepted.

        A large file is read in the background: ask for the import until its state is ``proposed``.
        A proposal that nobody accepts is forgotten after a day.
        """
        actor = actor_of(request)
        where = _environment(actor, project, environment)
        query = read_query(request, bodies.NewImportQuery)
        row = actions.propose_import(
            actor=actor,
            environment=where,
            pieces=body_pieces(request),
            file_name=query.file_name,
            split=query.split,
            format=query.format,
            mapping=mapping_of(query.mapping),
            update=query.update,
        )
        return _answer(row, 201)


class ImportStepView(Resource):
    @operation("get_import", "An import", tag=TAG, answer=bodies.Import)
    def get(self, request: Request, project: str, environment: str, import_: int) -> Response:
        """How far it is, and what came or would come of its rows."""
        read_query(request, NoQuery)
        return _answer(_import(actor_of(request), project, environment, import_))

    @operation(
        "change_import",
        "Read the held file otherwise",
        tag=TAG,
        body=bodies.ImportChange,
        answer=bodies.Import,
    )
    def patch(self, request: Request, project: str, environment: str, import_: int) -> Response:
        """It is proposed anew; 409 once it has been accepted."""
        actor = actor_of(request)
        row = _import(actor, project, environment, import_)
        body = read_body(request, bodies.ImportChange)
        given = {name: getattr(body, name) for name in body.model_fields_set}
        return _answer(actions.change_import(actor=actor, imported=row, **given))

    @operation("discard_import", "Forget an import that has written nothing", tag=TAG, status=204)
    def delete(self, request: Request, project: str, environment: str, import_: int) -> Response:
        actor = actor_of(request)
        row = _import(actor, project, environment, import_)
        actions.discard_import(actor=actor, imported=row)
        return Response(status=204)


class AcceptView(Resource):
    @operation(
        "accept_import",
        "Write what was proposed",
        tag=TAG,
        body=NoBody,
        answer=bodies.Import,
    )
    def post(self, request: Request, project: str, environment: str, import_: int) -> Response:
        """A large one is written in the background. Accepting twice changes nothing."""
        actor = actor_of(request)
        row = _import(actor, project, environment, import_)
        read_body(request, NoBody)
        return _answer(actions.accept_import(actor=actor, imported=row))


class UndoView(Resource):
    @operation(
        "undo_import",
        "Take back what an import wrote",
        tag=TAG,
        body=NoBody,
        answer=bodies.Import,
    )
    def post(self, request: Request, project: str, environment: str, import_: int) -> Response:
        """Tasks it made are removed, or archived where something points at them.

        Tasks it changed get back what they held, unless somebody has changed them since.
        """
        actor = actor_of(request)
        row = _import(actor, project, environment, import_)
        read_body(request, NoBody)
        return _answer(actions.undo_import(actor=actor, imported=row))


class LedgerView(Resource):
    @operation(
        "list_import_rows",
        "What became of every row, or would",
        tag=TAG,
        query=bodies.LedgerQuery,
        answer=bodies.RowPage,
    )
    def get(self, request: Request, project: str, environment: str, import_: int) -> Response:
        """In the order of the file; there are none while it is being read."""
        actor = actor_of(request)
        row = _import(actor, project, environment, import_)
        query = read_query(request, bodies.LedgerQuery)
        page = queries.ledger_page(
            actor,
            row,
            after=query.after,
            limit=query.limit,
            outcome=query.outcome or "",
            kind=query.kind or "",
            code=query.code,
        )
        items = [bodies.Row.model_validate(line) for line in page.lines]
        return Response(bodies.RowPage(items=items, next=page.next))


class ImportRowView(Resource):
    @operation("get_import_row", "A row and its conversation", tag=TAG, answer=bodies.RowDetail)
    def get(
        self, request: Request, project: str, environment: str, import_: int, row: int
    ) -> Response:
        """As it would be written. Gone (410) once the import is written: read the task then."""
        actor = actor_of(request)
        where = _import(actor, project, environment, import_)
        read_query(request, NoQuery)
        line = queries.ledger_line(actor, where, row)
        content = queries.proposed_content(actor, where, row)
        shown = bodies.Row.model_validate(line).model_dump()
        wire = None if content is None else content.to_wire()
        return Response(bodies.RowDetail.model_validate({**shown, "content": wire}))
