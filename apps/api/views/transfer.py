"""Many tasks at once, in, as they stream."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from tempfile import TemporaryFile
from typing import Any

from django.http import FileResponse
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from apps.accounts.errors import Invalid, Refusal
from apps.accounts.permissions import Right
from apps.accounts.queries import get_project
from apps.api.authentication import actor_of
from apps.api.bodies import transfer as bodies
from apps.api.parsing import body_pieces, parse_json, read_query
from apps.api.problems import CONTENT_TYPE, Fault, as_json, make_problem
from apps.api.resource import Resource
from apps.api.schema import operation
from apps.tasks import queries
from apps.tasks.actions import ImportLedger, LedgerLine, import_file, rehearse_import

TAG = "transfer"
JSON = "application/json"
JSONL = "application/x-ndjson"
ANY = "application/octet-stream"
LINES = {"type": "string", "description": "One JSON object a line"}
FILE = {"type": "string", "format": "binary", "description": "A file of any known kind"}
MOST_FAULTS = 100


class ImportView(Resource):
    @operation(
        "import_tasks",
        "Rows become tasks; every row is accounted for",
        tag=TAG,
        query=bodies.ImportQuery,
        body={JSONL: LINES, JSON: {"oneOf": [{"type": "array"}, {"type": "object"}]}, ANY: FILE},
        answer={JSON: bodies.Ledger, JSONL: LINES},
    )
    def post(self, request: Request, project: str, environment: str) -> HttpResponseBase:
        """The body is a file, read as it arrives: JSON Lines, a JSON array, or one object.

        A bad row never stops a good one: look at ``refused`` in the answer. If all rows were
        refused the answer is a problem (422) whose ``problems`` name the lines. A row whose key
        and content are there already is left alone, so that the same file can be sent twice. What
        was written can be undone by the ``number`` in the answer.
        """
        actor = actor_of(request)
        owner = get_project(actor, project, Right.AUTHOR)
        where = queries.get_environment(actor, owner, environment)
        query = read_query(request, bodies.ImportQuery)
        split = queries.get_split(actor, where, query.split)
        run = partial(
            rehearse_import if query.dry_run else import_file,
            actor=actor,
            environment=where,
            split=split,
            stream=body_pieces(request),
            file_name=query.file_name,
            format=query.format,
            mapping=mapping_of(query.mapping),
            update=query.update,
        )
        if query.ledger == "jsonl":
            return _as_lines(run)
        ledger = run()
        if ledger.refused == ledger.read:
            return _nothing_imported(ledger)
        return Response(bodies.Ledger.model_validate(ledger))


def mapping_of(text: str) -> Mapping[str, Any] | None:
    """The column mapping of a query; `Invalid` if it is no JSON object."""
    if not text:
        return None
    try:
        value = parse_json(text.encode())
    except Refusal as refusal:
        raise Invalid(refusal.message, place="query.mapping") from None
    if not isinstance(value, dict):
        raise Invalid("The mapping has to be a JSON object.", place="query.mapping")
    return value


def _as_lines(run: Callable[..., ImportLedger]) -> HttpResponseBase:
    """The whole ledger, kept on disk until nothing can fail any more."""
    with ExitStack() as until_sent:
        file = until_sent.enter_context(TemporaryFile())

        def write(line: LedgerLine) -> None:
            shown = bodies.LedgerLine.model_validate(line)
            file.write(shown.model_dump_json().encode() + b"\n")

        ledger = run(on_line=write)
        if ledger.refused == ledger.read:
            return _nothing_imported(ledger)
        summary = bodies.LedgerSummary.model_validate(ledger)
        file.write(b'{"summary":' + summary.model_dump_json().encode() + b"}\n")
        file.seek(0)
        until_sent.pop_all()
        return FileResponse(file, content_type=JSONL)


def _nothing_imported(ledger: ImportLedger) -> Response:
    faults = [_fault(line) for line in ledger.lines[:MOST_FAULTS]]
    detail = "No row could become a task."
    if faults:
        detail += f" {faults[0].place}: {faults[0].message}"
    problem = make_problem(422, detail, place=faults[0].place if faults else "", problems=faults)
    return Response(as_json(problem), status=422, content_type=CONTENT_TYPE)


def _fault(line: LedgerLine) -> Fault:
    """Why a line was refused, and where in it."""
    note = next(each for each in line.notes if each.kind == "refused")
    place = f"line {line.line}"
    return Fault(place=f"{place} {note.place}" if note.place else place, message=note.message)
