"""Many tasks at once, in and out, as they stream."""

from django.http import StreamingHttpResponse
from rest_framework.request import Request

from apps.accounts.queries import get_project
from apps.api.authentication import actor_of
from apps.api.bodies import transfer as bodies
from apps.api.parsing import read_query
from apps.api.resource import Resource
from apps.api.schema import operation
from apps.tasks import queries
from apps.tasks.exporting import export_lines

TAG = "transfer"
JSONL = "application/x-ndjson"
LINES = {"type": "string", "description": "One JSON object a line"}


class ExportView(Resource):
    @operation(
        "export_tasks",
        "All tasks as JSON Lines",
        tag=TAG,
        query=bodies.ExportQuery,
        answer={JSONL: LINES},
    )
    def get(self, request: Request, project: str, environment: str) -> StreamingHttpResponse:
        """``{"id", "conversation", ...attributes, "tools"?, "tags"?}`` by position.

        The import reads these lines back. Without ``status`` all but the archived tasks.
        """
        actor = actor_of(request)
        where = queries.get_environment(actor, get_project(actor, project), environment)
        query = read_query(request, bodies.ExportQuery)
        lines = export_lines(actor, where, split=query.split, status=query.status)
        response = StreamingHttpResponse(lines, content_type=JSONL)
        response["Content-Disposition"] = f'attachment; filename="{where.slug}.jsonl"'
        return response
