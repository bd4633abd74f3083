"""Before a run is launched: which tasks the models would refuse. No call is made."""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from apps.accounts.models import Project
from apps.accounts.permissions import Actor, Right, require
from apps.dialogue.pairing import Problem
from apps.dialogue.solver.rehearsal import rehearse
from apps.dialogue.solver.spec import MultiTurnSolver, parse_task_spec, resolve
from apps.runs.actions import endpoints_for, revisions_to_play, values_for
from apps.runs.models import SolverSpec
from apps.tasks.models import Environment, Revision, Split

MOST_CHECKED: Final = 2000
LONGEST_CHECK: Final = 4.0
"""Tasks, and seconds, after which the rest is left to the run itself."""

MOST_SHOWN: Final = 20
_CHUNK: Final = 100


@dataclass(frozen=True, slots=True)
class RefusedTask:
    """A task, and the first of what is refused; ``certain`` if its sample cannot be played."""

    pk: int
    key: str
    problem: Problem
    certain: bool


@dataclass(slots=True)
class RunPreflight:
    """What a run would meet, of the first ``checked`` of ``total`` tasks.

    ``refused`` tasks cannot be sent: their samples end without a call. ``doubtful`` ones can, but
    an API answers them with an error, always or for some models. ``tasks`` are the first of both,
    refused ones in front.
    """

    model: str
    total: int
    checked: int = 0
    refused: int = 0
    doubtful: int = 0
    tasks: list[RefusedTask] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        return self.checked == self.total

    def take(self, pk: int, key: str, problems: Sequence[Problem]) -> None:
        """Count one rehearsed task; of both kinds the first are kept."""
        self.checked += 1
        if not problems:
            return
        first = min(problems, key=lambda each: each.severity != "error")
        certain = first.severity == "error"
        self.refused += certain
        self.doubtful += not certain
        if (self.refused if certain else self.doubtful) <= MOST_SHOWN:
            self.tasks.append(RefusedTask(pk, key, first, certain))


def preflight_run(
    *,
    actor: Actor,
    project: Project,
    environment: Environment,
    spec: SolverSpec,
    evaluated: str,
    split: Split | None = None,
    config: Mapping[str, Any] | None = None,
    limit: int | None = None,
) -> RunPreflight:
    """Rehearse the tasks that a launch with these arguments would play; see `launch`.

    Raises `SpecError` or `Invalid` as a launch would. Long lists are checked in part.
    """
    require(actor, project, Right.AUTHOR)
    parsed = parse_task_spec(spec.text)
    task = resolve(parsed, values_for(parsed, config or {}, environment))
    endpoints = endpoints_for(actor, project, evaluated, task)
    apis: dict[str | None, str] = {key: row.api for key, row in endpoints.items()}
    apis[None] = endpoints[evaluated].api
    revisions = revisions_to_play(actor, environment, split, limit)
    found = RunPreflight(model=evaluated, total=len(revisions))
    began = time.monotonic()
    for start in range(0, min(len(revisions), MOST_CHECKED), _CHUNK):
        rows = list(_read(revisions[start : start + _CHUNK]))
        for (pk, key, _), problems in zip(rows, _rehearsed(task.solver, rows, apis), strict=True):
            found.take(pk, key, problems)
        if time.monotonic() - began > LONGEST_CHECK:
            break
    found.tasks.sort(key=lambda each: not each.certain)
    del found.tasks[MOST_SHOWN:]
    return found


_Row = tuple[int, str, str]


def _read(revisions: Sequence[int]) -> Iterator[_Row]:
    """The task's id and key and the columns as JSON text, in the order of ``revisions``."""
    rows = {
        pk: (task, key, body)
        for pk, task, key, body in Revision.objects.filter(pk__in=revisions).values_list(
            "pk", "task__pk", "task__key", "spec_body"
        )
    }
    return (rows[pk] for pk in revisions if pk in rows)


def _rehearsed(
    solver: MultiTurnSolver, rows: Sequence[_Row], apis: Mapping[str | None, str]
) -> list[list[Problem]]:
    async def every() -> list[list[Problem]]:
        return [await rehearse(solver, json.loads(body), apis) for _, _, body in rows]

    return asyncio.run(every())
