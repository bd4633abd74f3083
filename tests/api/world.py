"""A project with one object of each kind that has an address."""

from typing import Any

from apps.accounts.permissions import OPERATOR
from apps.providers.actions import create_endpoint
from apps.runs.actions import launch, save_spec
from apps.tasks.actions import create_export, propose_import
from apps.tasks.models import Task
from apps.traces.models import Trace
from tests.cast import Cast

SPEC = """\
key: answer
display_name: Answer
definition:
  dataset: {key: questions}
  solver: {type: multi_turn_solver, message_builders: [{type: generate}]}
  scorers: [{type: string_equals, ground_truth: "{{ sample.target }}"}]
"""


def furnish(cast: Cast, task: Task) -> dict[str, Any]:
    """One object of each kind in ``alpha``, by the name it has in addresses."""
    create_endpoint(
        actor=OPERATOR,
        project=cast.project,
        key="demo",
        base_url="http://127.0.0.1:1/v1",
        model="echo",
    )
    run = launch(
        actor=OPERATOR,
        project=cast.project,
        environment=task.environment,
        spec=save_spec(actor=OPERATOR, project=cast.project, text=SPEC),
        evaluated="demo",
    )
    proposed = propose_import(
        actor=OPERATOR,
        environment=task.environment,
        pieces=[b'{"id": "proposed", "question": "Why?"}'],
        file_name="rows.jsonl",
        split="train",
    )
    exported = create_export(actor=OPERATOR, environment=task.environment, format="openreward")
    return {
        "project": "alpha",
        "solver": "answer",
        "run": run.number,
        "position": 0,
        "username": "viewer",
        "key": cast.read_key.row.pk,
        "endpoint": "demo",
        "trace": Trace.objects.create(project=cast.project, title="One").pk,
        "environment": "shop",
        "task": task.pk,
        "number": 1,
        "import_": proposed.pk,
        "row": 0,
        "export": exported.pk,
    }
