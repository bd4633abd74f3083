"""The scripted demo model over HTTP, in OpenAI's shapes. No key: nothing here costs or is kept."""

import json
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from apps.accounts.errors import Refusal
from apps.api.parsing import parse_json
from apps.providers.demo import LABEL, MODELS, chat_completion


@csrf_exempt
def chat_completions(request: HttpRequest) -> HttpResponse:
    """``POST /demo/v1/chat/completions``; streaming is refused by name."""
    if request.method != "POST":
        return _error(405, "This address takes POST alone.", allow="POST")
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    raw = request.read(limit + 1)
    if len(raw) > limit:
        return _error(413, f"The body is larger than {limit // 2**20} MiB.")
    try:
        body = parse_json(raw)
    except Refusal as refusal:
        place = f" ({refusal.place})" if refusal.place else ""
        return _error(400, refusal.message + place)
    status, payload = chat_completion(body)
    return _json(status, payload)


@csrf_exempt
def models(request: HttpRequest) -> HttpResponse:
    """``GET /demo/v1/models``: each behaviour is a model."""
    if request.method not in {"GET", "HEAD"}:
        return _error(405, "This address takes GET alone.", allow="GET, HEAD")
    rows = [
        {
            "id": name,
            "object": "model",
            "created": 0,
            "owned_by": "turnwright",
            "description": scripted.description,
        }
        for name, scripted in MODELS.items()
    ]
    return _json(200, {"object": "list", "data": rows, "scripted": LABEL})


@csrf_exempt
def unknown(request: HttpRequest) -> HttpResponse:
    return _error(404, f"There is nothing at {request.path[:200]}; this demo has chat/completions.")


def _error(status: int, message: str, *, allow: str = "") -> HttpResponse:
    detail = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    response = _json(status, {"error": detail})
    if allow:
        response["Allow"] = allow
    return response


def _json(status: int, payload: dict[str, Any]) -> HttpResponse:
    """ASCII JSON: whatever a request said can be quoted."""
    return HttpResponse(json.dumps(payload), status=status, content_type="application/json")
