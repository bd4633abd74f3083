"""Traces."""

from typing import TYPE_CHECKING, Any, cast

from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.queries import get_project
from apps.api.authentication import actor_of
from apps.api.bodies import traces as bodies
from apps.api.parsing import read_query
from apps.api.resource import Resource
from apps.api.schema import operation
from apps.dialogue.trace import TraceEntry, to_open_responses
from apps.traces import queries
from apps.traces.queries import TraceView as Found

if TYPE_CHECKING:
    from apps.dialogue.trace.entries import EntryKind


class TraceView(Resource):
    @operation(
        "read_trace",
        "A conversation as it happened",
        tag="traces",
        query=bodies.TraceQuery,
        answer=bodies.AnyTrace,
    )
    def get(self, request: Request, project: str, trace: int) -> Response:
        """Entries come by page (``after``, ``limit``, ``more``); the export is always whole."""
        actor = actor_of(request)
        where = get_project(actor, project)
        query = read_query(request, bodies.TraceQuery)
        if query.format == "open_responses":
            return Response(_open_responses(queries.get_trace(actor, where, trace)))
        found = queries.get_trace(actor, where, trace, after=query.after, limit=query.limit)
        return Response(_answer(found))


def _answer(found: Found) -> bodies.Trace:
    row = found.trace
    return bodies.Trace.model_validate(
        {
            "id": row.pk,
            "source": row.source,
            "title": row.title,
            "ended": row.ended,
            "ended_path": row.ended_path,
            "ended_model": row.ended_model,
            "ended_message": row.ended_message,
            "answer": row.answer,
            "metadata": row.metadata,
            "started_at": row.started_at,
            "finished_at": row.finished_at,
            "entries": found.entries,
            "more": found.more,
            "calls": found.calls,
            "scores": found.scores,
        }
    )


def _open_responses(found: Found) -> dict[str, Any]:
    """What `latticeflow.core.dtypes.Trace` reads."""
    entries = [
        TraceEntry(
            position=each.position,
            kind=cast("EntryKind", each.kind),
            path=each.path,
            body=each.body,
            discarded=each.discarded,
        )
        for each in found.entries
    ]
    metadata = {**found.trace.metadata, "trace_id": str(found.trace.pk)}
    return to_open_responses(entries, metadata)
