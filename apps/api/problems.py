"""All errors of the API leave through here, in one shape (RFC 9457)."""

from typing import Any

from rest_framework.response import Response


def problem_response(error: Exception, context: dict[str, Any]) -> Response | None:
    return None
