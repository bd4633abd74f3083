"""The door of every studio page: who asks is known, and what is refused is answered."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache

from apps.accounts.errors import Refusal
from apps.accounts.permissions import Actor
from apps.dialogue.errors import DialogueError
from apps.studio.errors import answer, answer_as_json
from apps.studio.frame import actor_of

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]
Page = Callable[Concatenate[HttpRequest, Actor, P], HttpResponse]


def _guarded(view: View[P]) -> View[P]:
    """For signed-in people only, and never out of a browser's or proxy's memory."""
    return never_cache(login_required(view))


def page(view: Page[P]) -> View[P]:
    """A view for signed-in people; it is handed the `Actor` and may raise any refusal."""

    @wraps(view)
    def opened(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return view(request, actor_of(request), *args, **kwargs)
        except (Refusal, DialogueError) as problem:
            return answer(request, problem)

    return _guarded(opened)


def exchange(view: Page[P]) -> View[P]:
    """Like `page`, for a module that sends and receives JSON: refusals are JSON too."""

    @wraps(view)
    def opened(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return view(request, actor_of(request), *args, **kwargs)
        except (Refusal, DialogueError) as problem:
            return answer_as_json(problem)

    return _guarded(opened)
