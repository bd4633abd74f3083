"""Exports written in the background, kept for a day and fetched."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from django.http import StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.permissions import Actor
from apps.accounts.queries import get_project
from apps.api.authentication import actor_of
from apps.api.bodies import imports as bodies
from apps.api.parsing import PIECE, NoQuery, named_in_body, read_body, read_query
from apps.api.resource import Resource
from apps.api.schema import operation
from apps.api.views.transfer import ANY, FILE, TAG
from apps.tasks import actions, queries

if TYPE_CHECKING:
    from apps.tasks.models import Environment, Export


def _environment(actor: Actor, project: str, environment: str) -> "Environment":
    return queries.get_environment(actor, get_project(actor, project), environment)


def _export(actor: Actor, project: str, environment: str, number: int) -> "Export":
    return queries.get_export(actor, _environment(actor, project, environment), number)


class ExportsView(Resource):
    @operation(
        "list_exports",
        "Exports, newest first",
        tag=TAG,
        query=bodies.NumberedPageQuery,
        answer=bodies.ExportPage,
    )
    def get(self, request: Request, project: str, environment: str) -> Response:
        actor = actor_of(request)
        where = _environment(actor, project, environment)
        query = read_query(request, bodies.NumberedPageQuery)
        rows = queries.exports(actor, where, before=query.after, limit=query.limit + 1)
        shown = rows[: query.limit]
        page = bodies.ExportPage(
            items=[bodies.Export.model_validate(row) for row in shown],
            next=shown[-1].pk if len(rows) > len(shown) else None,
        )
        return Response(page)

    @operation(
        "create_export",
        "Write tasks to a file, in the background",
        tag=TAG,
        body=bodies.NewExport,
        answer=bodies.Export,
        status=201,
    )
    def post(self, request: Request, project: str, environment: str) -> Response:
        """Ask for the export until its state is ``done``, then fetch its file within a day."""
        actor = actor_of(request)
        where = _environment(actor, project, environment)
        body = read_body(request, bodies.NewExport)
        with named_in_body():
            row = actions.create_export(
                actor=actor,
                environment=where,
                format=body.format,
                split=body.split,
                status=body.status,
                on_loss=body.on_loss,
            )
        return Response(bodies.Export.model_validate(row), status=201)


class KeptExportView(Resource):
    @operation("get_export", "An export", tag=TAG, answer=bodies.Export)
    def get(self, request: Request, project: str, environment: str, export: int) -> Response:
        read_query(request, NoQuery)
        row = _export(actor_of(request), project, environment, export)
        return Response(bodies.Export.model_validate(row))

    @operation("discard_export", "Forget an export and its file", tag=TAG, status=204)
    def delete(self, request: Request, project: str, environment: str, export: int) -> Response:
        actor = actor_of(request)
        row = _export(actor, project, environment, export)
        actions.discard_export(actor=actor, exported=row)
        return Response(status=204)


class ExportFileView(Resource):
    @operation("fetch_export", "The file of an export", tag=TAG, answer={ANY: FILE})
    def get(
        self, request: Request, project: str, environment: str, export: int
    ) -> StreamingHttpResponse:
        """Gone (410) when it is no longer kept."""
        actor = actor_of(request)
        row = _export(actor, project, environment, export)
        read_query(request, NoQuery)
        file = queries.open_export(actor, row)
        response = StreamingHttpResponse(_pieces(file), content_type=ANY)
        response["Content-Length"] = row.bytes_total
        response["Content-Disposition"] = f'attachment; filename="{row.file_name}"'
        return response


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    with file:
        yield from iter(partial(file.read, PIECE), b"")


class KeptLossesView(Resource):
    @operation(
        "list_kept_losses",
        "What an export could not carry",
        tag=TAG,
        query=bodies.NumberedPageQuery,
        answer=bodies.LossPage,
    )
    def get(self, request: Request, project: str, environment: str, export: int) -> Response:
        """Task by task."""
        actor = actor_of(request)
        row = _export(actor, project, environment, export)
        query = read_query(request, bodies.NumberedPageQuery)
        page = queries.losses_page(actor, row, after=query.after or 0, limit=query.limit)
        items = [bodies.KeptLoss.model_validate(line) for line in page.lines]
        return Response(bodies.LossPage(items=items, next=page.next))
