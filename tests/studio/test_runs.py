"""Runs: launching with a form, watching, cancelling and resuming."""

import json
import re
from typing import Any

import pytest

from apps.accounts.permissions import OPERATOR, Actor
from apps.runs.actions import cancel
from apps.runs.models import Run, RunState
from apps.runs.playing import play
from apps.runs.results import resolved_task
from tests.kits.fake_openai import FakeOpenAI
from tests.runs.stage import CLARIFY, TWO_TURNS, Stage, with_dataset
from tests.studio.visitors import HTMX, Visitor, words

pytestmark = pytest.mark.django_db(transaction=True)

RUNS = "/projects/alpha/runs/"
NEW = f"{RUNS}new/"

MANY_PARAMETERS = """
key: parameters
display_name: Of every type
config_spec:
  - {key: words, type: string, display_name: Words, default_value: hello}
  - {key: rounds, type: int, display_name: Rounds, min: 1, max: 5, default_value: 2}
  - {key: heat, type: float, display_name: Heat, nullable: true}
  - {key: polite, type: boolean, display_name: Polite, default_value: true}
  - {key: kind, type: categorical, display_name: Kind, allowed_values: [a, b], default_value: a}
  - {key: names, type: list, dtype: string, display_name: Names, default_value: [x]}
  - {key: other, type: model, display_name: Other model}
definition:
  dataset: {key: alpha/capitals}
  solver:
    type: multi_turn_solver
    message_builders:
      - {type: chat_message, role: user, content: "<< config.words >> {{ sample.question }}"}
      - type: generate_message
        model_key: << config.other >>
        extra_input_messages: [{type: chat_message, role: user, content: Go on.}]
        output_role: user
  scorers:
    - {type: string_equals, ground_truth: "{{ sample.target }}"}
"""


@pytest.fixture
def model(stage: Stage) -> str:
    return stage.endpoint("model", "confirm-then-answer")


def form(**changes: Any) -> dict[str, Any]:
    return {
        "name": "First try",
        "tasks": "capitals/test",
        "solver": "clarify@1",
        "evaluated": "model",
        "trials": "1",
        "limit": "",
        **changes,
    }


def test_without_what_a_run_needs_the_page_lists_what_is_missing(visit: Visitor) -> None:
    page = words(visit("author").get(NEW))
    assert "Three things are needed first" in page
    assert "A solver" in page


def test_a_run_is_launched_as_the_form_says(visit: Visitor, stage: Stage, model: str) -> None:
    stage.spec(CLARIFY)
    response = visit("author").post(NEW, form(limit="2", trials="3", **{"config-x": "ignored"}))
    run = Run.objects.get()
    assert response["Location"] == f"{RUNS}{run.number}/"
    assert (run.name, run.samples_total, run.trials, run.sample_limit) == ("First try", 6, 3, 2)
    assert run.config == {"judge_model_key": "judge"}
    assert run.author == "author"


def test_the_choice_of_tasks_is_the_dataset_and_no_second_field_asks_for_it(
    visit: Visitor, stage: Stage, model: str
) -> None:
    stage.spec(with_dataset("demo/elsewhere"))
    client = visit("author")
    assert "dataset_key" not in client.get(f"{NEW}?solver=two-turns@1").content.decode()
    client.post(NEW, form(solver="two-turns@1"))
    assert Run.objects.get().config == {"dataset_key": "alpha/capitals"}


def test_the_form_tells_what_the_models_would_refuse(
    visit: Visitor, stage: Stage, model: str
) -> None:
    stage.spec(CLARIFY)
    stage.spec(TWO_TURNS.replace("{{ sample.question }}", "{{ sample.missing }}"))
    client = visit("author")
    assert "?preflight" in client.get(NEW).content.decode()
    fine = words(client.get(NEW, form(preflight=""), headers=HTMX))
    assert "All 3 tasks can be sent to model." in fine
    refused = words(client.get(NEW, form(preflight="", solver="two-turns@1"), headers=HTMX))
    assert "3 of 3 tasks cannot be sent to model." in refused
    assert "q0000" in refused
    assert words(client.get(NEW, form(preflight="", tasks="nowhere"), headers=HTMX)).strip() == ""
    assert not Run.objects.exists()


def test_all_splits_can_be_taken(visit: Visitor, stage: Stage, model: str) -> None:
    stage.spec(CLARIFY)
    visit("author").post(NEW, form(tasks="capitals/"))
    assert not Run.objects.exists(), "one split alone has no 'all splits'"


def test_parameters_are_fields_of_the_form(visit: Visitor, stage: Stage, model: str) -> None:
    stage.spec(CLARIFY)
    stage.spec(MANY_PARAMETERS)
    client = visit("author")
    part = client.get(f"{NEW}?solver=parameters@1", headers=HTMX)
    assert part.content.decode().lstrip().startswith('<div id="parameters">')
    for label in ("Words", "Rounds", "Heat", "Polite", "Kind", "Names", "Other model"):
        assert label in words(part)
    given = {
        "config-words": " two\nlines ",
        "config-rounds": "3",
        "config-polite": "false",
        "config-kind": "b",
        "config-names": '["y", "z"]',
        "config-other": "judge",
    }
    response = client.post(NEW, form(solver="parameters@1", **given))
    assert response.status_code == 302, response.context["form"].errors
    assert resolved_task(Run.objects.get()).config == {
        "words": " two\nlines ",
        "rounds": 3,
        "heat": None,
        "polite": False,
        "kind": "b",
        "names": ["y", "z"],
        "other": "judge",
    }


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"config-rounds": "many"}, "config-rounds"),
        ({"config-rounds": "9"}, "config-rounds"),
        ({"config-names": "[1"}, "config-names"),
        ({"config-other": ""}, "config-other"),
        ({"config-other": "nobody"}, "config-other"),
        ({"trials": "0"}, "trials"),
        ({"trials": "99999"}, "trials"),
        ({"limit": "0"}, "limit"),
        ({"evaluated": "nobody"}, "evaluated"),
        ({"tasks": "elsewhere/test"}, "tasks"),
    ],
)
def test_what_cannot_be_launched_is_refused_beside_its_field(
    visit: Visitor, stage: Stage, model: str, change: dict[str, str], field: str
) -> None:
    stage.spec(MANY_PARAMETERS)
    whole = form(solver="parameters@1", **{"config-other": "judge", **change})
    response = visit("author").post(NEW, whole)
    assert response.status_code == 422
    assert list(response.context["form"].errors) == [field]
    assert not Run.objects.exists()


def test_a_split_without_ready_tasks_is_refused(visit: Visitor, stage: Stage, model: str) -> None:
    stage.spec(CLARIFY)
    stage.split.tasks.update(status="draft")
    stage.split.ready_count = 0
    stage.split.save()
    response = visit("author").post(NEW, form())
    assert "There is no ready task" in str(response.context["form"].errors["tasks"])


def test_an_unknown_solver_is_not_found(visit: Visitor, stage: Stage, model: str) -> None:
    stage.spec(CLARIFY)
    assert visit("author").get(f"{NEW}?solver=nothing").status_code == 404
    assert visit("author").get(f"{NEW}?solver=clarify@x").status_code == 422


def test_the_page_of_a_run_tells_its_facts(visit: Visitor, stage: Stage, model: str) -> None:
    run = stage.launch(evaluated=model, name="Facts")
    waiting = words(visit("viewer").get(f"{RUNS}{run.number}/"))
    assert "0 of 3 samples" in waiting
    assert "nothing scored yet" in waiting
    play(run.pk)
    page = words(visit("viewer").get(f"{RUNS}{run.number}/"))
    assert "Finished" in page
    assert "3 of 3 samples" in page
    assert "Accuracy 1.000" in page
    assert "n 3" in page
    assert "all scored" in page
    assert "completed 3" in page
    assert "q0001 completed Vienna" in page
    assert "Facts" in words(visit("viewer").get(RUNS))


def test_a_number_tells_its_coverage(visit: Visitor, stage: Stage) -> None:
    run = stage.launch(TWO_TURNS, evaluated=stage.endpoint("cut", "truncate"))
    play(run.pk)
    page = words(visit("viewer").get(f"{RUNS}{run.number}/"))
    assert "0% scored" in page
    assert "incomplete reply 3" in page


def test_the_list_tells_the_doubt_of_its_numbers(visit: Visitor, stage: Stage, model: str) -> None:
    run = stage.launch(evaluated=model)
    play(run.pk)
    page = words(visit("viewer").get(RUNS))
    assert re.search(r"1\.000 0\.\d{3} to 1\.000, n 3", page)
    assert "scored" not in page
    cut = stage.launch(TWO_TURNS, evaluated=stage.endpoint("cut", "truncate"))
    play(cut.pk)
    assert "0% scored" in words(visit("viewer").get(RUNS))


def test_polling_goes_on_while_the_run_is_open_and_then_ends(
    visit: Visitor, stage: Stage, model: str
) -> None:
    run = stage.launch(evaluated=model)
    client = visit("author")
    address = f"{RUNS}{run.number}/facts/"
    assert f'hx-get="{address}"' in client.get(f"{RUNS}{run.number}/").content.decode()
    open_ = client.get(address, headers=HTMX)
    assert open_.status_code == 200
    assert 'hx-trigger="every 1s"' in open_.content.decode()
    assert "Cancel run" in words(open_)
    play(run.pk)
    ended = client.get(address, headers=HTMX)
    assert ended.status_code == 286
    assert ended["HX-Trigger"] == "run-ended"
    assert "every 1s" not in ended.content.decode()
    assert "Cancel run" not in words(ended)


def test_a_run_is_cancelled_and_resumed(visit: Visitor, stage: Stage, model: str) -> None:
    run = stage.launch(evaluated=model)
    client = visit("author")
    response = client.post(f"{RUNS}{run.number}/cancel/", follow=True)
    assert "No further request goes out" in words(response)
    play(run.pk)
    assert stage.again(run).state == RunState.CANCELLED
    again = client.post(f"{RUNS}{run.number}/cancel/", follow=True)
    assert "has ended already" in words(again)
    resumed = client.post(f"{RUNS}{run.number}/resume/", follow=True)
    assert "Replies that were paid for are used again." in words(resumed)
    play(run.pk)
    assert stage.again(run).state == RunState.FINISHED
    nothing = client.post(f"{RUNS}{run.number}/resume/", follow=True)
    assert "ended for good" in words(nothing)


def test_failed_samples_can_be_retried(
    visit: Visitor, stage: Stage, model: str, server: FakeOpenAI
) -> None:
    run = stage.launch(TWO_TURNS, evaluated=stage.endpoint("cut", "truncate"))
    play(run.pk)
    assert "Retry failed samples" in words(visit("author").get(f"{RUNS}{run.number}/"))
    assert "Retry failed samples" not in words(visit("viewer").get(f"{RUNS}{run.number}/"))


def test_samples_are_filtered_and_walked(visit: Visitor, cast: Any, server: FakeOpenAI) -> None:
    stage = Stage(cast, server.url, tasks=70)
    run = stage.launch(TWO_TURNS, evaluated=stage.endpoint("e", "echo"))
    play(run.pk)
    client = visit("viewer")
    address = f"{RUNS}{run.number}/samples/"
    first = client.get(address, headers=HTMX)
    assert [row.position for row in first.context["samples"].rows] == list(range(50))
    second = client.get(f"{address}?after={first.context['samples'].next}", headers=HTMX)
    assert [row.position for row in second.context["samples"].rows] == list(range(50, 70))
    found = client.get(f"{address}?q=q0042", headers=HTMX)
    assert [row.position for row in found.context["samples"].rows] == [42]
    none = client.get(f"{address}?ended=provider_error", headers=HTMX)
    assert "No sample matches" in words(none)
    for nonsense in ("after=x", "q=%00", "ended=%00"):
        assert client.get(f"{address}?{nonsense}", headers=HTMX).status_code == 422
    assert "<html" in client.get(address).content.decode()


@pytest.mark.parametrize("number", ["99", "99999999999999999999"])
def test_a_run_that_is_not_there_is_not_found(visit: Visitor, stage: Stage, number: str) -> None:
    for rest in ("", "facts/", "samples/", "samples/0/"):
        assert visit("viewer").get(f"{RUNS}{number}/{rest}").status_code == 404


def test_runs_are_walked_page_by_page(visit: Visitor, stage: Stage, model: str) -> None:
    actor = Actor(operator=True)
    for number in range(52):
        cancel(actor=actor, run=stage.launch(evaluated=model, name=f"try {number}"))
    client = visit("viewer")
    first = client.get(RUNS)
    assert "try 51" in words(first)
    assert "try 1 " not in words(first)
    assert "try 1 " in words(client.get(f"{RUNS}?before={first.context['runs'].next}"))


def test_configuration_is_shown_as_text(visit: Visitor, stage: Stage, model: str) -> None:
    bad = json.dumps("<script>alert(1)</script>")
    text = MANY_PARAMETERS.replace("default_value: hello", f"default_value: {bad}")
    run = stage.launch(text, evaluated=model, config={"other": "judge"}, actor=OPERATOR)
    page = visit("viewer").get(f"{RUNS}{run.number}/").content.decode()
    assert "<script>alert" not in page
