"""The ids of sessions that are not bound yet.

An id is signed for the key that opened it, so opening a session writes nothing, no client can
invent one, and any process recognizes it. The row is made when the id is bound to a task.
"""

import re
import secrets
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

from apps.accounts.errors import Gone, NotFound

OPEN_FOR = timedelta(minutes=15)
SHAPE = re.compile(r"[A-Za-z0-9_-]{16}[0-9a-f]{8}[0-9a-f]{24}")
"""16 random characters, the second it was issued in, a signature."""


def issue(key_id: int) -> str:
    """A fresh id that the key ``key_id`` may bind within `OPEN_FOR`."""
    value = f"{secrets.token_urlsafe(12)}{int(timezone.now().timestamp()):08x}"
    return value + _signature(value, key_id, settings.SECRET_KEY)


def check(sid: str, key_id: int) -> None:
    """Raise `NotFound` unless the id was issued to this key, `Gone` if that is too long ago."""
    if not SHAPE.fullmatch(sid) or not _is_signed(sid, key_id):
        raise NotFound("There is no such session; open one with /create_session.", place="sid")
    if timezone.now() - datetime.fromtimestamp(int(sid[16:24], 16), UTC) > OPEN_FOR:
        raise Gone("This session was opened too long ago; open another one.", place="sid")


def _is_signed(sid: str, key_id: int) -> bool:
    secrets_in_use = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return any(
        constant_time_compare(sid[24:], _signature(sid[:24], key_id, secret))
        for secret in secrets_in_use
    )


def _signature(value: str, key_id: int, secret: str | bytes) -> str:
    signed = salted_hmac("episodes.sid", f"{value}:{key_id}", secret, algorithm="sha256")
    return signed.hexdigest()[:24]
