"""A project's settings: members and roles, API keys, the audit log."""

from typing import Any

from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.actions import create_api_key, remove_member, revoke_api_key, set_member
from apps.accounts.errors import NotFound, Refusal
from apps.accounts.permissions import Actor, Right, may
from apps.accounts.queries import api_keys, audit_entries, get_project, members
from apps.studio.doors import page
from apps.studio.errors import say, show_on_form
from apps.studio.forms.projects import ApiKeyForm, MemberForm, RoleForm
from apps.studio.frame import is_partial
from apps.studio.paging import walk_down, whole_number

AUDIT_LINES = 50


@require_safe
@page
def settings(request: HttpRequest, actor: Actor, project: str) -> HttpResponse:
    return _settings_page(request, actor, get_project(actor, project))


def _settings_page(
    request: HttpRequest,
    actor: Actor,
    project: Any,
    *,
    member_form: Form | None = None,
    key_form: Form | None = None,
    new_key: Any = None,
) -> HttpResponse:
    context: dict[str, Any] = {
        "project": project,
        "members": members(actor, project),
        "role_form": RoleForm(),
        "member_form": member_form or MemberForm(),
        "key_form": key_form or ApiKeyForm(),
        "new_key": new_key,
        "now": timezone.now(),
    }
    if may(actor, project, Right.ADMINISTER):
        context["keys"] = api_keys(actor, project)
        before = request.GET.get("before", "")
        context["audit"] = walk_down(
            audit_entries(actor, project), by="pk", before=before, size=AUDIT_LINES
        )
    forms = (form for form in (member_form, key_form) if form is not None)
    status = 422 if any(form.errors for form in forms) else 200
    return render(request, "studio/pages/settings.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@page
def member_add(request: HttpRequest, actor: Actor, project: str) -> HttpResponse:
    row = get_project(actor, project, Right.ADMINISTER)
    if request.method != "POST":
        return redirect("studio:settings", project=row.slug)
    form = MemberForm(request.POST)
    if form.is_valid():
        try:
            set_member(actor=actor, project=row, **form.cleaned_data)
        except Refusal as refusal:
            show_on_form(form, refusal)
        else:
            messages.success(request, f"{form.cleaned_data['username']} is a member now.")
            return redirect("studio:settings", project=row.slug)
    return _settings_page(request, actor, row, member_form=form)


@require_http_methods(["GET", "HEAD", "POST"])
@page
def member_change(request: HttpRequest, actor: Actor, project: str, username: str) -> HttpResponse:
    row = get_project(actor, project, Right.ADMINISTER)
    if request.method == "POST":
        role = request.POST.get("role", "")
        try:
            set_member(actor=actor, project=row, username=username, role=role)
        except Refusal as refusal:
            say(request, refusal)
        else:
            messages.success(request, f"{username} is {role} now.")
    return redirect("studio:settings", project=row.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@page
def member_remove(request: HttpRequest, actor: Actor, project: str, username: str) -> HttpResponse:
    """Ask, naming what will be lost; then end a membership."""
    row = get_project(actor, project, Right.ADMINISTER)
    found = [each for each in members(actor, row) if each.user.get_username() == username]
    if not found:
        raise NotFound(f"{username!r} is not a member of this project.", place="username")
    if request.method != "POST":
        return _question(request, row, member=found[0])
    try:
        remove_member(actor=actor, project=row, username=username)
    except Refusal as refusal:
        say(request, refusal)
    else:
        messages.success(request, f"{username} is no longer a member.")
    return redirect("studio:settings", project=row.slug)


def _question(request: HttpRequest, project: Any, **lost: Any) -> HttpResponse:
    """The question before a loss: for htmx a dialog, else a page of its own."""
    name = "parts/question_dialog.html" if is_partial(request) else "pages/question.html"
    return render(request, f"studio/{name}", {"project": project, **lost})


@require_http_methods(["GET", "HEAD", "POST"])
@page
def key_new(request: HttpRequest, actor: Actor, project: str) -> HttpResponse:
    """Make a key and show its text this one time: in this answer, never in a redirect."""
    row = get_project(actor, project, Right.ADMINISTER)
    if request.method != "POST":
        return redirect("studio:settings", project=row.slug)
    form = ApiKeyForm(request.POST)
    if form.is_valid():
        try:
            made = create_api_key(actor=actor, project=row, **form.cleaned_data)
        except Refusal as refusal:
            show_on_form(form, refusal)
        else:
            return _settings_page(request, actor, row, new_key=made)
    return _settings_page(request, actor, row, key_form=form)


@require_http_methods(["GET", "HEAD", "POST"])
@page
def key_revoke(request: HttpRequest, actor: Actor, project: str, pk: str) -> HttpResponse:
    """Ask, naming what will be lost; then end a key for good."""
    row = get_project(actor, project, Right.ADMINISTER)
    number = whole_number(pk, place="key")
    key = next((key for key in api_keys(actor, row) if key.pk == number), None)
    if key is None:
        raise NotFound("There is no such key in this project.", place="key")
    if request.method != "POST":
        return _question(request, row, key=key)
    revoke_api_key(actor=actor, key=key)
    messages.success(request, f"The key {key.name} no longer opens anything.")
    return redirect("studio:settings", project=row.slug)
