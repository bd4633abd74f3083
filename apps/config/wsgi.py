"""The WSGI application that granian serves."""

import os
from collections.abc import Iterable
from typing import Any, Final

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")

MOST_LEFT_OVER: Final = 2**20
"""Bytes: of a longer body that nobody wanted the rest is not read."""

_django = get_wsgi_application()
# Addresses and views are loaded before the first request rather than by it: a worker that is not
# ready yet takes no request.
get_resolver().url_patterns  # noqa: B018


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Django, and then the rest of the request.

    A refusal often needs no body. What is left unread of one makes the server close a connection
    that the client believes to be open, and its next request on it would be lost.
    """
    answer: Iterable[bytes] = _django(environ, start_response)
    length = environ.get("CONTENT_LENGTH") or ""
    if length.isdecimal() and 0 < int(length) <= MOST_LEFT_OVER:
        environ["wsgi.input"].read(MOST_LEFT_OVER)
    return answer
