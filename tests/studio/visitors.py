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
from apps.tasks.actions.import_work import work_on
from apps.tasks.models import Import

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
    _aside(lambda: play(run.pk))


def work_aside(imported: Import) -> None:
    """Do the open step of an import in another thread, as a worker would."""
    _aside(lambda: work_on(imported.pk, lambda: False))


def _aside(job: Callable[[], object]) -> None:
    def work() -> None:
        try:
            job()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()
