"""Projects: the list, a new one, and the page of one with its environments."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.actions import create_project
from apps.accounts.errors import Refusal
from apps.accounts.permissions import Actor
from apps.accounts.queries import get_project, visible_projects
from apps.studio.doors import page
from apps.studio.errors import show_on_form
from apps.studio.forms.projects import ProjectForm
from apps.tasks.queries import environments


@require_safe
@page
def home(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The only project a person has, else the list of them."""
    projects = list(visible_projects(actor)[:2])
    if len(projects) == 1:
        return redirect("studio:project", project=projects[0].slug)
    return redirect("studio:projects")


@require_safe
@page
def projects(request: HttpRequest, actor: Actor) -> HttpResponse:
    return render(request, "studio/pages/projects.html", {"projects": visible_projects(actor)})


@require_http_methods(["GET", "HEAD", "POST"])
@page
def project_new(request: HttpRequest, actor: Actor) -> HttpResponse:
    form = ProjectForm(request.POST or None)
    if form.is_valid():
        try:
            made = create_project(actor=actor, **form.cleaned_data)
        except Refusal as refusal:
            show_on_form(form, refusal)
        else:
            messages.success(request, f"The project {made.name} is ready.")
            return redirect("studio:project", project=made.slug)
    status = 422 if form.errors else 200
    return render(request, "studio/pages/project_new.html", {"form": form}, status=status)


@require_safe
@page
def project(request: HttpRequest, actor: Actor, project: str) -> HttpResponse:
    """One project: its environments, and what to do first when it has none."""
    row = get_project(actor, project)
    context = {"project": row, "environments": environments(actor, row)}
    return render(request, "studio/pages/project.html", context)
