"""Which requests belong to the protocol, decided from the path alone."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase


def answer_protocol(request: HttpRequest) -> HttpResponseBase | None:
    """The protocol's answer, or None for a path of another surface."""
    return None
