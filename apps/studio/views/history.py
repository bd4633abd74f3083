"""A task's history: its revisions, what each changed, and going back to one."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.errors import Conflict, Invalid
from apps.accounts.permissions import Actor, Right, may
from apps.accounts.queries import get_project
from apps.studio.doors import page
from apps.studio.errors import sentence_of
from apps.studio.paging import walk_down, whole_number
from apps.tasks import actions
from apps.tasks.comparison import TurnChange, compare
from apps.tasks.content import TaskContent
from apps.tasks.queries import content_of, get_environment, get_revision, get_task, revisions

LINES = 50
PARENT, CURRENT = "parent", "current"


@require_safe
@page
def history(
    request: HttpRequest, actor: Actor, project: str, environment: str, pk: int
) -> HttpResponse:
    """The revisions, and what the current one changed; for htmx the list alone."""
    task = _task(actor, project, environment, pk)
    if getattr(request, "htmx", False):
        context = _list(request, actor, task)
        return render(request, "studio/parts/revision_list.html", context)
    return _show(request, actor, task, task.current)


@require_safe
@page
def revision(
    request: HttpRequest, actor: Actor, project: str, environment: str, pk: int, number: int
) -> HttpResponse:
    """One revision beside its parent, the current one, or any other (``?against=``)."""
    task = _task(actor, project, environment, pk)
    return _show(request, actor, task, get_revision(actor, task, number))


@require_POST
@page
def restore(
    request: HttpRequest, actor: Actor, project: str, environment: str, pk: int, number: int
) -> HttpResponse:
    """Make an old revision's content current again, as a new revision."""
    row = get_environment(actor, get_project(actor, project), environment, Right.AUTHOR)
    task = get_task(actor, row, pk)
    base = whole_number(request.POST.get("base", ""), place="base")
    place = [row.project.slug, row.slug, task.pk]
    try:
        saved = actions.restore_revision(actor=actor, task=task, number=number, base=base)
    except (Conflict, Invalid) as refusal:
        messages.error(request, f"Not restored. {sentence_of(refusal)}")
        return redirect("studio:revision", *place, number)
    if saved.number == base:
        messages.success(request, f"Revision {number} has the same content as the current one.")
    else:
        messages.success(
            request, f"Revision {number} is current again, as revision {saved.number}."
        )
    return redirect("studio:task_history", *place)


def _task(actor: Actor, project: str, environment: str, pk: int) -> Any:
    return get_task(actor, get_environment(actor, get_project(actor, project), environment), pk)


def _list(request: HttpRequest, actor: Actor, task: Any, shown: int = 0) -> dict[str, Any]:
    before = request.GET.get("before", "")
    return {
        "project": task.environment.project,
        "environment": task.environment,
        "task": task,
        "walked": walk_down(revisions(actor, task), by="number", before=before, size=LINES),
        "shown": shown,
    }


def _show(request: HttpRequest, actor: Actor, task: Any, shown: Any) -> HttpResponse:
    against = request.GET.get("against", PARENT)
    other = _other(actor, task, shown, against)
    comparison = compare(content_of(other) if other else TaskContent(), content_of(shown))
    context = {
        **_list(request, actor, task, shown.number),
        "revision": shown,
        "other": other,
        "against": against,
        "comparison": comparison,
        "runs": _runs(comparison.turns),
        "may_restore": may(actor, task.environment.project, Right.AUTHOR)
        and shown.number != task.current.number,
    }
    return render(request, "studio/pages/task_history.html", context)


def _other(actor: Actor, task: Any, shown: Any, against: str) -> Any:
    """The revision to compare with; None for the first one, which began from nothing."""
    match against:
        case "parent":
            return None if shown.number == 1 else get_revision(actor, task, shown.number - 1)
        case "current":
            return task.current
        case _:
            return get_revision(actor, task, whole_number(against, place="against"))


def _runs(turns: tuple[TurnChange, ...]) -> list[dict[str, Any]]:
    """Changed turns one by one, unchanged ones in a row together."""
    runs: list[dict[str, Any]] = []
    for turn in turns:
        same = turn.change == "same"
        if runs and same and runs[-1]["same"]:
            runs[-1]["turns"].append(turn)
        else:
            runs.append({"same": same, "turns": [turn]})
    return runs
