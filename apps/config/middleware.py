"""The two doors every request passes."""

import secrets
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from apps.harness.door import answer_protocol

type_of_next = Callable[[HttpRequest], HttpResponseBase]


class ProtocolFirst:
    """Harness requests are answered before any session, CSRF or user middleware is entered."""

    def __init__(self, get_response: type_of_next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        answer = answer_protocol(request)
        return self.get_response(request) if answer is None else answer


class ContentSecurityPolicy:
    """No inline script, nothing from anywhere else; styles may carry this request's nonce."""

    def __init__(self, get_response: type_of_next) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request.csp_nonce = secrets.token_urlsafe(16)  # type: ignore[attr-defined]
        response = self.get_response(request)
        if isinstance(response, HttpResponse) and "Content-Security-Policy" not in response:
            response["Content-Security-Policy"] = (
                "default-src 'none'; script-src 'self'; "
                f"style-src 'self' 'nonce-{request.csp_nonce}'; "  # type: ignore[attr-defined]
                "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; "
                "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
            )
        return response
