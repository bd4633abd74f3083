"""One sample of a run: its trace to read, its calls, its scores, why it ended."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.permissions import Actor
from apps.accounts.queries import get_project
from apps.runs.queries import get_run, get_sample
from apps.studio.doors import page
from apps.studio.trace_reading import happenings, totals, waterfall
from apps.traces.queries import get_trace

ENTRIES_SHOWN = 600


@require_safe
@page
def sample(
    request: HttpRequest, actor: Actor, project: str, number: int, position: int
) -> HttpResponse:
    """The conversation left, what it cost and how it ended right."""
    row = get_project(actor, project)
    run = get_run(actor, row, number)
    shown = get_sample(actor, run, position)
    last = run.samples_total - 1
    context: dict[str, Any] = {
        "project": row,
        "run": run,
        "sample": shown,
        "task": shown.revision.task,
        "raw": request.GET.get("text") == "raw",
        "previous": position - 1 if position > 0 else None,
        "next": position + 1 if position < last else None,
        "view": None,
    }
    if shown.trace_id is not None:
        view = get_trace(actor, row, shown.trace_id, limit=ENTRIES_SHOWN)
        evaluated = run.evaluated.key
        context |= {
            "view": view,
            "happenings": happenings(view.entries, evaluated),
            "calls": waterfall(view.calls, evaluated),
            "totals": totals(view.calls),
        }
    return render(request, "studio/pages/sample.html", context)
