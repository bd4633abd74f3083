"""The command that continuous integration waits for; here it plays in its own process."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from apps.providers.demo import MODELS
from apps.runs.evaluation import Evaluation
from apps.runs.management.commands import run_evaluation
from apps.runs.models import Run, RunState
from tests.kits.fake_openai import FakeOpenAI
from tests.runs.stage import CLARIFY, TWO_TURNS, Stage, with_dataset

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """A file with the clarifying spec."""
    path = tmp_path / "task.yaml"
    path.write_text(CLARIFY)
    return path


def evaluate(spec: Path, *arguments: str, model: str = "model") -> int:
    """Run the command for ``alpha``; gives its exit code."""
    try:
        call_command("run_evaluation", str(spec), "--project=alpha", f"--model={model}", *arguments)
    except SystemExit as end:
        return int(end.code or 0)
    except CommandError as error:
        return error.returncode
    return 0


def last_line(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return found


def test_without_a_worker_it_plays_the_run_itself_and_prints_the_results(
    stage: Stage, spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.endpoint("model", "confirm-then-answer")
    assert evaluate(spec, "--wait", "--json", "--gate", "accuracy>=0.9") == 0
    found = last_line(capsys)
    assert found == {
        "run": 1,
        "status": "finished",
        "samples": 3,
        "scored": 3,
        "coverage": 1.0,
        "calls": 12,
        "cost": 0.0,
        "metrics": {"accuracy": found["metrics"]["accuracy"]},
        "ended": {"completed": 3},
    }
    accuracy = found["metrics"]["accuracy"]
    assert set(accuracy) == {"value", "n", "low", "high"}
    assert (accuracy["value"], accuracy["n"]) == (1.0, 3)
    assert 0 < accuracy["low"] < accuracy["high"] == 1


def test_demo_endpoints_need_no_web_server(
    stage: Stage, spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "confirm-then-answer" in MODELS
    stage.endpoint("model", "confirm-then-answer", base_url="demo")
    stage.endpoint("demo-judge", "judge", base_url="demo")
    code = evaluate(spec, "--wait", "--json", "--set", "judge_model_key=demo-judge")
    assert code == 0
    found = last_line(capsys)
    assert (found["ended"], found["metrics"]["accuracy"]["value"]) == ({"completed": 3}, 1.0)


def test_people_get_sentences(stage: Stage, spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stage.endpoint("model", "confirm-then-answer")
    assert evaluate(spec, "--wait") == 0
    said = capsys.readouterr().out
    assert "3 of 3 samples done, 3 scored (100.0%)" in said
    assert "accuracy: 1.0000" in said


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--gate", "accuracy<0.5"], "accuracy is 1.0000"),
        (["--gate", "accuracy>0.5", "--gate", "accuracy>1"], "accuracy>1"),
    ],
)
def test_a_closed_gate_exits_1_and_says_why(
    stage: Stage,
    spec: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    complaint: str,
) -> None:
    stage.endpoint("model", "confirm-then-answer")
    assert evaluate(spec, "--wait", *arguments) == 1
    assert complaint in capsys.readouterr().err


def test_missing_scores_close_the_gate_of_coverage_and_count_for_no_accuracy(
    stage: Stage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.endpoint("model", "echo")
    path = tmp_path / "task.yaml"
    path.write_text(
        TWO_TURNS.replace(
            "First: {{ sample.question }}",
            "{% if sample.id == 'q0001' %}{{ sample.missing }}{% else %}Hello{% endif %}",
        )
    )
    arguments = ("--wait", "--json", "--gate", "is_correct_mean==1")
    assert evaluate(path, *arguments, "--min-coverage", "0.6") == 0
    found = last_line(capsys)
    assert (found["scored"], found["coverage"]) == (2, pytest.approx(2 / 3))
    assert found["ended"] == {"completed": 2, "template_error": 1}
    assert evaluate(path, *arguments, "--min-coverage", "0.95") == 1


def test_a_run_of_which_nothing_was_scored_exits_3_and_says_what_went_wrong(
    stage: Stage, spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.endpoint("model", "echo")
    broken = "{{ sample.missing }}" + "{% if sample.id == 'q0001' %}{{ x.y }}{% endif %}"
    spec.write_text(TWO_TURNS.replace("First: {{ sample.question }}", broken))
    assert evaluate(spec, "--wait") == 3
    said = capsys.readouterr()
    assert "Not one of 3 samples was scored" in said.err
    for shown in (said.err, said.out):
        assert "template_error: 3, most often:" in shown
        assert "missing" in shown


def test_answers_that_no_scorer_could_score_exit_3_with_the_scorer_s_reason(
    stage: Stage, spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.endpoint("model", "echo")
    spec.write_text(
        TWO_TURNS.replace(
            'ground_truth: "{{ sample.target }}"', 'ground_truth: "{{ sample.lost }}"'
        )
    )
    assert evaluate(spec, "--wait") == 3
    said = capsys.readouterr()
    assert "completed: 3" in said.out
    assert "not scored, template_error: 3, most often:" in said.err
    assert "lost" in said.err


def test_a_spec_without_scorers_has_nothing_to_score_and_exits_0(stage: Stage, spec: Path) -> None:
    stage.endpoint("model", "echo")
    start = TWO_TURNS.index("  scorers:")
    spec.write_text(TWO_TURNS[:start] + "  scorers: []\n")
    assert evaluate(spec, "--wait") == 0


def test_what_only_some_samples_ended_with_is_told_with_a_message(
    stage: Stage, spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.endpoint("model", "echo")
    broken = "{% if sample.id == 'q0001' %}{{ sample.missing }}{% endif %}Hello"
    spec.write_text(TWO_TURNS.replace("First: {{ sample.question }}", broken))
    assert evaluate(spec, "--wait") == 0
    said = capsys.readouterr().out
    assert "completed: 2" in said
    assert "template_error: 1, most often:" in said


def test_nothing_scored_is_no_pass(stage: Stage, spec: Path) -> None:
    stage.endpoint("model", "status-500")
    assert evaluate(spec, "--wait", "--gate", "accuracy>=0") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--gate", "nonsense", "--wait"],
        ["--gate", "precision>=0.9", "--wait"],
        ["--gate", "accuracy>=0.9"],
        ["--min-coverage", "2", "--wait"],
        ["--set", "judge_model_key"],
        ["--set", "unknown=1"],
        ["--set", "judge_model_key=nobody"],
        ["--environment", "alpha/nowhere"],
        ["--environment", "beta/capitals"],
        ["--split", "nowhere"],
        ["--limit", "0"],
        ["--trials", "0"],
        ["--project", "nowhere"],
    ],
)
def test_what_is_wrong_exits_2_and_spends_nothing(
    stage: Stage, spec: Path, server: FakeOpenAI, arguments: list[str]
) -> None:
    stage.endpoint("model", "echo")
    assert evaluate(spec, *arguments) == 2
    assert not Run.objects.exists()
    assert server.requests == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["--set", "dataset_key=alpha/capitals"],
        ["--environment", "capitals"],
        ["--environment", "alpha/capitals", "--set", "dataset_key=alpha/capitals"],
    ],
)
def test_the_dataset_is_said_once_in_either_way(
    stage: Stage, spec: Path, arguments: list[str]
) -> None:
    stage.endpoint("model", "echo")
    spec.write_text(with_dataset())
    assert evaluate(spec, *arguments) == 0
    run = Run.objects.get()
    assert (run.environment, run.config) == (stage.environment, {"dataset_key": "alpha/capitals"})


def test_two_different_datasets_exit_2_naming_both(stage: Stage, spec: Path) -> None:
    stage.endpoint("model", "echo")
    spec.write_text(with_dataset("alpha/capitals"))
    with pytest.raises(CommandError, match=r"'alpha/capitals'.*'alpha/other'") as refused:
        call_command(
            "run_evaluation", str(spec), "--project=alpha", "--model=model",
            "--environment=capitals", "--set=dataset_key=alpha/other",
        )  # fmt: skip
    assert refused.value.returncode == 2
    assert not Run.objects.exists()


def test_no_dataset_at_all_exits_2(stage: Stage, spec: Path) -> None:
    stage.endpoint("model", "echo")
    spec.write_text(with_dataset())
    assert evaluate(spec) == 2


@pytest.mark.parametrize("text", ["key: [", "key: x", "\x00", CLARIFY.replace("generate\n", "g\n")])
def test_a_wrong_specification_exits_2(stage: Stage, spec: Path, text: str) -> None:
    stage.endpoint("model", "echo")
    spec.write_text(text)
    assert evaluate(spec, "--wait") == 2
    assert evaluate(spec.with_name("nowhere.yaml"), "--wait") == 2


def test_an_unknown_model_exits_2(stage: Stage, spec: Path) -> None:
    assert evaluate(spec, "--wait", model="nobody") == 2


def test_without_wait_the_run_is_left_to_the_workers(
    stage: Stage, spec: Path, server: FakeOpenAI, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.endpoint("model", "echo")
    assert evaluate(spec, "--json", "--limit", "2", "--trials", "2", "--split", "test") == 0
    found = last_line(capsys)
    assert (found["status"], found["samples"], found["coverage"]) == ("queued", 4, 0.0)
    assert server.requests == []


def test_an_interruption_cancels_the_run_exits_3_and_keeps_what_was_scored(
    stage: Stage,
    spec: Path,
    server: FakeOpenAI,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stage.endpoint("model", "confirm-then-answer@60")

    class Impatient(Evaluation):
        """Ctrl-C comes when the first sample has ended."""

        def __init__(self, actor: Any, run: Run, on_progress: Any) -> None:
            def look(seen: dict[str, Any]) -> None:
                if seen["done"]:
                    self.interrupted.set()

            super().__init__(actor, run, look)

    monkeypatch.setattr(run_evaluation, "Evaluation", Impatient)
    assert evaluate(spec, "--wait", "--json", "--concurrency", "1") == 3
    found = last_line(capsys)
    assert found["status"] == RunState.CANCELLED
    assert 1 <= found["scored"] < 3
    assert found["ended"]["cancelled"] == 3 - found["scored"]


def test_a_run_that_cannot_be_played_exits_3_with_the_reason(
    stage: Stage, spec: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.endpoint("model", "echo", secret="sk-1")
    launch = run_evaluation.launch

    def lose_the_keys(**options: Any) -> Run:
        run = launch(**options)
        run.evaluated.secret = "gAAAAA-not-ours"
        run.evaluated.save()
        return run

    monkeypatch.setattr(run_evaluation, "launch", lose_the_keys)
    assert evaluate(spec, "--wait") == 3
    assert "ENCRYPTION_KEYS" in capsys.readouterr().err


def test_it_warns_of_the_tasks_that_a_model_will_refuse(
    stage: Stage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "task.yaml"
    lacking = TWO_TURNS.replace("{{ sample.target }}", "{{ sample.nothing }}", 1)
    path.write_text(lacking.replace("First: {{ sample.question }}", "{{ sample.missing }}"))
    stage.endpoint("model", "echo")
    assert evaluate(path) == 0
    told = capsys.readouterr().err
    assert "3 of 3 tasks cannot be sent to model; their samples cost nothing:" in told
    assert "  q0000: message_builders[0]: " in told
