"""Who is asking the management API: a key, or a person signed in to the studio."""

from rest_framework.authentication import BaseAuthentication, SessionAuthentication


class KeyAuthentication(BaseAuthentication):
    pass


class StudioSessionAuthentication(SessionAuthentication):
    pass
