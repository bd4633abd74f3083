"""Runs: the list, launching one, watching one, and the samples it is made of."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.errors import Refusal
from apps.accounts.permissions import Actor, Right, may
from apps.accounts.queries import get_project
from apps.dialogue.errors import DialogueError, SpecError
from apps.dialogue.solver.spec import dataset_parameter, parse_task_spec
from apps.providers.queries import endpoints
from apps.runs.actions import cancel, launch, resume
from apps.runs.preflight import preflight_run
from apps.runs.queries import get_run, get_spec, progress, samples, specs
from apps.runs.queries import runs as list_runs
from apps.studio.doors import page
from apps.studio.errors import say, show_on_form
from apps.studio.forms.runs import RunForm
from apps.studio.frame import is_partial
from apps.studio.paging import walk_down, whole_number
from apps.tasks.queries import environments, get_environment, get_split

RUNS_SHOWN = 50
SAMPLES_SHOWN = 50
STOP_POLLING = 286
"""The status by which htmx ends its polling."""


@require_safe
@page
def runs(request: HttpRequest, actor: Actor, project: str) -> HttpResponse:
    row = get_project(actor, project)
    before = request.GET.get("before", "")
    walked = walk_down(list_runs(actor, row), by="number", before=before, size=RUNS_SHOWN)
    return render(request, "studio/pages/runs.html", {"project": row, "runs": walked})


@require_http_methods(["GET", "HEAD", "POST"])
@page
def run_new(request: HttpRequest, actor: Actor, project: str) -> HttpResponse:
    """Choose what is played; for htmx the fields of the chosen solver's parameters alone, or with
    ``preflight`` what the models would refuse of the chosen tasks."""
    row = get_project(actor, project, Right.AUTHOR)
    choices = _choices(actor, row, request.POST.get("solver") or request.GET.get("solver", ""))
    if is_partial(request) and "preflight" in request.GET:
        return _run_preflight(request, actor, row, choices)
    form = _run_form(request, choices)
    if form.is_valid():
        try:
            run = _launched(actor, row, form)
        except (Refusal, DialogueError) as problem:
            show_on_form(form, problem, form.places())
        else:
            return redirect("studio:run", project=row.slug, number=run.number)
    context = {"project": row, "form": form, "choices": choices}
    if is_partial(request):
        return render(request, "studio/parts/run_parameters.html", context)
    status = 422 if form.errors else 200
    return render(request, "studio/pages/run_new.html", context, status=status)


@dataclass(frozen=True)
class _Choices:
    """What a run can be made of, and the solver whose parameters are shown."""

    environments: list[Any]
    solvers: list[Any]
    endpoints: list[Any]
    spec: Any

    @property
    def missing(self) -> bool:
        return not (self.environments and self.solvers and self.endpoints)


def _choices(actor: Actor, project: Any, wanted: str) -> _Choices:
    """``wanted`` is ``key@version`` or a key; an older version joins the newest ones."""
    newest = list(specs(actor, project))
    spec = newest[0] if newest else None
    if wanted:
        key, _, version = wanted.partition("@")
        number = whole_number(version, place="solver") if version else None
        spec = get_spec(actor, project, key, number)
    if spec is not None and spec not in newest:
        newest.append(spec)
    served = [row for row in environments(actor, project) if row.splits.all()]
    return _Choices(served, newest, list(endpoints(actor, project)), spec)


def _run_preflight(
    request: HttpRequest, actor: Actor, project: Any, choices: _Choices
) -> HttpResponse:
    """Nothing, for a form that cannot be launched yet: its own errors come with the launch."""
    form = _run_form(request, choices, data=request.GET)
    context: dict[str, Any] = {"project": project}
    if form.is_valid():
        # What is wrong with the choice itself, the launch says at its field.
        with suppress(Refusal, DialogueError):
            context |= {
                "found": preflight_run(**_chosen(actor, project, form)),
                "environment": form.cleaned_data["tasks"].partition("/")[0],
            }
    return render(request, "studio/parts/run_preflight.html", context)


def _run_form(request: HttpRequest, choices: _Choices, data: Any = None) -> RunForm:
    spec = choices.spec
    chosen = f"{spec.key}@{spec.version}" if spec is not None else ""
    asked = {name: request.GET[name] for name in ("tasks", "evaluated") if name in request.GET}
    return RunForm(
        request.POST if request.method == "POST" else data,
        environments=choices.environments,
        solvers=[
            (f"{row.key}@{row.version}", f"{row.display_name or row.key} (v{row.version})")
            for row in choices.solvers
        ],
        endpoints=[
            (row.key, f"{row.key} (scripted)" if row.base_url == "demo" else row.key)
            for row in choices.endpoints
        ],
        parameters=_parameters(spec),
        initial={"solver": chosen, **asked},
    )


def _parameters(spec: Any) -> tuple[Any, ...]:
    """Those to ask for: which dataset is played, the choice of tasks says already."""
    if spec is None:
        return ()
    try:
        parsed = parse_task_spec(spec.text)
    except SpecError:
        return ()  # Rules may have become stricter since it was saved; the launch says so.
    dataset = dataset_parameter(parsed)
    return tuple(each for each in parsed.config_spec if each.key != dataset)


def _launched(actor: Actor, project: Any, form: RunForm) -> Any:
    chosen = form.cleaned_data
    return launch(**_chosen(actor, project, form), trials=chosen["trials"], name=chosen["name"])


def _chosen(actor: Actor, project: Any, form: RunForm) -> dict[str, Any]:
    """What is played, as `launch` and `preflight_run` take it."""
    chosen = form.cleaned_data
    slug, _, split = chosen["tasks"].partition("/")
    environment = get_environment(actor, project, slug)
    key, _, version = chosen["solver"].partition("@")
    return {
        "actor": actor,
        "project": project,
        "environment": environment,
        "split": get_split(actor, environment, split) if split else None,
        "spec": get_spec(actor, project, key, int(version)),
        "evaluated": chosen["evaluated"],
        "config": form.config(),
        "limit": chosen["limit"],
    }


@require_safe
@page
def run(request: HttpRequest, actor: Actor, project: str, number: int) -> HttpResponse:
    row = get_run(actor, get_project(actor, project), number)
    return render(request, "studio/pages/run.html", _run_context(request, actor, row))


@require_safe
@page
def run_facts(request: HttpRequest, actor: Actor, project: str, number: int) -> HttpResponse:
    """The strip of facts, asked for every second while the run is open; then polling ends."""
    row = get_run(actor, get_project(actor, project), number)
    facts = progress(row)
    context = {
        "project": row.project,
        "run": row,
        "facts": facts,
        "may_author": may(actor, row.project, Right.AUTHOR),
    }
    response = render(request, "studio/parts/run_live.html", context)
    if not facts["open"]:
        response.status_code = STOP_POLLING
        response["HX-Trigger"] = "run-ended"
    return response


@require_safe
@page
def run_samples(request: HttpRequest, actor: Actor, project: str, number: int) -> HttpResponse:
    """One page of samples; asked for again while the run is open."""
    row = get_run(actor, get_project(actor, project), number)
    if not is_partial(request):
        return render(request, "studio/pages/run.html", _run_context(request, actor, row))
    return render(request, "studio/parts/sample_list.html", _run_context(request, actor, row))


def _run_context(request: HttpRequest, actor: Actor, run: Any) -> dict[str, Any]:
    chosen = {name: request.GET.get(name, "").strip() for name in ("ended", "q")}
    after = request.GET.get("after", "")
    facts = progress(run)
    listed = samples(
        actor,
        run,
        ended=chosen["ended"] or None,
        search=chosen["q"],
        after=whole_number(after, place="after") if after else None,
        limit=SAMPLES_SHOWN,
    )
    filters = urlencode({name: value for name, value in chosen.items() if value})
    return {
        "project": run.project,
        "run": run,
        "facts": facts,
        "samples": listed,
        "chosen": chosen,
        "after": after,
        "filters": f"{filters}&" if filters else "",
    }


@require_POST
@page
def run_cancel(request: HttpRequest, actor: Actor, project: str, number: int) -> HttpResponse:
    row = get_run(actor, get_project(actor, project), number)
    try:
        cancel(actor=actor, run=row)
    except Refusal as refusal:
        say(request, refusal)
    else:
        messages.success(request, "No further request goes out. What was answered is kept.")
    return redirect("studio:run", project=row.project.slug, number=row.number)


@require_POST
@page
def run_resume(request: HttpRequest, actor: Actor, project: str, number: int) -> HttpResponse:
    row = get_run(actor, get_project(actor, project), number)
    try:
        resume(actor=actor, run=row)
    except Refusal as refusal:
        say(request, refusal)
    else:
        messages.success(request, "Going on. Replies that were paid for are used again.")
    return redirect("studio:run", project=row.project.slug, number=row.number)
