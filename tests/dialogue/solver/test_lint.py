"""Warnings: each trap of the semantics has one, and clean solvers have none."""

from typing import Any

import pytest

from apps.dialogue.solver.lint import lint, lint_spec
from apps.dialogue.solver.spec import parse_task_spec
from tests.dialogue.solver.stage import GENERATE, judge, loop, say, solver

KEEP = {"includes": "<done>", "keep_iteration": True}
DROP = {"includes": "<done>", "keep_iteration": False}
STOPPING = {**GENERATE, "terminate_if": KEEP}


def found(*builders: Any, **more: Any) -> set[tuple[str, str]]:
    return {(each.code, each.place) for each in lint(solver(*builders, **more))}


def test_the_clarifying_solver_is_told_only_that_the_judge_reads_the_system_text() -> None:
    builders = [say("S", role="system"), say("Q"), GENERATE, loop(judge(), GENERATE)]
    place = "message_builders[3].message_builders[0].include_conversation"
    assert found(*builders) == {("system-text-shared", place)}


def test_a_clean_solver_has_no_warning() -> None:
    assert found(say("Q"), GENERATE, loop(judge(), GENERATE)) == set()


@pytest.mark.parametrize(
    ("builders", "code", "place"),
    [
        (
            [loop(loop(GENERATE))],
            "nested-loop",
            "message_builders[0].message_builders[0]",
        ),
        (
            [loop(GENERATE, judge())],
            "answer-dropped",
            "message_builders[0].message_builders[1].terminate_if",
        ),
        (
            [loop(loop(GENERATE), judge())],
            "answer-dropped",
            "message_builders[0].message_builders[1].terminate_if",
        ),
        (
            [{**GENERATE, "terminate_if": DROP}],
            "answer-dropped",
            "message_builders[0].terminate_if",
        ),
        (
            [loop(judge(terminate_if=KEEP)), GENERATE],
            "stop-text-kept",
            "message_builders[0].message_builders[0].terminate_if",
        ),
        (
            [loop(loop(judge(terminate_if=KEEP)), say("x")), loop(GENERATE)],
            "stop-text-kept",
            "message_builders[0].message_builders[0].message_builders[0].terminate_if",
        ),
        (
            [loop(judge(terminate_if=KEEP), GENERATE)],
            "stop-before-answer",
            "message_builders[0].message_builders[0].terminate_if",
        ),
        (
            [judge(terminate_if=KEEP), GENERATE],
            "stop-before-answer",
            "message_builders[0].terminate_if",
        ),
        ([loop(GENERATE, times=0)], "never-played", "message_builders[0].max_iterations"),
        (
            [{"type": "loop", "message_builders": [STOPPING]}],
            "cap-is-error",
            "message_builders[0].on_max_iterations",
        ),
        (
            [loop(GENERATE, cap="error")],
            "cap-ignored",
            "message_builders[0].on_max_iterations",
        ),
        (
            [say("Q"), judge(output_role=None), GENERATE],
            "no-output-role",
            "message_builders[1].output_role",
        ),
        (
            [say("S", role="system"), judge(), GENERATE],
            "system-text-shared",
            "message_builders[1].include_conversation",
        ),
        (
            [say("Q"), GENERATE, judge(terminate_if=None)],
            "unread-reply",
            "message_builders[2]",
        ),
        ([say("Q")], "no-answer", "message_builders"),
        ([say("{{ loop_index }}"), GENERATE], "undefined-name", "message_builders[0]"),
        ([judge("{{ other }}"), GENERATE], "undefined-name", "message_builders[0]"),
    ],
)
def test_a_trap_is_warned_of(builders: list[Any], code: str, place: str) -> None:
    assert (code, place) in found(*builders)


@pytest.mark.parametrize(
    ("builders", "code"),
    [
        ([loop(judge(), GENERATE)], "answer-dropped"),
        ([loop(STOPPING, say("go"))], "stop-text-kept"),
        ([loop(judge()), GENERATE], "stop-text-kept"),
        ([say("S", role="system"), judge(include_conversation=False), GENERATE],
         "system-text-shared"),
        ([loop(STOPPING, cap="error")], "cap-is-error"),
        ([loop(GENERATE, cap="continue")], "cap-ignored"),
        ([loop(say("{{ loop_index }}"), GENERATE)], "undefined-name"),
        ([GENERATE, judge()], "unread-reply"),
    ],
)  # fmt: skip
def test_what_only_looks_like_a_trap_is_not_warned_of(builders: list[Any], code: str) -> None:
    assert code not in {each for each, _ in found(*builders)}


def test_the_deprecated_format_is_read_with_a_warning() -> None:
    assert ("deprecated-format", "message_format") in found(GENERATE, message_format="latticeflow")


SPEC = """
key: "k"
display_name: "K"
config_spec:
  - {key: "turns", type: "int", display_name: "Turns", min: 2}
  - {key: "mode", type: "categorical", display_name: "Mode", allowed_values: ["a", "b"],
     values_mapping: {a: "continue", b: "error"}}
definition:
  dataset: {key: "d"}
  solver:
    type: "multi_turn_solver"
    message_builders:
      - {type: "loop", max_iterations: "<< config.turns >>", on_max_iterations: "<< config.mode >>",
         message_builders: [{type: "chat_message", role: "user", content: "x"}]}
  scorers: []
"""


def test_a_whole_specification_is_linted_with_stand_ins_for_its_parameters() -> None:
    found = lint_spec(parse_task_spec(SPEC))
    assert [(each.code, each.place) for each in found] == [
        ("no-answer", "definition.solver.message_builders")
    ]
