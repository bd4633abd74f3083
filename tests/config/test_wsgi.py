"""What is done for every request around Django."""

import io
from wsgiref.util import setup_testing_defaults

import pytest

from apps.config import wsgi

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["/nowhere/tasks", "/api/v1/projects/"])
def test_the_body_of_a_refused_request_is_read_so_that_the_connection_lives(path: str) -> None:
    body = io.BytesIO(b'{"split": "test"}')
    statuses: list[str] = []
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": path,
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body.getvalue())),
        "wsgi.input": body,
    }
    setup_testing_defaults(environ)
    b"".join(wsgi.application(environ, lambda status, *_: statuses.append(status)))
    assert statuses == ["401 Unauthorized"]
    assert body.read() == b""


def test_a_large_body_that_nobody_wants_is_not_read() -> None:
    body = io.BytesIO(b"a" * (wsgi.MOST_LEFT_OVER + 1))
    environ = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/nowhere/tasks",
        "CONTENT_LENGTH": str(len(body.getvalue())),
        "wsgi.input": body,
    }
    setup_testing_defaults(environ)
    b"".join(wsgi.application(environ, lambda *_: None))
    assert body.tell() == 0
