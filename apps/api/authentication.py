"""Who is asking the management API: a key, or a person signed in to the studio.

Both leave the asking `Actor` in ``request.auth``; a view passes it on and decides nothing itself.
"""

from typing import Any

from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.request import Request

from apps.accounts.actions import note_key_use
from apps.accounts.permissions import Actor
from apps.accounts.queries import key_for


class KeyHolder:
    """The "user" of a request that came with an API key: nobody in person."""

    is_authenticated = True
    is_active = True


class KeyAuthentication(BaseAuthentication):
    """``X-API-Key: tw_...`` or ``Authorization: Bearer tw_...``."""

    def authenticate(self, request: Request) -> tuple[KeyHolder, Actor] | None:
        secret = _key_in(request)
        if secret is None:
            return None
        key = key_for(secret)
        if key is None:
            raise AuthenticationFailed("This API key is unknown, revoked or expired.")
        note_key_use(key=key)
        return KeyHolder(), Actor(api_key=key)

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="Turnwright"'


class StudioSessionAuthentication(SessionAuthentication):
    """The cookie of the studio; whatever changes something needs its CSRF token too."""

    def authenticate(self, request: Request) -> tuple[Any, Actor] | None:
        found = super().authenticate(request)
        if found is None:
            return None
        user = found[0]
        return user, Actor(user=user)


def actor_of(request: Request) -> Actor:
    """Who asks; raises `NotAuthenticated` (401) when nobody does."""
    if not isinstance(request.auth, Actor):
        raise NotAuthenticated
    return request.auth


def _key_in(request: Request | HttpRequest) -> str | None:
    if given := request.META.get("HTTP_X_API_KEY"):
        return str(given).strip()
    scheme, _, rest = str(request.META.get("HTTP_AUTHORIZATION", "")).partition(" ")
    return rest.strip() if scheme.lower() == "bearer" else None
