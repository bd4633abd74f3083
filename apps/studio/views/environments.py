"""Environments: the table of tasks, grading and tools, splits, how a harness connects."""

import json
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.errors import Refusal
from apps.accounts.permissions import Actor, Right, may
from apps.accounts.queries import get_project
from apps.dialogue.errors import DialogueError
from apps.studio.doors import page
from apps.studio.errors import show_on_form
from apps.studio.forms.environments import EnvironmentForm, GradingForm, SplitForm
from apps.studio.forms.fields import json_shown
from apps.studio.frame import is_partial
from apps.studio.snippets import snippets
from apps.tasks.actions import (
    create_environment,
    create_split,
    set_tools,
    update_environment,
)
from apps.tasks.queries import get_environment, imports, list_tasks, splits, tools

TASKS_SHOWN = 50
IMPORTS_LOOKED_AT = 20
IMPORTS_SHOWN = 3
STATUSES = (
    ("", "Draft and ready"),
    ("ready", "Ready"),
    ("draft", "Draft"),
    ("archived", "Archived"),
)
TOOL_KEYS = ("name", "kind", "description", "argument", "is_terminal", "ends_episode")


@require_safe
@page
def environment(request: HttpRequest, actor: Actor, project: str, environment: str) -> HttpResponse:
    """The tasks of an environment; for htmx the table alone."""
    row = get_environment(actor, get_project(actor, project), environment)
    chosen = {name: request.GET.get(name, "").strip() for name in ("split", "status", "q")}
    listed = list_tasks(
        actor,
        row,
        split=chosen["split"] or None,
        status=chosen["status"] or None,
        search=chosen["q"],
        after=request.GET.get("after") or None,
        before=request.GET.get("before") or None,
        limit=TASKS_SHOWN,
    )
    filters = urlencode({name: value for name, value in chosen.items() if value})
    context = {
        "project": row.project,
        "environment": row,
        "splits": splits(actor, row),
        "statuses": STATUSES,
        "chosen": chosen,
        "filters": f"{filters}&" if filters else "",
        "tasks": listed,
        "open_imports": _open_imports(actor, row),
    }
    template = "parts/task_list.html" if is_partial(request) else "pages/environment.html"
    return render(request, f"studio/{template}", context)


def _open_imports(actor: Actor, environment: Any) -> list[Any]:
    """Those of the newest imports that are worked on, or wait to be accepted."""
    if not may(actor, environment.project, Right.AUTHOR):
        return []
    newest = imports(actor, environment, limit=IMPORTS_LOOKED_AT)
    return [row for row in newest if row.is_open or row.state == "proposed"][:IMPORTS_SHOWN]


@require_http_methods(["GET", "HEAD", "POST"])
@page
def environment_new(request: HttpRequest, actor: Actor, project: str) -> HttpResponse:
    row = get_project(actor, project, Right.AUTHOR)
    form = EnvironmentForm(request.POST or None)
    if form.is_valid():
        try:
            made = create_environment(actor=actor, project=row, **form.cleaned_data)
        except (Refusal, DialogueError) as problem:
            show_on_form(form, problem)
        else:
            return redirect("studio:environment", project=row.slug, environment=made.slug)
    context = {"project": row, "form": form}
    status = 422 if form.errors else 200
    return render(request, "studio/pages/environment_new.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@page
def grading(request: HttpRequest, actor: Actor, project: str, environment: str) -> HttpResponse:
    """How answers are graded and which tools are offered, to read and, for authors, to change."""
    row = get_environment(actor, get_project(actor, project), environment)
    offered = tools(actor, row)
    if request.method == "POST":
        form = GradingForm(request.POST)
        if form.is_valid() and _grading_saved(actor, row, form):
            messages.success(request, "Saved. New episodes are graded this way.")
            return redirect("studio:grading", project=row.project.slug, environment=row.slug)
    else:
        form = GradingForm(initial=_grading_shown(row, offered))
    context = {"project": row.project, "environment": row, "tools": offered, "form": form}
    status = 422 if form.errors else 200
    return render(request, "studio/pages/grading.html", context, status=status)


def _grading_shown(environment: Any, offered: list[Any]) -> dict[str, Any]:
    drafts = [
        {
            **{key: getattr(tool, key) for key in TOOL_KEYS},
            "input_schema": json.loads(tool.input_schema) if tool.input_schema else None,
            "config": tool.config,
        }
        for tool in offered
    ]
    return {
        "name": environment.name,
        "description": environment.description,
        "scorers": json_shown(environment.scorers),
        "tools": json_shown(drafts),
        "offers_submit": environment.offers_submit,
    }


def _grading_saved(actor: Actor, environment: Any, form: GradingForm) -> bool:
    wanted = dict(form.cleaned_data)
    drafts = wanted.pop("tools")
    try:
        with transaction.atomic():
            update_environment(actor=actor, environment=environment, **wanted)
            set_tools(actor=actor, environment=environment, tools=drafts)
    except (Refusal, DialogueError) as problem:
        show_on_form(form, problem)
        return False
    return True


@require_http_methods(["GET", "HEAD", "POST"])
@page
def split_new(request: HttpRequest, actor: Actor, project: str, environment: str) -> HttpResponse:
    row = get_environment(actor, get_project(actor, project), environment, Right.AUTHOR)
    form = SplitForm(request.POST or None)
    if form.is_valid():
        try:
            create_split(
                actor=actor,
                environment=row,
                name=form.cleaned_data["name"],
                split_type=form.cleaned_data["split_type"] or None,
            )
        except Refusal as refusal:
            show_on_form(form, refusal)
        else:
            return redirect("studio:environment", project=row.project.slug, environment=row.slug)
    context = {"project": row.project, "environment": row, "form": form}
    status = 422 if form.errors else 200
    return render(request, "studio/pages/split_new.html", context, status=status)


@require_safe
@page
def connect(request: HttpRequest, actor: Actor, project: str, environment: str) -> HttpResponse:
    """Code to paste that fetches this environment from this server."""
    row = get_environment(actor, get_project(actor, project), environment)
    split = next(iter(splits(actor, row)), None)
    context = {
        "project": row.project,
        "environment": row,
        "split": split,
        "snippets": snippets(
            settings.PUBLIC_URL,
            row.project.slug,
            row.slug,
            "test" if split is None else split.name,
            tools(actor, row),
        ),
    }
    return render(request, "studio/pages/connect.html", context)
