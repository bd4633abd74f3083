"""What tests of runs play: a project with tasks, model endpoints at a fake server, and specs."""

from typing import Any

from apps.accounts.models import Project
from apps.accounts.permissions import OPERATOR, Actor
from apps.dialogue.file_formats import read_tasks
from apps.providers.actions import create_endpoint
from apps.runs.actions import launch, save_spec
from apps.runs.models import Run, SolverSpec
from apps.runs.queries import get_run
from apps.tasks.actions import create_environment, create_split, import_rows
from apps.tasks.models import Environment, Split
from tests.cast import Cast

CLARIFY = """
key: clarify
display_name: Clarify, then answer
config_spec:
  - {key: judge_model_key, type: model, display_name: Simulated user, default_value: judge}
definition:
  dataset: {key: alpha/capitals}
  solver:
    type: multi_turn_solver
    message_builders:
      - {type: chat_message, role: system, content: Ask before you answer.}
      - {type: chat_message, role: user, content: "{{ sample.question }}"}
      - type: generate
      - type: loop
        max_iterations: 3
        on_max_iterations: continue
        message_builders:
          - type: generate_message
            model_key: << config.judge_model_key >>
            extra_input_messages:
              - {type: chat_message, role: user, content: "Yes or <done>?"}
            output_role: user
            terminate_if: {includes: <done>, keep_iteration: false}
          - type: generate
  scorers:
    - type: string_equals
      ground_truth: "{{ sample.target }}"
      metrics: [{type: mean, field: is_correct, name: Accuracy}]
"""
"""Four calls a sample with the fake's ``confirm-then-answer`` and ``judge``."""

TWO_TURNS = """
key: two-turns
display_name: Two turns
definition:
  dataset: {key: alpha/capitals}
  solver:
    type: multi_turn_solver
    message_builders:
      - {type: chat_message, role: user, content: "First: {{ sample.question }}"}
      - type: generate
      - {type: chat_message, role: user, content: "{{ sample.target }}"}
      - type: generate
  scorers:
    - {type: string_equals, ground_truth: "{{ sample.target }}"}
"""
"""Two calls of the evaluated model; with ``echo`` the answer is right."""


def with_dataset(default: str = "") -> str:
    """`TWO_TURNS` whose dataset is the parameter ``dataset_key``, with or without a default."""
    value = f", default_value: {default}" if default else ""
    parameter = f"{{key: dataset_key, type: dataset, display_name: Dataset{value}}}"
    return TWO_TURNS.replace(
        "definition:\n  dataset: {key: alpha/capitals}",
        f"config_spec:\n  - {parameter}\ndefinition:\n  dataset: {{key: << config.dataset_key >>}}",
    )


def rows(count: int) -> list[bytes]:
    """Lines of a file with ``count`` different questions whose answer is Vienna."""
    return [
        f'{{"id": "q{number:04}", "question": "Question {number}: the capital of Austria?", '
        f'"target": "Vienna"}}\n'.encode()
        for number in range(count)
    ]


class Stage:
    """``alpha/capitals`` with tasks in the split ``test``, and endpoints at ``server_url``."""

    def __init__(self, cast: Cast, server_url: str, *, tasks: int = 3) -> None:
        self.project: Project = cast.project
        self.server_url = server_url
        self.environment: Environment = create_environment(
            actor=OPERATOR, project=self.project, slug="capitals"
        )
        self.split: Split = create_split(actor=OPERATOR, environment=self.environment, name="test")
        import_rows(
            actor=OPERATOR,
            environment=self.environment,
            split=self.split,
            rows=read_tasks(rows(tasks)),
        )
        self.endpoint("judge", "judge")

    def endpoint(self, key: str, model: str, **settings: Any) -> str:
        """A new endpoint; gives its key."""
        create_endpoint(
            actor=OPERATOR,
            project=self.project,
            key=key,
            **{"base_url": self.server_url, "model": model, **settings},
        )
        return key

    def spec(self, text: str) -> SolverSpec:
        return save_spec(actor=OPERATOR, project=self.project, text=text)

    def launch(
        self, text: str = CLARIFY, *, evaluated: str, actor: Actor = OPERATOR, **options: Any
    ) -> Run:
        return launch(
            actor=actor,
            project=self.project,
            environment=self.environment,
            split=self.split,
            spec=self.spec(text),
            evaluated=evaluated,
            **options,
        )

    def again(self, run: Run) -> Run:
        """The run as it is now."""
        return get_run(OPERATOR, self.project, run.number)
