"""People in front of the studio, and what their pages say."""

import re
from collections.abc import Callable
from html import unescape

from django.http import HttpResponse
from django.test import Client

Visitor = Callable[[str], Client]

HTMX = {"HX-Request": "true"}
BROWSER = {"Accept": "text/html,application/xhtml+xml"}
"""What a browser sends; without it an unknown address belongs to the protocol."""


def words(response: HttpResponse) -> str:
    """The visible text of a page, spaces collapsed."""
    html = response.content.decode()
    html = re.sub(r"<(script|style|head)\b.*?</\1>", " ", html, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def tags(response: HttpResponse, name: str) -> list[str]:
    """The opening tags of that name."""
    return re.findall(rf"<{name}\b[^>]*>", response.content.decode())
