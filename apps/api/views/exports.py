"""Tasks out as a file, and what the file's format could not carry."""

from collections.abc import Iterator
from tempfile import TemporaryFile

from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import get_project
from apps.api.authentication import actor_of
from apps.api.bodies import exports as bodies
from apps.api.files import file_response
from apps.api.parsing import read_query
from apps.api.problems import CONTENT_TYPE, Fault, as_json, make_problem
from apps.api.resource import Resource
from apps.api.schema import operation
from apps.tasks import queries
from apps.tasks.exporting import Export, ExportReport, LossLine, prepare_export

TAG = "transfer"
JSONL = "application/x-ndjson"
LINES = {"type": "string", "description": "One JSON object a line"}
FILE = {"type": "string", "format": "binary"}
MOST_FAULTS = 100


class ExportView(Resource):
    @operation(
        "export_tasks",
        "All tasks as a file",
        tag=TAG,
        query=bodies.ExportQuery,
        answer={
            JSONL: LINES,
            "text/csv": {"type": "string"},
            "application/vnd.apache.parquet": FILE,
        },
    )
    def get(self, request: Request, project: str, environment: str) -> HttpResponseBase:
        """By position, in a format that people take; the import reads it back.

        ``on_loss=refuse``: if the format cannot carry all of every task, nothing is sent but a
        problem (422) that names the first 100 places and counts all. ``on_loss=leave_out``: what
        cannot be carried is left out, and ``export/losses/`` tells what that is.
        """
        actor = actor_of(request)
        where = queries.get_environment(actor, get_project(actor, project), environment)
        query = read_query(request, bodies.ExportQuery)
        export = prepare_export(
            actor,
            where,
            format=query.format,
            split=query.split,
            status=query.status,
            on_loss=query.on_loss,
        )
        kind = export.format.file
        name = f"{where.slug}{kind.suffix}"
        if not export.streams or query.on_loss == "refuse":
            return _as_file(export, name)
        response = StreamingHttpResponse(export.pieces(), content_type=kind.media_type)
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response


class ExportLossesView(Resource):
    @operation(
        "list_export_losses",
        "What a format cannot carry",
        tag=TAG,
        query=bodies.LossesQuery,
        answer={JSONL: LINES},
    )
    def get(self, request: Request, project: str, environment: str) -> StreamingHttpResponse:
        """``{"key", "place", "message"}`` a line, and at the end ``{"summary": {...}}``.

        Nothing is exported. ``refused`` of the summary counts the tasks that an export with
        ``on_loss=refuse`` would not write.
        """
        actor = actor_of(request)
        where = queries.get_environment(actor, get_project(actor, project), environment)
        query = read_query(request, bodies.LossesQuery)
        export = prepare_export(
            actor, where, format=query.format, split=query.split, status=query.status
        )
        return StreamingHttpResponse(_loss_lines(export), content_type=JSONL)


def _loss_lines(export: Export) -> Iterator[bytes]:
    for told in export.losses():
        if isinstance(told, LossLine):
            yield bodies.LossLine.model_validate(told).model_dump_json().encode() + b"\n"
        else:
            summary = bodies.ExportSummary.model_validate(told).model_dump_json()
            yield b'{"summary":' + summary.encode() + b"}\n"


def _as_file(export: Export, name: str) -> HttpResponseBase:
    """The file is made whole before a byte of it is sent: it may turn out that it is refused."""
    first: list[LossLine] = []

    def keep(line: LossLine) -> None:
        if len(first) < MOST_FAULTS:
            first.append(line)

    file = TemporaryFile()  # noqa: SIM115 - the response closes it
    try:
        report = export.write(file, on_loss_line=keep)
        if report.losses and export.on_loss == "refuse":
            file.close()
            return _refused(export, report, first)
        size = file.tell()
        file.seek(0)
        return file_response(file, size, export.format.file.media_type, name)
    except BaseException:
        file.close()
        raise


def _refused(export: Export, report: ExportReport, first: list[LossLine]) -> Response:
    faults = [
        Fault(place=f"task {each.key} {each.place}".rstrip(), message=each.message)
        for each in first
    ]
    detail = (
        f"{export.format.title} cannot carry all of {report.refused} of {report.tasks} tasks "
        f"({report.losses} places). {faults[0].place}: {faults[0].message}. "
        "on_loss=leave_out leaves out what cannot be carried."
    )
    problem = make_problem(422, detail, place=faults[0].place, problems=faults)
    return Response(as_json(problem), status=422, content_type=CONTENT_TYPE)
