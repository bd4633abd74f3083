"""The two forms of an answer that is not a stream."""

import json
from typing import Any

from django.http import HttpResponse

JSON_TYPE = "application/json"


def json_bytes(value: Any) -> bytes:
    """``value`` as compact UTF-8 JSON."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def json_answer(value: Any, *, status: int = 200) -> HttpResponse:
    return ready_answer(json_bytes(value), status=status)


def ready_answer(body: bytes, *, status: int = 200) -> HttpResponse:
    """JSON that is ready to send. No middleware comes after us, so its length is told here."""
    answer = HttpResponse(body, status=status, content_type=JSON_TYPE)
    answer["Content-Length"] = str(len(body))
    return answer
