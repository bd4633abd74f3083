from typing import Any

import pytest

from apps.accounts.errors import Forbidden, Invalid, NotFound
from apps.accounts.models import AuditEntry
from apps.accounts.permissions import OPERATOR, Actor
from apps.dialogue.errors import SpecError
from apps.runs import jobs
from apps.runs.actions import cancel, launch, resume, save_spec
from apps.runs.models import Run, RunState, SolverSpec
from apps.runs.queries import (
    get_run,
    get_sample,
    get_spec,
    progress,
    runs,
    samples,
    spec_versions,
    specs,
)
from apps.runs.results import resolved_task
from apps.tasks.actions import create_environment, set_status
from apps.tasks.models import Task
from apps.traces.queries import get_trace
from tests.cast import Cast
from tests.runs.stage import CLARIFY, TWO_TURNS, Stage, with_dataset

pytestmark = pytest.mark.django_db

MAY_AUTHOR = {"owner", "author", "write_key", "admin_key", "operator"}
MAY_VIEW = MAY_AUTHOR | {"annotator", "viewer", "read_key"}


def test_a_spec_is_saved_under_the_key_it_names(stage: Stage) -> None:
    row = stage.spec(CLARIFY)
    assert (row.key, row.version, row.display_name) == ("clarify", 1, "Clarify, then answer")
    assert row.author == "operator"


def test_saving_the_same_text_again_is_no_new_version(stage: Stage) -> None:
    assert stage.spec(CLARIFY) == stage.spec(CLARIFY)
    changed = stage.spec(CLARIFY.replace("Yes or", "Yes, or"))
    assert changed.version == 2
    assert stage.spec(CLARIFY).version == 3
    versions = spec_versions(OPERATOR, stage.project, "clarify")
    assert [row.version for row in versions] == [3, 2, 1]
    assert [row.version for row in specs(OPERATOR, stage.project)] == [3]
    assert get_spec(OPERATOR, stage.project, "clarify", 2) == changed


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("key: [", "line 1, column 7"),
        (CLARIFY.replace("type: generate\n", "type: generat\n", 1), "definition.solver"),
        (CLARIFY.replace("max_iterations", "max_iteration", 1), "definition.solver"),
        (CLARIFY.replace("{{ sample.question }}", "{{ sample.question"), "definition.solver"),
        (CLARIFY.replace("string_equals", "string_equal"), "definition.scorers"),
        (CLARIFY.replace("<< config.judge_model_key >>", "<< config.other >>"), "definition"),
    ],
)
def test_a_wrong_spec_is_refused_at_its_place(stage: Stage, text: str, place: str) -> None:
    with pytest.raises(SpecError) as refused:
        stage.spec(text)
    assert refused.value.place.startswith(place)
    assert not SolverSpec.objects.exists()


def test_a_spec_cannot_be_saved_under_another_key(stage: Stage) -> None:
    with pytest.raises(Invalid) as refused:
        save_spec(actor=OPERATOR, project=stage.project, text=CLARIFY, key="other")
    assert refused.value.place == "key"


def test_a_launch_takes_the_ready_tasks_in_their_order(stage: Stage) -> None:
    middle = Task.objects.get(key="q0001")
    set_status(actor=OPERATOR, task=middle, status="draft")
    stage.endpoint("model", "echo")
    run = stage.launch(evaluated="model", name=" Nightly ", trials=2)
    assert (run.number, run.name, run.state, run.trials) == (1, "Nightly", RunState.QUEUED, 2)
    keys = [each.revision.task.key for each in samples(OPERATOR, run).rows]
    assert keys == ["q0000", "q0002", "q0000", "q0002"]
    assert run.samples_total == 4
    assert AuditEntry.objects.filter(action="run.launch").get().detail["samples"] == 4


def test_runs_are_numbered_by_project(stage: Stage, cast: Cast) -> None:
    stage.endpoint("model", "echo")
    numbers = [stage.launch(evaluated="model").number for _ in range(3)]
    assert numbers == [1, 2, 3]
    assert [run.number for run in runs(OPERATOR, stage.project)] == [3, 2, 1]
    assert list(runs(OPERATOR, cast.other_project)) == []


def test_a_run_keeps_the_values_it_was_launched_with(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    stage.endpoint("other", "judge")
    assert stage.launch(evaluated="model").config == {"judge_model_key": "judge"}
    run = stage.launch(evaluated="model", config={"judge_model_key": "other"})
    assert run.config == {"judge_model_key": "other"}


@pytest.mark.parametrize("default", ["", "demo/elsewhere"])
@pytest.mark.parametrize("given", [{}, {"dataset_key": "alpha/Capitals"}, {"dataset_key": None}])
def test_the_dataset_of_a_run_is_the_environment_that_is_played(
    stage: Stage, default: str, given: dict[str, Any]
) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(with_dataset(default), evaluated="model", config=given)
    assert run.config == {"dataset_key": "alpha/capitals"}
    assert resolved_task(run).dataset.key == "alpha/capitals"


def test_a_dataset_that_is_not_played_is_refused_naming_both(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    with pytest.raises(Invalid, match=r"'alpha/capitals'.*'beta/capitals'") as refused:
        stage.launch(
            with_dataset("alpha/capitals"),
            evaluated="model",
            config={"dataset_key": "beta/capitals"},
        )
    assert refused.value.place == "config.dataset_key"
    assert not Run.objects.exists()


def test_trials_of_the_spec_are_the_default(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    text = CLARIFY.replace("definition:\n", "definition:\n  trials: {num_trials: 3}\n")
    assert stage.launch(text, evaluated="model").samples_total == 9
    assert stage.launch(text, evaluated="model", trials=1).samples_total == 3


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"evaluated": "nobody"}, "evaluated"),
        ({"config": {"judge_model_key": "nobody"}}, "config.judge_model_key"),
        ({"config": {"judge_model_key": "\x00"}}, "config.judge_model_key"),
        ({"trials": 0}, "trials"),
        ({"trials": True}, "trials"),
        ({"limit": 0}, "limit"),
        ({"concurrency": 100_000}, "concurrency"),
        ({"name": "x" * 201}, "name"),
    ],
)
def test_a_wrong_launch_is_refused_at_its_place(
    stage: Stage, options: dict[str, Any], place: str
) -> None:
    stage.endpoint("model", "echo")
    with pytest.raises(Invalid) as refused:
        stage.launch(**{"evaluated": "model", **options})
    assert refused.value.place == place
    assert not Run.objects.exists()


def test_a_value_that_is_no_parameter_is_refused(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    with pytest.raises(SpecError, match="no parameter 'judge'") as refused:
        stage.launch(evaluated="model", config={"judge": "judge"})
    assert refused.value.place == "config.judge"


def test_a_split_without_ready_tasks_is_refused(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    for task in Task.objects.all():
        set_status(actor=OPERATOR, task=task, status="draft")
    with pytest.raises(Invalid, match="no ready task") as refused:
        stage.launch(evaluated="model")
    assert refused.value.place == "split"


def test_rows_of_another_project_are_refused(stage: Stage, cast: Cast) -> None:
    stage.endpoint("model", "echo")
    foreign = create_environment(actor=OPERATOR, project=cast.other_project, slug="theirs")
    with pytest.raises(Invalid) as refused:
        launch(
            actor=OPERATOR, project=stage.project, environment=foreign,
            spec=stage.spec(CLARIFY), evaluated="model",
        )  # fmt: skip
    assert refused.value.place == "environment"


def test_samples_are_listed_by_page_and_found_by_end_and_words(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(evaluated="model")
    first = samples(OPERATOR, run, limit=2)
    assert ([row.position for row in first.rows], first.next) == ([0, 1], 1)
    second = samples(OPERATOR, run, limit=2, after=first.next)
    assert ([row.position for row in second.rows], second.next) == ([2], None)
    assert [row.position for row in samples(OPERATOR, run, search="Q0001").rows] == [1]
    assert samples(OPERATOR, run, ended="completed").rows == []
    assert len(samples(OPERATOR, run, ended="waiting").rows) == 3


def test_progress_is_what_the_counters_say(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(evaluated="model")
    Run.objects.filter(pk=run.pk).update(samples_done=2, calls=9, ended={"completed": 2})
    seen = progress(run)
    assert (seen["done"], seen["total"], seen["percent"], seen["calls"]) == (2, 3, 66, 9)
    assert (seen["open"], seen["ended"], seen["seconds"]) == (True, {"completed": 2}, None)


@pytest.mark.parametrize("number", [0, 99, -1, 2**63])
def test_what_is_not_there_is_not_found(stage: Stage, number: int) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(evaluated="model")
    with pytest.raises(NotFound):
        get_run(OPERATOR, stage.project, number)
    with pytest.raises(NotFound):
        get_sample(OPERATOR, run, number or 3)


def test_who_may_see_runs_and_who_may_change_them(stage: Stage, cast: Cast) -> None:
    stage.endpoint("model", "echo")
    spec, run = stage.spec(TWO_TURNS), stage.launch(evaluated="model")
    reading = (
        lambda who: specs(who, stage.project),
        lambda who: get_spec(who, stage.project, "clarify"),
        lambda who: spec_versions(who, stage.project, "clarify"),
        lambda who: runs(who, stage.project),
        lambda who: get_run(who, stage.project, 1),
        lambda who: samples(who, run),
        lambda who: get_sample(who, run, 0),
    )
    writing = (
        lambda who: save_spec(actor=who, project=stage.project, text=TWO_TURNS),
        lambda who: launch(
            actor=who, project=stage.project, environment=stage.environment, spec=spec,
            evaluated="model",
        ),
        lambda who: cancel(actor=who, run=run),
        lambda who: resume(actor=who, run=run),
    )  # fmt: skip
    for name, actor in cast.actors().items():
        for attempt in reading:
            _expect(name in MAY_VIEW, lambda who=actor, do=attempt: do(who))
        for attempt in writing:
            _expect(name in MAY_AUTHOR, lambda who=actor, do=attempt: do(who))


def _expect(allowed: bool, attempt: Any) -> None:
    if allowed:
        attempt()
    else:
        with pytest.raises((Forbidden, NotFound)):
            attempt()


def test_a_trace_of_another_project_does_not_exist(stage: Stage, cast: Cast) -> None:
    outsider = Actor(user=cast.outsider)
    with pytest.raises(NotFound):
        get_trace(outsider, stage.project, 1)
    with pytest.raises(NotFound):
        get_trace(outsider, cast.other_project, 1)


def test_a_launch_calls_a_worker_once_it_is_committed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    called: list[int] = []
    monkeypatch.setattr(jobs.play_run, "apply_async", lambda args, **_: called.extend(args))
    monkeypatch.setattr(jobs.settings, "CELERY_BROKER_URL", "redis://127.0.0.1:1/0")
    stage.endpoint("model", "echo")
    with django_capture_on_commit_callbacks(execute=True):
        run = stage.launch(evaluated="model")
        assert called == []
    assert called == [run.pk]


def test_a_broker_that_cannot_be_reached_does_not_fail_the_launch(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(evaluated="model")
    with monkeypatch.context() as patch:
        patch.setattr(jobs.settings, "CELERY_BROKER_URL", "redis://127.0.0.1:1/0")
        patch.setattr(jobs.play_run.app.conf, "broker_url", "redis://127.0.0.1:1/0")
        assert jobs.ring(run.pk) is False


def test_the_sweep_rings_for_runs_that_nobody_plays(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.endpoint("model", "echo")
    waiting, finished = (stage.launch(evaluated="model") for _ in range(2))
    Run.objects.filter(pk=finished.pk).update(state=RunState.FINISHED)
    called: list[int] = []
    monkeypatch.setattr(jobs, "ring", called.append)
    jobs.sweep()
    assert called == [waiting.pk]
