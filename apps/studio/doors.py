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
from apps.studio.errors import answer
from apps.studio.frame import actor_of

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]
Page = Callable[Concatenate[HttpRequest, Actor, P], HttpResponse]


def page(view: Page[P]) -> View[P]:
    """A view for signed-in people; it is handed the `Actor` and may raise any refusal."""

    @wraps(view)
    def opened(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        try:
            return view(request, actor_of(request), *args, **kwargs)
        except (Refusal, DialogueError) as problem:
            return answer(request, problem)

    guarded: View[P] = never_cache(login_required(opened))
    return guarded
