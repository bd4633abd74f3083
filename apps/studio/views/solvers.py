"""Solvers: the list, and one as text with what is wrong or doubtful beside its lines."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.errors import NotFound, Refusal
from apps.accounts.permissions import Actor, Right
from apps.accounts.queries import get_project
from apps.dialogue.errors import SpecError
from apps.dialogue.solver.lint import lint
from apps.dialogue.solver.spec import parse_task_spec, resolve
from apps.runs.actions import save_spec
from apps.runs.queries import get_spec, spec_versions, specs
from apps.studio.doors import page
from apps.studio.errors import show_on_form
from apps.studio.forms.solvers import SolverForm
from apps.studio.paging import whole_number
from apps.studio.spec_places import line_of

VERSIONS_SHOWN = 30

EXAMPLE = """\
key: "first-answer"
display_name: "First answer"
description: "Asks the question of each task once and compares the answer."
definition:
  dataset:
    key: "tasks"
  solver:
    type: "multi_turn_solver"
    message_builders:
      - type: "chat_message"
        role: "user"
        content: "{{ sample.question }}"
      - type: "generate"
  scorers:
    - type: "string_equals"
      ground_truth: "{{ sample.target }}"
      metrics:
        - type: "mean"
          field: "is_correct"
          name: "Accuracy"
"""


@dataclass(frozen=True)
class Finding:
    """One thing to see in a specification; ``line`` counts from 1, None if it has no place."""

    severity: str
    place: str
    line: int | None
    message: str


@dataclass(frozen=True)
class Check:
    """What a text is: a solver of that name, or none; and what was found in it."""

    name: str
    findings: list[Finding]

    @property
    def refused(self) -> bool:
        return any(finding.severity == "error" for finding in self.findings)


def checked(text: str) -> Check:
    """Read a specification: its errors, or if there are none, its lints."""
    try:
        spec = parse_task_spec(text)
    except SpecError as error:
        found = [
            Finding("error", place, line_of(text, place), message)
            for place, message in error.problems
        ]
        return Check(name="", findings=found)
    return Check(name=spec.display_name, findings=_lints(text, spec))


def _lints(text: str, spec: Any) -> list[Finding]:
    try:
        solver = resolve(spec, {}).solver
    except SpecError:
        return []  # A parameter without a default: what it brings is checked at the launch.
    places = [(f"definition.solver.{found.place}", found.message) for found in lint(solver)]
    return [Finding("warning", place, line_of(text, place), message) for place, message in places]


@require_safe
@page
def solvers(request: HttpRequest, actor: Actor, project: str) -> HttpResponse:
    row = get_project(actor, project)
    context = {"project": row, "specs": specs(actor, row)}
    return render(request, "studio/pages/solvers.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@page
def solver_new(request: HttpRequest, actor: Actor, project: str) -> HttpResponse:
    row = get_project(actor, project, Right.AUTHOR)
    form = SolverForm(request.POST or None, initial={"text": EXAMPLE})
    if form.is_valid() and not _is_there_already(actor, row, form):
        made = _saved(actor, row, form)
        if made is not None:
            messages.success(request, f"Saved {made.key} v{made.version}.")
            return redirect("studio:solver", project=row.slug, key=made.key)
    return _editor(request, row, form, spec=None, versions=[])


@require_http_methods(["GET", "HEAD", "POST"])
@page
def solver(request: HttpRequest, actor: Actor, project: str, key: str) -> HttpResponse:
    """One version to read; saving another text makes the next version."""
    row = get_project(actor, project)
    wanted = request.GET.get("version", "")
    version = whole_number(wanted, place="version") if wanted else None
    spec = get_spec(actor, row, key, version)
    form = SolverForm(request.POST or None, initial={"text": spec.text})
    if form.is_valid():
        made = _saved(actor, row, form, key=key)
        if made is not None:
            messages.success(request, f"{made.key} v{made.version} is the newest version.")
            return redirect("studio:solver", project=row.slug, key=made.key)
    versions = list(spec_versions(actor, row, key)[:VERSIONS_SHOWN])
    return _editor(request, row, form, spec=spec, versions=versions)


def _is_there_already(actor: Actor, project: Any, form: SolverForm) -> bool:
    """Whether the text's key is another solver's, which then stands beside the field."""
    try:
        key = parse_task_spec(form.cleaned_data["text"]).key
        there = get_spec(actor, project, key)
    except (SpecError, NotFound):
        return False
    said = format_html(
        'There is a solver <a href="{}">{}</a> already (v{}). Write another key, or save the '
        "text as its next version there.",
        reverse("studio:solver", args=[project.slug, there.key]),
        there.key,
        there.version,
    )
    form.add_error("text", said)
    return True


def _saved(actor: Actor, project: Any, form: SolverForm, key: str | None = None) -> Any:
    """The saved version; None if the form now says why there is none."""
    try:
        return save_spec(actor=actor, project=project, text=form.cleaned_data["text"], key=key)
    except SpecError as error:
        count = len(error.problems)
        things = "one problem" if count == 1 else f"{count} problems"
        form.add_error(None, f"Not saved: {things}, listed beside the text.")
    except Refusal as refusal:
        show_on_form(form, refusal)
    return None


def _editor(
    request: HttpRequest, project: Any, form: SolverForm, *, spec: Any, versions: list[Any]
) -> HttpResponse:
    text = str(form["text"].value() or "")
    context = {
        "project": project,
        "form": form,
        "spec": spec,
        "versions": versions,
        "check": checked(text),
    }
    status = 422 if form.errors else 200
    return render(request, "studio/pages/solver.html", context, status=status)


@require_POST
@page
def solver_check(request: HttpRequest, actor: Actor, project: str) -> HttpResponse:
    """What is wrong or doubtful in a text while it is written; nothing is saved."""
    get_project(actor, project)
    context = {"check": checked(request.POST.get("text", ""))}
    return render(request, "studio/parts/spec_check.html", context)
