"""The studio's one door for errors: problem pages, messages for htmx, errors beside a field.

Refusals of the rooms and errors of the dialogue floor become, for a whole page, a page that says
what happened and where to go; for an htmx request, one plain sentence that the frame shows; for a
form, an error beside the field it names.
"""

import sys
from collections.abc import Mapping
from http import HTTPStatus

from django.contrib import messages
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from apps.accounts.errors import DISK_FULL, Forbidden, NotFound, Refusal, is_disk_full
from apps.dialogue.errors import DialogueError
from apps.studio.frame import is_partial

Problem = Refusal | DialogueError

TITLES = {
    400: "This request could not be read",
    403: "You may not do this",
    404: "There is nothing here",
    405: "This address does not take that",
    409: "Somebody else was faster",
    410: "This has ended",
    413: "This is too large",
    422: "This could not be accepted",
    429: "Too many attempts",
    500: "Something broke on our side",
    507: "The disk is full",
}


def status_of(problem: Problem) -> int:
    """The HTTP status a problem leaves with."""
    return problem.status if isinstance(problem, Refusal) else HTTPStatus.UNPROCESSABLE_ENTITY


def sentence_of(problem: Problem) -> str:
    """What went wrong, with its place, in one sentence."""
    if isinstance(problem, DialogueError):
        return str(problem)
    # A refusal of one field begins in the middle of a sentence whose subject is that field.
    is_fragment = problem.place and problem.message[:1].islower()
    return f"{problem.place} {problem.message}" if is_fragment else problem.message


def answer(request: HttpRequest, problem: Problem) -> HttpResponse:
    """A page, or for htmx one plain sentence, that says why the request was refused."""
    return problem_page(request, status_of(problem), sentence_of(problem))


def answer_as_json(problem: Problem) -> JsonResponse:
    """``{"message", "place"}`` for a module of ours, which shows it where it belongs."""
    said = {"message": problem.message, "place": problem.place}
    return JsonResponse(said, status=status_of(problem))


def problem_page(request: HttpRequest, status: int, sentence: str) -> HttpResponse:
    if is_partial(request):
        return HttpResponse(sentence, status=status, content_type="text/plain; charset=utf-8")
    context = {"status": status, "heading": TITLES.get(status, TITLES[400]), "sentence": sentence}
    return render(request, "studio/pages/problem.html", context, status=status)


def show_on_form(form: BaseForm, problem: Problem, places: Mapping[str, str] | None = None) -> None:
    """Put a problem beside the field its place names, else above the form.

    ``places`` maps places of the rooms to names of this form's fields where the two differ; a
    place inside a field (``scorers[0].type``) belongs to that field and stays in the sentence.
    A right that is missing is no matter of the form: it is raised on.
    """
    if isinstance(problem, Forbidden):
        raise problem
    root = problem.place.split("[")[0].split(".")[0]
    field = (places or {}).get(problem.place) or (places or {}).get(root) or root
    known = field in form.fields
    shown = problem.message if known and problem.place in {field, root} else sentence_of(problem)
    form.add_error(field if known else None, shown)


def say(request: HttpRequest, problem: Problem) -> None:
    """Say on the next page why something was not done; what is not allowed is raised on."""
    if isinstance(problem, Forbidden | NotFound):
        raise problem
    messages.error(request, sentence_of(problem))


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return problem_page(request, 400, "The request was malformed or too large; nothing changed.")


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return problem_page(request, 403, "Your account does not have the right to do this.")


def page_not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return problem_page(request, 404, "There is no page at this address.")


def server_error(request: HttpRequest) -> HttpResponse:
    """A page that asks nothing of the database, which may be what broke."""
    status = 500
    sentence = "The request was not completed. It has been logged; trying again may help."
    if is_disk_full(sys.exc_info()[1]):
        status, sentence = 507, DISK_FULL
    if is_partial(request):
        return problem_page(request, status, sentence)
    context = {"heading": TITLES[status], "sentence": sentence}
    return render(request, "studio/pages/broken.html", context, status=status)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    sentence = (
        "The form was open for too long, or cookies are blocked; nothing was changed. Go back, "
        "reload the page and send it again."
    )
    return problem_page(request, 403, sentence)


def too_many_requests(request: HttpRequest) -> HttpResponse:
    return problem_page(request, 429, "Wait a few minutes, then try again.")
