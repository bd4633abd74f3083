"""Reading a task.yaml: what is right runs unchanged, what is wrong is named with its place."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from apps.dialogue.errors import SpecError
from apps.dialogue.scripted_model import ScriptedModel
from apps.dialogue.solver.engine import play
from apps.dialogue.solver.spec import TaskSpec, parse_solver, parse_task_spec, resolve
from apps.dialogue.trace import Transcript

GOLDEN = Path(__file__).parents[2] / "golden" / "clarification.yaml"
ORIGINAL = GOLDEN.parents[3] / "shared" / "cases" / "quickstart" / "clarification.yaml"


def task(**changes: Any) -> dict[str, Any]:
    """A small task with parameters of several types."""
    return {
        "key": "small",
        "display_name": "Small",
        "description": "",
        "config_spec": [
            {"key": "judge", "type": "model", "display_name": "Judge", "default_value": "j"},
            {"key": "turns", "type": "int", "display_name": "Turns", "min": 1, "max": 9},
            {"key": "column", "type": "dataset_column", "display_name": "Column",
             "default_value": "q"},
        ],
        "definition": {
            "dataset": {"key": "demo/data"},
            "solver": {
                "type": "multi_turn_solver",
                "message_builders": [
                    {"type": "chat_message", "role": "user",
                     "content": "{{ sample.<< config.column >> }} (<< config.turns >> turns)"},
                    {"type": "loop", "max_iterations": "<< config.turns >>",
                     "on_max_iterations": "continue",
                     "message_builders": [
                         {"type": "generate"},
                         {"type": "generate_message", "model_key": "<< config.judge >>",
                          "extra_input_messages": [
                              {"type": "chat_message", "role": "user", "content": "X"}],
                          "output_role": "user"},
                     ]},
                ],
            },
            "scorers": [{"type": "includes", "ground_truth": "{{ sample.t }}"}],
        },
        **changes,
    }  # fmt: skip


def parse(document: dict[str, Any]) -> TaskSpec:
    return parse_task_spec(yaml.safe_dump(document, sort_keys=False))


def test_the_quickstart_specification_plays_from_a_question_to_a_score() -> None:
    resolved = resolve(parse_task_spec(GOLDEN.read_text("utf-8")), {})
    assert resolved.model_keys() == ("demo-judge",)
    assert resolved.dataset.key == "demo/capitals"
    model = ScriptedModel({"main": ["Is it Austria?", "Vienna"], "demo-judge": ["Yes", "<done>"]})
    sample = {"question": "Which city is the capital of Austria?", "target": "Vienna"}
    ending = asyncio.run(play(resolved.solver, sample, model, Transcript()))
    assert (ending.reason, ending.answer) == ("completed", "Vienna")
    assert model.calls == ["main", "demo-judge", "main", "demo-judge"]
    (scorer,) = resolved.scorers
    assert [metric.key for metric in scorer.metrics] == ["accuracy"]


def test_the_copy_of_the_quickstart_specification_is_what_was_handed() -> None:
    if ORIGINAL.exists():
        assert GOLDEN.read_bytes() == ORIGINAL.read_bytes()
    assert "clarify-capitals" in GOLDEN.read_text("utf-8")


def test_json_and_yaml_say_the_same() -> None:
    assert parse_task_spec(json.dumps(task(), indent="\t")) == parse(task())


def test_a_parameter_keeps_its_type_as_a_whole_value_and_is_text_inside_a_text() -> None:
    resolved = resolve(parse(task()), {"turns": 2, "column": "question"})
    say, loop = resolved.solver.model_dump()["message_builders"]
    assert say["content"] == "{{ sample.question }} (2 turns)"
    assert loop["max_iterations"] == 2
    assert resolved.config == {"judge": "j", "turns": 2, "column": "question"}
    assert resolved.model_keys() == ("j",)


def test_a_value_may_be_the_text_of_a_command_line() -> None:
    resolved = resolve(parse(task()), {"turns": "3", "judge": "other"})
    assert resolved.config["turns"] == 3
    assert resolved.model_keys() == ("other",)


@pytest.mark.parametrize(
    ("values", "naming"),
    [
        ({}, "definition.solver.message_builders[0].content: config.turns has no value"),
        ({"turns": 0}, "config.turns: must be at least 1"),
        ({"turns": 10}, "config.turns: must be at most 9"),
        ({"turns": "many"}, "config.turns: must be a whole number, not 'many'"),
        ({"turns": True}, "config.turns: must be a whole number"),
        ({"turns": None}, "config.turns: must not be null"),
        ({"turns": 1, "judge": 5}, "config.judge: must be a text"),
        ({"turns": 1, "jugde": "x"}, "no parameter 'jugde' (parameters: judge, turns, column)"),
        ({"turns": 1, "column": "a }}{{ trace"}, "message_builders[0].content"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_name(values: Any, naming: str) -> None:
    spec = parse(task())
    with pytest.raises(SpecError) as refused:
        resolve(spec, values)
    assert naming in str(refused.value)


def edited(edit: Any) -> dict[str, Any]:
    document = task()
    edit(document)
    return document


MISTAKES: list[tuple[Any, str]] = [
    (lambda d: d.pop("key"), "key: is missing"),
    (lambda d: d.update(key="a b"), "key: "),
    (lambda d: d.update(displayname="x"), "displayname: 'displayname' is not a key here"),
    (lambda d: d.pop("definition"), "definition: is missing"),
    (lambda d: d["definition"].update(actions=[]), "definition.actions: actions are not"),
    (lambda d: d["definition"].pop("solver"), "definition.solver: is missing"),
    (lambda d: d["definition"].update(dataset={}), "definition.dataset: give either"),
    (
        lambda d: d["definition"]["dataset"].update(source="task_result"),
        "definition.dataset.source",
    ),
    (lambda d: d["definition"].update(trials={"num_trials": 1}), "num_trials: must be at least 2"),
    (
        lambda d: d["definition"]["solver"]["message_builders"][1].update(max_iteration=3),
        "definition.solver.message_builders[1].max_iteration: 'max_iteration' is not a key here: "
        "did you mean 'max_iterations'?",
    ),
    (
        lambda d: d["definition"]["solver"]["message_builders"][1]["message_builders"][1].pop(
            "extra_input_messages"
        ),
        "message_builders[1].message_builders[1].extra_input_messages: is missing",
    ),
    (
        lambda d: d["definition"]["solver"].update(type="single_turn_solver"),
        "definition.solver.type: the solver 'single_turn_solver' is not played here",
    ),
    (
        lambda d: d["definition"]["solver"].update(postprocessor={"type": "python"}),
        "definition.solver.postprocessor: Python postprocessors",
    ),
    (
        lambda d: d["definition"]["scorers"][0].update(type="bleu2"),
        "definition.scorers[0].type: 'bleu2' is not one of",
    ),
    (
        lambda d: d["definition"]["scorers"][0].update(ground_truth="<< config.truth >>"),
        "definition.scorers[0].ground_truth: config_spec has no parameter 'truth'",
    ),
    (
        lambda d: d["definition"]["scorers"][0].update(ground_truth="<< config.turns + 1 >>"),
        "definition.scorers[0].ground_truth: '<< config.turns + 1 >>' is not understood",
    ),
    (lambda d: d["config_spec"][1].update(type="integer"), "config_spec[1].type: 'integer' is not"),
    (lambda d: d["config_spec"][1].update(default_value=99), "config_spec[1].default_value"),
    (lambda d: d["config_spec"][1].update(key="judge"), "config_spec[1].key: two parameters"),
    (lambda d: d["config_spec"][1].pop("display_name"), "config_spec[1].display_name: is missing"),
]


@pytest.mark.parametrize(("edit", "naming"), MISTAKES, ids=[naming for _, naming in MISTAKES])
def test_a_mistake_is_found_before_any_value_is_known(edit: Any, naming: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse(edited(edit))
    assert naming in str(refused.value)


def test_all_mistakes_are_told_at_once() -> None:
    document = task()
    document["definition"]["dataset"] = {}
    document["definition"]["scorers"] = [{"type": "includes"}]
    with pytest.raises(SpecError) as refused:
        parse(document)
    assert [place for place, _ in refused.value.problems] == [
        "definition.dataset",
        "definition.scorers[0].ground_truth",
    ]
    assert "(and 1 more)" in str(refused.value)


def test_what_a_parameter_brings_is_not_read_as_a_parameter_again() -> None:
    document = task()
    document["config_spec"].append(
        {"key": "text", "type": "string", "display_name": "Text", "default_value": "x"}
    )
    document["definition"]["solver"]["message_builders"][0]["content"] = "<< config.text >>"
    resolved = resolve(parse(document), {"turns": 1, "text": "<< config.judge >>"})
    assert resolved.solver.model_dump()["message_builders"][0]["content"] == "<< config.judge >>"


def test_other_angle_brackets_are_left_alone() -> None:
    document = task()
    document["definition"]["solver"]["message_builders"][0]["content"] = "cout << x >> y"
    resolved = resolve(parse(document), {"turns": 1})
    assert resolved.solver.model_dump()["message_builders"][0]["content"] == "cout << x >> y"


def test_loops_are_nested_only_so_deep() -> None:
    builder: dict[str, Any] = {"type": "generate"}
    for _ in range(9):
        builder = {"type": "loop", "message_builders": [builder]}
    with pytest.raises(SpecError, match="at most 8 deep"):
        parse_solver({"type": "multi_turn_solver", "message_builders": [builder]})


def test_the_dataset_may_be_several() -> None:
    document = task()
    document["definition"]["dataset"] = {"keys": ["a/b", "a/c"]}
    assert resolve(parse(document), {"turns": 1}).dataset.keys == ("a/b", "a/c")


def test_trials_are_read() -> None:
    document = task()
    document["definition"]["trials"] = {"num_trials": 3}
    trials = resolve(parse(document), {"turns": 1}).trials
    assert trials is not None
    assert trials.num_trials == 3
