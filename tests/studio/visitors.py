"""People in front of the studio, and what their pages say."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from html import unescape

from django.db import connections
from django.http import HttpResponse
from django.test import Client

from apps.runs.models import Run
from apps.runs.playing import play

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


def play_aside(run: Run) -> None:
    """Play a run in another thread: the browser's event loop has this one."""

    def work() -> None:
        try:
            play(run.pk)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
