"""Paths below ``/api/`` that are nothing."""

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from django.views.decorators.csrf import csrf_exempt

from apps.api.problems import plain_problem_response


@csrf_exempt
def unknown_address(request: HttpRequest) -> HttpResponse:
    """A problem (404); where only the closing slash is missing, it says so."""
    detail = f"There is nothing at {request.path}."
    if _is_address(request.path_info + "/"):
        detail += f" Did you mean {request.path}/ ?"
    else:
        detail += " The addresses are listed at /api/docs/."
    return plain_problem_response(Http404(detail))


def _is_address(path: str) -> bool:
    try:
        return resolve(path).func is not unknown_address
    except Resolver404:
        return False
