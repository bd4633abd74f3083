"""What there is to play: environments, their tools, splits and tasks."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

import apps
from apps.accounts.errors import NotFound
from apps.accounts.permissions import Right
from apps.harness.answers import JSON_TYPE, json_answer, json_bytes, ready_answer
from apps.harness.bodies import AtIndex, InRange, InSplit, read_body
from apps.harness.errors import BadRequest
from apps.harness.tool_list import tool_list
from apps.harness.visit import Visit
from apps.tasks.queries import environments, get_split, ready_specs, splits
from apps.tasks.serving import served_environment

if TYPE_CHECKING:
    from apps.tasks.models import Environment, Split

BATCH = 500
"""Task specs read at once; a listing of more is streamed."""


def health(visit: Visit) -> HttpResponse:
    return json_answer({"status": "ok"})


def version(visit: Visit) -> HttpResponse:
    return json_answer({"version": apps.__version__, "build_sha": os.environ.get("BUILD_SHA")})


def list_environments(visit: Visit) -> HttpResponse:
    """The slugs of the key's project, the default environment first."""
    rows = environments(visit.harness.actor, visit.harness.project, Right.SERVE)
    return json_answer([row.slug for row in sorted(rows, key=lambda row: not row.is_default)])


def list_tools(visit: Visit) -> HttpResponse:
    return ready_answer(tool_list(served_environment(visit.environment.pk)))


def list_splits(visit: Visit) -> HttpResponse:
    rows = splits(visit.harness.actor, visit.environment, Right.SERVE)
    return json_answer([{"name": row.name, "type": row.type} for row in rows])


def list_tasks(visit: Visit) -> HttpResponseBase:
    split = find_split(visit, visit.environment, read_body(visit.request, InSplit).split)
    return _listing(visit, split, 0, split.ready_count)


def num_tasks(visit: Visit) -> HttpResponse:
    split = find_split(visit, visit.environment, read_body(visit.request, InSplit).split)
    return json_answer({"num_tasks": split.ready_count})


def get_task(visit: Visit) -> HttpResponse:
    wanted = read_body(visit.request, AtIndex)
    split = find_split(visit, visit.environment, wanted.split)
    place = from_the_front(wanted.index, split.ready_count)
    specs = ready_specs(visit.harness.actor, visit.environment, split, place, place + 1)
    if not specs:
        raise no_such_index(split.ready_count)
    name = json_bytes(visit.environment.slug)
    return ready_answer(b'{"task":%b,"env_name":%b}' % (specs[0].encode(), name))


def get_task_range(visit: Visit) -> HttpResponseBase:
    wanted = read_body(visit.request, InRange)
    split = find_split(visit, visit.environment, wanted.split)
    start, stop, _ = slice(wanted.start, wanted.stop).indices(split.ready_count)
    return _listing(visit, split, start, stop)


def find_split(visit: Visit, environment: "Environment", name: str) -> "Split":
    """The split of that name; 400 if there is none, as 404 would mean the environment."""
    try:
        return get_split(visit.harness.actor, environment, name, Right.SERVE)
    except NotFound as error:
        raise BadRequest(error.message) from None


def from_the_front(index: int, count: int) -> int:
    """Indices are Python's: -1 is the last task; 400 beyond either end."""
    if not -count <= index < count:
        raise no_such_index(count)
    return index % count


def no_such_index(count: int) -> BadRequest:
    return BadRequest(f"The split has {count} tasks; there is none at this index.")


def _listing(visit: Visit, split: "Split", start: int, stop: int) -> HttpResponseBase:
    pieces = _pieces(visit, split, start, stop)
    if stop - start <= BATCH:
        return ready_answer(b"".join(pieces))
    return StreamingHttpResponse(pieces, content_type=JSON_TYPE)


def _pieces(visit: Visit, split: "Split", start: int, stop: int) -> Iterator[bytes]:
    yield b'{"tasks":['
    for at in range(start, stop, BATCH):
        end = min(at + BATCH, stop)
        specs = ready_specs(visit.harness.actor, visit.environment, split, at, end)
        yield (b"," if at > start and specs else b"") + ",".join(specs).encode()
    yield b'],"env_name":%b}' % json_bytes(visit.environment.slug)
