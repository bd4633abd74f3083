"""Requests made up from the API's own description: what it promises holds, and nothing is a 500."""

import zlib
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from apps.config.wsgi import application
from tests.cast import Cast

EXAMPLES = 6

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@schemathesis.serializer("application/x-ndjson")
def as_lines(context: schemathesis.SerializationContext, value: Any) -> bytes:
    return str(value).encode("utf-8", "surrogatepass")


@pytest.fixture
def one_connection() -> Iterator[None]:
    """Requests of this test share its transaction, as those of Django's own test client do."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


schema = schemathesis.openapi.from_wsgi("/api/schema/?format=json", application)


@schema.parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@pytest.mark.django_db
def test_made_up_requests_find_no_fault(
    case: schemathesis.Case, cast: Cast, names: dict[str, Any], one_connection: None
) -> None:
    """Half of the requests name things that are there; the others whatever was made up."""
    if zlib.crc32(repr(case.path_parameters).encode()) % 2:
        case.path_parameters = {
            name: names.get(name, made_up) for name, made_up in (case.path_parameters or {}).items()
        }
    headers = {"X-API-Key": cast.admin_key.secret}
    response = case.call(headers=headers)
    case.validate_response(response, checks=CHECKS)
