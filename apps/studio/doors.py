"""The door of every studio page: who asks is known, and what is refused is answered."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from django.views.decorators.cache import never_cache

from apps.accounts.errors import Refusal
from apps.accounts.permissions import Actor
from apps.dialogue.errors import DialogueError
from apps.studio.errors import answer, answer_as_json
from apps.studio.frame import actor_of, is_partial

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]
Page = Callable[Concatenate[HttpRequest, Actor, P], HttpResponseBase]


def _guarded(view: View[P]) -> View[P]:
    """For signed-in people only, and never out of a browser's or proxy's memory."""
    asked_for_sign_in = login_required(view)

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if is_partial(request) and not request.user.is_authenticated:
            return _sign_in_again(request)
        return asked_for_sign_in(request, *args, **kwargs)

    return never_cache(guarded)


def _sign_in_again(request: HttpRequest) -> HttpResponse:
    """A part of a page cannot be the sign-in: the whole page goes there, and comes back."""
    here = urlsplit(request.headers.get("HX-Current-URL", ""))
    back = f"{here.path}?{here.query}" if here.query else here.path or "/"
    address = f"{resolve_url(settings.LOGIN_URL)}?{urlencode({'next': back})}"
    return HttpResponse(
        "Your session has ended.",
        status=401,
        content_type="text/plain",
        headers={"HX-Redirect": address},
    )


def page(view: Page[P]) -> View[P]:
    """A view for signed-in people; it is handed the `Actor` and may raise any refusal."""

    @wraps(view)
    def opened(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        try:
            return view(request, actor_of(request), *args, **kwargs)
        except (Refusal, DialogueError) as problem:
            return answer(request, problem)

    return _guarded(opened)


def exchange(view: Page[P]) -> View[P]:
    """Like `page`, for a module that sends and receives JSON: refusals are JSON too."""

    @wraps(view)
    def opened(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        try:
            return view(request, actor_of(request), *args, **kwargs)
        except (Refusal, DialogueError) as problem:
            return answer_as_json(problem)

    return _guarded(opened)
