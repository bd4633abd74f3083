"""Server-sent events as the known clients read them.

They strip every data line on its left, give up on long lines, and take a stream that ends without
its last event for a dropped one, which they resume by ``task_id``. So results are ASCII JSON in
short pieces, and a space at the start of a piece is written as an escape.
"""

import logging
import threading
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import OperationalError
from django.http import StreamingHttpResponse
from django.utils import timezone

from apps.episodes.queries import result_of

if TYPE_CHECKING:
    from apps.episodes.models import ToolRun

logger = logging.getLogger(__name__)

PIECE = 4096
HEARTBEAT_SECONDS = 8.0
"""The clients give a silent stream up after 30 seconds, and call again."""

SHORT_WAIT_SECONDS = 1.0
_LONG_WAITS = threading.BoundedSemaphore(max(1, settings.WEB_THREADS - 1))
"""A waiting stream holds a thread of its process, so one thread is kept free of long waits."""

HEADERS = {"Cache-Control": "no-cache, no-store", "X-Accel-Buffering": "no"}
WAITING = b": waiting\n\n"
FAILED = "The server failed at this call."


class _NoThreadToWait(Exception):
    """A stream ends early because it may not hold its thread any longer."""


def stream(events: Iterable[bytes]) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        iter(events), content_type="text/event-stream; charset=utf-8", headers=HEADERS
    )


def event(name: str, data: str) -> bytes:
    """One event; ``data`` is one line of text."""
    return f"event: {name}\ndata: {data}\n\n".encode()


def one_line(text: str) -> str:
    """``text`` as the data of an event that is read by people."""
    return " ".join(text.split())[:1000] or FAILED


def result_events(text: str) -> Iterator[bytes]:
    """``text`` (ASCII JSON) in pieces, the last one in ``end``."""
    pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    for number, piece in enumerate(pieces, start=1):
        shown = f"\\u0020{piece[1:]}" if piece.startswith(" ") else piece
        yield event("end" if number == len(pieces) else "chunk", shown)


def call_events(run: "ToolRun") -> Iterator[bytes]:
    """The stream of one call: its id at once, its result when it is ready.

    The call itself is settled already, so it does not matter whether anybody still listens.
    """
    yield event("task_id", run.task_id)
    try:
        yield from _until_ready(run)
        yield from _outcome(run)
    except _NoThreadToWait:
        return  # Without an end the client asks again by the id, half a second later.
    except OperationalError as error:
        logger.warning("A call waits for its client to resume it: %s", error)
    except Exception:
        logger.exception("A call could not be told")
        yield event("error", FAILED)


def _until_ready(run: "ToolRun") -> Iterator[bytes]:
    """Wait for the run's time. `_NoThreadToWait` if too many others are waiting already."""
    missing = _seconds_to(run)
    if missing <= SHORT_WAIT_SECONDS:
        if missing > 0:
            time.sleep(missing)
        return
    if not _LONG_WAITS.acquire(blocking=False):
        raise _NoThreadToWait
    try:
        while (missing := _seconds_to(run)) > 0:
            if missing > HEARTBEAT_SECONDS:
                yield WAITING
            time.sleep(min(missing, HEARTBEAT_SECONDS))
    finally:
        _LONG_WAITS.release()


def _seconds_to(run: "ToolRun") -> float:
    return (run.ready_at - timezone.now()).total_seconds()


def _outcome(run: "ToolRun") -> Iterator[bytes]:
    result = result_of(run)
    if result.error:
        yield event("error", one_line(result.error))
    else:
        yield from result_events(result.output)
