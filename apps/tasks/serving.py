"""What harnesses ask for all the time, read by one prepared statement each.

The ORM takes four fifths of the time of such a read to write its SQL, and an episode makes a dozen
of them; so these few are written by hand (measured by `make bench`, part episodes). Everything
else about tasks is in `queries`.
"""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import connection

from apps.accounts.errors import NotFound
from apps.accounts.models import Project
from apps.accounts.permissions import Actor, Right, require
from apps.dialogue.blocks.json_values import text_fault
from apps.tasks.models import Environment, Tool

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ServedSplit:
    """A split of an environment; ``pk`` is None if the environment has none of that name."""

    project_id: int
    environment_id: int
    pk: int | None
    ready_count: int


@dataclass(frozen=True, slots=True)
class ServedTask:
    """A ready task and the revision that is current now."""

    project_id: int
    environment_id: int
    key: str
    revision_id: int


@dataclass(frozen=True, eq=False)
class ServedEnvironment:
    """An environment and its tools as they are now. As long as nothing changes it is one object.

    The rows hold what serving needs and are not complete: they are not for saving.
    """

    environment: Environment
    tools: tuple[Tool, ...]


@dataclass(frozen=True, slots=True)
class GradingTexts:
    """What of a revision decides over a call, as JSON texts; empty where there is none."""

    content: str
    grader: str
    scripted: str


def _rows(statement: str, parameters: list[Any]) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        found: list[Row] = cursor.fetchall()
    return found


_SPLIT = """
    SELECT e.id, s.id, s.ready_count
    FROM tasks_environment e LEFT JOIN tasks_split s ON s.environment_id = e.id AND s.name = %s
    WHERE e.project_id = %s AND {which}
"""
_SPLIT_OF_NAMED = _SPLIT.format(which="e.slug = %s")
_SPLIT_OF_DEFAULT = _SPLIT.format(which="e.is_default")
_TASK_AT = """
    SELECT t.key, t.current_id FROM tasks_task t
    WHERE t.split_id = %s AND t.status = 'ready' ORDER BY t.position, t.id LIMIT 1 OFFSET %s
"""
_TASK_OF_KEY = """
    SELECT t.key, t.current_id FROM tasks_task t
    WHERE t.environment_id = %s AND t.key = %s AND t.status = 'ready'
"""
_ENVIRONMENT = """
    SELECT e.id, e.project_id, e.slug, e.offers_submit, e.supports_score_group, e.scorers,
           t.id, t.name, t.kind, t.is_terminal, t.argument, t.ends_episode, t.description,
           t.input_schema, t.config
    FROM tasks_environment e LEFT JOIN tasks_tool t ON t.environment_id = e.id
    WHERE e.id = %s ORDER BY t.position, t.id
"""
_GRADING = "SELECT r.content, r.grader, r.scripted FROM tasks_revision r WHERE r.id = %s"


def served_split(
    actor: Actor, project: Project, environment: str | None, split: str
) -> ServedSplit:
    """The split of an environment in whatever case, or of the default one; else `NotFound`."""
    require(actor, project, Right.SERVE)
    name = "" if text_fault(split) else split
    if environment is None:
        found = _rows(_SPLIT_OF_DEFAULT, [name, project.pk])
    else:
        slug = "" if text_fault(environment) else environment.lower()
        found = _rows(_SPLIT_OF_NAMED, [name, project.pk, slug])
    if not found:
        wanted = "default environment" if environment is None else f"{environment[:64]!r}"
        raise NotFound(f"There is no {wanted} in {project.slug!r}.", place="environment")
    environment_id, pk, ready_count = found[0]
    return ServedSplit(project.pk, environment_id, pk, ready_count or 0)


def served_task_at(split: ServedSplit, index: int) -> ServedTask | None:
    """The task number ``index`` (0-based) of a split that its reader was allowed to find."""
    if split.pk is None or not 0 <= index < split.ready_count:
        return None
    return _served(split, _rows(_TASK_AT, [split.pk, index]))


def served_task_by_key(split: ServedSplit, key: str) -> ServedTask | None:
    """The task of that key in the environment of ``split``, whatever its own split."""
    if text_fault(key):
        return None
    return _served(split, _rows(_TASK_OF_KEY, [split.environment_id, key]))


def _served(split: ServedSplit, found: list[Row]) -> ServedTask | None:
    if not found or found[0][1] is None:
        return None
    key, revision_id = found[0]
    return ServedTask(split.project_id, split.environment_id, key, revision_id)


def served_environment(environment_id: int) -> ServedEnvironment:
    """The environment of a session that its reader was allowed to find."""
    return _environment(tuple(_rows(_ENVIRONMENT, [environment_id])))


@lru_cache(maxsize=256)
def _environment(rows: tuple[Row, ...]) -> ServedEnvironment:
    """Kept by what was read, so a change is seen at once and nothing is built twice."""
    pk, project_id, slug, offers_submit, supports_score_group, scorers = rows[0][:6]
    environment = Environment(
        pk=pk,
        project_id=project_id,
        slug=slug,
        offers_submit=bool(offers_submit),
        supports_score_group=bool(supports_score_group),
        scorers=_loaded(scorers),
    )
    return ServedEnvironment(environment, tuple(_tool(row[6:]) for row in rows if row[6]))


def _tool(row: Row) -> Tool:
    pk, name, kind, is_terminal, argument, ends_episode, description, schema, config = row
    return Tool(
        pk=pk,
        name=name,
        kind=kind,
        is_terminal=bool(is_terminal),
        argument=argument,
        ends_episode=bool(ends_episode),
        description=description,
        input_schema=schema,
        config=_loaded(config),
    )


def _loaded(column: Any) -> Any:
    """A JSON column, which the databases hand out as text."""
    return json.loads(column) if isinstance(column, str) else column


def grading_texts(revision_id: int) -> GradingTexts:
    """The texts of a session's revision, which never change."""
    return GradingTexts(*_rows(_GRADING, [revision_id])[0])
