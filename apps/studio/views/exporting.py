"""Export: what a format cannot carry is told before, the file is written in the background."""

import time
from itertools import islice
from typing import Any

from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.errors import Refusal
from apps.accounts.permissions import Actor, Right, may
from apps.accounts.queries import get_project
from apps.dialogue.errors import DialogueError
from apps.studio.doors import page
from apps.studio.errors import say, show_on_form
from apps.studio.forms.exporting import ABOUT, ExportForm
from apps.studio.paging import whole_number
from apps.studio.views.importing import STOP_POLLING
from apps.tasks import actions, queries
from apps.tasks.exporting import ExportReport, prepare_export

LOSSES_SHOWN = 12
LOSSES_LISTED = 100
RECENT_SHOWN = 8
LOOKED_FOR_SECONDS = 2.0


@require_http_methods(["GET", "HEAD", "POST"])
@page
def export_tasks(
    request: HttpRequest, actor: Actor, project: str, environment: str
) -> HttpResponse:
    """Choose a format; sending the form begins the export."""
    row = queries.get_environment(actor, get_project(actor, project), environment)
    form = _form(actor, row, request.POST if request.method == "POST" else None, request.GET)
    if form.is_valid():
        try:
            exported = actions.create_export(actor=actor, environment=row, **form.wanted())
        except (Refusal, DialogueError) as problem:
            show_on_form(form, problem)
        else:
            return redirect("studio:export_page", row.project.slug, row.slug, exported.pk)
    context = {
        "project": row.project,
        "environment": row,
        "form": form,
        "recent": queries.exports(actor, row, limit=RECENT_SHOWN),
    }
    status = 422 if form.errors else 200
    return render(request, "studio/pages/export.html", context, status=status)


def _form(actor: Actor, environment: Any, sent: Any, asked: Any) -> ExportForm:
    names = [split.name for split in queries.splits(actor, environment)]
    initial = {
        name: asked[name] for name in ("format", "split", "status", "on_loss") if name in asked
    }
    return ExportForm(sent, splits=names, initial={"on_loss": "refuse", **initial})


@require_safe
@page
def export_losses(
    request: HttpRequest, actor: Actor, project: str, environment: str
) -> HttpResponse:
    """What the chosen format is and could not carry: the first places, looked for a short while."""
    row = queries.get_environment(actor, get_project(actor, project), environment)
    form = _form(actor, row, request.GET, {})
    context: dict[str, Any] = {"form": form}
    if form.is_valid():
        wanted = form.wanted()
        context |= {"about": ABOUT.get(wanted["format"], ""), **_looked_for(actor, row, wanted)}
    return render(request, "studio/parts/export_losses.html", context)


def _looked_for(actor: Actor, environment: Any, wanted: dict[str, Any]) -> dict[str, Any]:
    """The first losses; the report of all tasks, or of those that there was time for."""
    deadline = time.monotonic() + LOOKED_FOR_SECONDS
    is_late = False

    def should_stop() -> bool:
        nonlocal is_late
        is_late = time.monotonic() > deadline
        return is_late

    losses = prepare_export(actor, environment, **wanted).losses(should_stop)
    found = list(islice(losses, LOSSES_SHOWN + 1))
    report = found.pop() if isinstance(found[-1], ExportReport) else None
    return {"losses": found[:LOSSES_SHOWN], "report": report, "is_late": is_late}


@require_safe
@page
def export_page(
    request: HttpRequest, actor: Actor, project: str, environment: str, pk: int
) -> HttpResponse:
    row = queries.get_environment(actor, get_project(actor, project), environment)
    exported = queries.get_export(actor, row, pk)
    after = request.GET.get("after", "")
    start = whole_number(after, place="after") if after else 0
    context = {
        "project": row.project,
        "environment": row,
        "exported": exported,
        "may_discard": str(actor) == exported.author or may(actor, row.project, Right.AUTHOR),
        "after": start,
        "losses": queries.losses_page(actor, exported, after=start, limit=LOSSES_LISTED),
    }
    return render(request, "studio/pages/export_page.html", context)


@require_safe
@page
def export_progress(
    request: HttpRequest, actor: Actor, project: str, environment: str, pk: int
) -> HttpResponse:
    """How far an export is, asked for every second; at its end the page is loaded anew."""
    row = queries.get_environment(actor, get_project(actor, project), environment)
    exported = queries.get_export(actor, row, pk)
    context = {"project": row.project, "environment": row, "exported": exported}
    response = render(request, "studio/parts/export_progress.html", context)
    if not exported.is_open:
        response.status_code = STOP_POLLING
        response["HX-Refresh"] = "true"
    return response


@require_safe
@page
def export_file(
    request: HttpRequest, actor: Actor, project: str, environment: str, pk: int
) -> HttpResponseBase:
    row = queries.get_environment(actor, get_project(actor, project), environment)
    exported = queries.get_export(actor, row, pk)
    file = queries.open_export(actor, exported)
    return FileResponse(file, as_attachment=True, filename=exported.file_name)


@require_POST
@page
def export_discard(
    request: HttpRequest, actor: Actor, project: str, environment: str, pk: int
) -> HttpResponse:
    row = queries.get_environment(actor, get_project(actor, project), environment)
    exported = queries.get_export(actor, row, pk)
    try:
        actions.discard_export(actor=actor, exported=exported)
    except (Refusal, DialogueError) as problem:
        say(request, problem)
    else:
        messages.success(request, f"{exported.file_name} is no longer kept.")
    return redirect("studio:export", row.project.slug, row.slug)
