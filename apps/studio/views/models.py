"""Model endpoints: the list, making and changing one, and trying whether it answers."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.errors import Refusal
from apps.accounts.permissions import Actor, Right
from apps.accounts.queries import get_project
from apps.providers.actions import (
    archive_endpoint,
    create_endpoint,
    setting_faults,
    test_endpoint,
    update_endpoint,
)
from apps.providers.queries import endpoints, get_endpoint
from apps.studio.doors import page
from apps.studio.errors import show_on_form
from apps.studio.forms.models import EndpointForm
from apps.studio.frame import is_partial


@require_safe
@page
def models(request: HttpRequest, actor: Actor, project: str) -> HttpResponse:
    row = get_project(actor, project)
    context = {"project": row, "endpoints": endpoints(actor, row)}
    return render(request, "studio/pages/models.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@page
def model_new(request: HttpRequest, actor: Actor, project: str) -> HttpResponse:
    row = get_project(actor, project, Right.ADMINISTER)
    form = EndpointForm(request.POST or None)
    if form.is_valid():
        try:
            made = create_endpoint(actor=actor, project=row, **form.settings())
        except Refusal as refusal:
            show_on_form(form, refusal)
        else:
            messages.success(request, f"The endpoint {made.key} is ready. Test it.")
            return redirect("studio:model", project=row.slug, key=made.key)
    return _form_page(request, row, form, None)


def _form_page(
    request: HttpRequest, project: Any, form: EndpointForm, endpoint: Any
) -> HttpResponse:
    """The form; if it was refused, with everything that is wrong in it and not only the first."""
    if form.errors:
        for fault in setting_faults(**form.given()):
            if fault.place.split(".")[0].split("[")[0] not in form.errors:
                show_on_form(form, fault)
        form.ask_for_the_secret_again()
    context = {"project": project, "form": form, "endpoint": endpoint}
    status = 422 if form.errors else 200
    return render(request, "studio/pages/model.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@page
def model(request: HttpRequest, actor: Actor, project: str, key: str) -> HttpResponse:
    row = get_project(actor, project, Right.ADMINISTER)
    endpoint = get_endpoint(actor, row, key, right=Right.ADMINISTER)
    form = EndpointForm(request.POST or None, endpoint=endpoint)
    if form.is_valid():
        try:
            update_endpoint(actor=actor, endpoint=endpoint, **form.settings())
        except Refusal as refusal:
            show_on_form(form, refusal)
        else:
            messages.success(request, f"Saved {endpoint.key}.")
            return redirect("studio:model", project=row.slug, key=endpoint.key)
    return _form_page(request, row, form, endpoint)


@require_POST
@page
def model_archive(request: HttpRequest, actor: Actor, project: str, key: str) -> HttpResponse:
    row = get_project(actor, project, Right.ADMINISTER)
    archive_endpoint(actor=actor, endpoint=get_endpoint(actor, row, key))
    messages.success(request, f"{key} is put away and its secret forgotten.")
    return redirect("studio:models", project=row.slug)


@require_POST
@page
def model_test(request: HttpRequest, actor: Actor, project: str, key: str) -> HttpResponse:
    """Ask the saved endpoint one short question and show what came back."""
    row = get_project(actor, project)
    endpoint = get_endpoint(actor, row, key)
    result = test_endpoint(actor=actor, endpoint=endpoint)
    if is_partial(request):
        return render(request, "studio/parts/endpoint_test.html", {"result": result})
    if result.ok:
        messages.success(request, f"{key} answered: {result.reply}")
    else:
        messages.error(request, f"{key} did not answer ({result.reason}). {result.message}")
    return redirect("studio:models", project=row.slug)
