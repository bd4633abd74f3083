"""The door that every request passes first: the protocol's are answered here, before any session,
CSRF or user middleware is entered.
"""

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from apps.harness.errors import BadRequest, UnknownAddress, WrongMethod, answer_error
from apps.harness.urls import Address, find_address
from apps.harness.visit import Visit


def answer_protocol(request: HttpRequest) -> HttpResponseBase | None:
    """The protocol's answer, or None for a path of another surface."""
    address = find_address(request.path_info)
    if address is None or (address.route is None and _is_a_person(request)):
        return None
    try:
        answer = _answer(request, address)
    except Exception as error:  # noqa: BLE001 -- whatever happened, a harness reads JSON
        return answer_error(error)
    if request.method == "HEAD" and isinstance(answer, HttpResponse):
        answer.content = b""
    return answer


def _answer(request: HttpRequest, address: Address) -> HttpResponseBase:
    visit = Visit(request, address.environment)
    if address.route is None:
        _ = visit.harness
        raise UnknownAddress("There is nothing at this address.")
    allowed = address.route.allowed
    if request.method == "OPTIONS":
        return HttpResponse(status=204, headers={"Allow": ", ".join((*allowed, "OPTIONS"))})
    if request.method not in allowed:
        detail = f"/{address.word} is asked with {allowed[0]}."
        raise WrongMethod(detail, {"Allow": ", ".join((*allowed, "OPTIONS"))})
    if address.is_bare and "HTTP_X_DEPLOYMENT" not in request.META:
        return _to_the_default_environment(visit, address)
    return address.route.view(visit)


def _to_the_default_environment(visit: Visit, address: Address) -> HttpResponse:
    """308 keeps the method and the body; the place is built from our own words alone."""
    query = visit.request.META.get("QUERY_STRING", "")
    if not query.isascii() or not query.isprintable():
        raise BadRequest("The query string is not ASCII.")
    place = f"/{visit.environment.slug}/{address.word}{'?' if query else ''}{query}"
    answer = HttpResponse(status=308, headers={"Location": place, "Content-Length": "0"})
    del answer["Content-Type"]
    return answer


def _is_a_person(request: HttpRequest) -> bool:
    """True for a browser that went astray: it gets the studio's page and not JSON."""
    has_key = "HTTP_X_API_KEY" in request.META or "HTTP_AUTHORIZATION" in request.META
    return not has_key and "text/html" in request.META.get("HTTP_ACCEPT", "")
