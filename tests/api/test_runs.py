"""Solvers, runs, samples and traces over the API, with the real worker played by hand."""

from typing import Any

import pytest
from latticeflow.core.dtypes import Trace as LatticeFlowTrace

from apps.accounts.permissions import OPERATOR
from apps.providers.actions import create_endpoint
from apps.providers.demo_server import demo_server
from apps.runs import playing
from apps.runs.models import Run
from apps.tasks.models import Split
from tests.api.callers import Caller
from tests.cast import Cast
from tests.factories import make_task

SPEC = """\
key: first-answer
display_name: First answer
config_spec:
  - {type: string, key: word, display_name: Word, default_value: capital}
definition:
  dataset: {key: questions}
  solver:
    type: multi_turn_solver
    message_builders:
      - {type: chat_message, role: user, content: "{{ sample.question }} (<< config.word >>)"}
      - {type: generate}
  scorers:
    - type: includes
      ground_truth: "{{ sample.target }}"
      metrics: [{type: mean, field: is_correct, name: Accuracy}]
"""


@pytest.fixture
def questions(cast: Cast, split: Split) -> None:
    """Three ready questions and an endpoint that echoes them."""
    for word in ("Paris", "Rome", "Oslo"):
        content = {"messages": [], "attributes": {"question": f"Say {word}", "target": word}}
        content["messages"] = [
            {"role": "user", "blocks": [{"type": "text", "text": f"Say {word}"}]}
        ]
        make_task(split=split, key=word.lower(), content=content, status="ready")
    create_endpoint(actor=OPERATOR, project=cast.project, key="echo", base_url="demo", model="echo")


@pytest.fixture
def launched(alpha: Caller, questions: None) -> dict[str, Any]:
    assert alpha.post("solvers/", {"text": SPEC}).status == 201
    heard = alpha.post("runs/", launch(trials=2, limit=2, name="Twice"))
    assert heard.status == 201, heard.body
    found: dict[str, Any] = heard.json
    return found


def play() -> None:
    """What a worker does when its doorbell rings."""
    with demo_server() as demo_url:
        playing.play(demo_url=demo_url)


def launch(**changes: Any) -> dict[str, Any]:
    wanted = {"environment": "shop", "split": "train", "solver": "first-answer", "model": "echo"}
    return {**wanted, **changes}


def test_a_solver_is_saved_in_versions_that_never_change(alpha: Caller) -> None:
    made = alpha.post("solvers/", {"text": SPEC, "key": "first-answer"})
    assert made.status == 201
    assert (made.json["key"], made.json["version"], made.json["text"]) == ("first-answer", 1, SPEC)
    assert alpha.post("solvers/", {"text": SPEC}).json["version"] == 1
    changed = SPEC.replace("First answer", "First reply")
    assert alpha.post("solvers/", {"text": changed}).json["version"] == 2
    assert alpha.get("solvers/first-answer/").json["display_name"] == "First reply"
    assert alpha.get("solvers/first-answer/?version=1").json["text"] == SPEC
    versions = alpha.get("solvers/first-answer/versions/").json["items"]
    assert [each["version"] for each in versions] == [2, 1]
    listed = alpha.get("solvers/").json["items"]
    assert [(each["key"], each["version"]) for each in listed] == [("first-answer", 2)]
    assert alpha.get("solvers/first-answer/?version=3").status == 404
    assert alpha.get("solvers/none/versions/").status == 404


def test_the_dataset_of_a_run_is_the_environment_that_is_played(
    alpha: Caller, questions: None
) -> None:
    parameter = "{type: dataset, key: data, display_name: Data, default_value: demo/x}"
    spec = SPEC.replace("config_spec:\n", f"config_spec:\n  - {parameter}\n")
    alpha.post("solvers/", {"text": spec.replace("key: questions", "key: << config.data >>")})
    made = alpha.post("runs/", launch())
    assert (made.status, made.json["config"]["data"]) == (201, "alpha/shop")
    refused = alpha.post("runs/", launch(config={"data": "alpha/other"})).problem
    assert (refused["status"], refused["place"]) == (422, "config.data")
    assert "alpha/shop" in refused["detail"]
    assert "alpha/other" in refused["detail"]


def test_everything_wrong_with_a_specification_is_named_at_once(alpha: Caller) -> None:
    wrong = SPEC.replace("type: generate", "type: generat").replace("type: includes", "type: inc")
    for where in ("solvers/", "solver-checks/"):
        found = alpha.post(where, {"text": wrong}).problem
        assert found["status"] == 422
        assert [each["place"] for each in found["problems"]] == [
            "definition.solver.message_builders[1].type",
            "definition.scorers[0].type",
        ]
    for text in ("", "a: [", "- 1", "key: x", "a: &a [*a]", "\t", "!!python/object:os.system {}"):
        assert alpha.post("solvers/", {"text": text}).status == 422
    assert alpha.post("solvers/", {"text": SPEC, "key": "other"}).problem["place"] == "key"
    assert alpha.get("solvers/").json["items"] == []


def test_a_check_saves_nothing_and_tells_what_is_doubtful(alpha: Caller) -> None:
    silent = SPEC.replace("      - {type: generate}\n", "")
    heard = alpha.post("solver-checks/", {"text": silent})
    assert heard.status == 200
    assert heard.json["lints"][0]["code"] == "no-answer"
    assert heard.json["lints"][0]["place"] == "definition.solver.message_builders"
    assert alpha.get("solvers/").json["items"] == []


@pytest.mark.django_db(transaction=True)
def test_a_run_is_launched_played_and_read(alpha: Caller, launched: dict[str, Any]) -> None:
    assert (launched["number"], launched["state"], launched["samples_total"]) == (1, "queued", 4)
    assert launched["config"] == {"word": "capital"}
    play()
    run = alpha.get("runs/1/").json
    assert (run["state"], run["samples_done"], run["samples_scored"]) == ("finished", 4, 4)
    assert run["calls"] == 4
    (metric,) = run["metrics"]
    assert (metric["value"], metric["n"], metric["coverage"]) == (1.0, 2, 1.0)
    assert metric["low"] < 1.0 == metric["high"]
    assert alpha.get("runs/").json["items"] == [run]


@pytest.mark.django_db(transaction=True)
def test_samples_and_their_traces_are_read(alpha: Caller, launched: dict[str, Any]) -> None:
    play()
    first = alpha.get("runs/1/samples/?limit=3").json
    second = alpha.get(f"runs/1/samples/?limit=3&after={first['next']}").json
    samples = first["items"] + second["items"]
    assert [each["position"] for each in samples] == [0, 1, 2, 3]
    assert second["next"] is None
    assert [each["trial"] for each in samples] == [0, 0, 1, 1]
    assert len(alpha.get("runs/1/samples/?search=ROME").json["items"]) == 2
    assert alpha.get("runs/1/samples/?ended=waiting").json["items"] == []
    sample = alpha.get("runs/1/samples/1/").json
    assert sample == samples[1]
    assert (sample["task_key"], sample["answer"]) == ("rome", "Say Rome (capital)")
    assert sample["scores"][0]["scorer"]

    trace = alpha.get(f"traces/{sample['trace']}/").json
    roles = [
        each["body"]["message"]["role"]
        for each in trace["entries"]
        if each["kind"] == "message_event"
    ]
    assert roles == ["user", "assistant"]
    assert (trace["answer"], trace["more"]) == (sample["answer"], False)
    (call,) = trace["calls"]
    assert (call["state"], call["purpose"]) == ("kept", "evaluated")
    assert "chat.completion" in call["response"]
    assert trace["scores"][0]["values"]
    page = alpha.get(f"traces/{sample['trace']}/?limit=1").json
    assert (len(page["entries"]), page["more"]) == (1, True)
    rest = alpha.get(f"traces/{sample['trace']}/?after={page['entries'][0]['position']}").json
    assert page["entries"] + rest["entries"] == trace["entries"]


@pytest.mark.django_db(transaction=True)
def test_a_trace_is_exported_as_latticeflow_reads_it(
    alpha: Caller, launched: dict[str, Any]
) -> None:
    play()
    number = alpha.get("runs/1/samples/0/").json["trace"]
    heard = alpha.get(f"traces/{number}/?format=open_responses")
    read = LatticeFlowTrace.model_validate(heard.json)
    assert len(read.items) == 2
    assert heard.json["items"][1]["content"][0]["text"] == "Say Paris (capital)"


def test_a_run_is_cancelled_and_resumed(alpha: Caller, launched: dict[str, Any]) -> None:
    cancelled = alpha.post("runs/1/cancel/")
    assert cancelled.status == 200
    assert cancelled.json["state"] == "cancelled"
    assert alpha.post("runs/1/cancel/").status == 409
    resumed = alpha.post("runs/1/resume/", {})
    assert resumed.status == 200
    assert resumed.json["state"] == "queued"
    assert alpha.post("runs/1/resume/").status == 409
    assert alpha.post("runs/1/cancel/", {"now": True}).problem["place"] == "now"


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"environment": "none"}, "environment"),
        ({"split": "none"}, "split"),
        ({"solver": "none"}, "solver"),
        ({"solver_version": 9}, "solver"),
        ({"model": "none"}, "model"),
        ({"config": {"colour": "red"}}, "config.colour"),
        ({"trials": 0}, "trials"),
        ({"trials": 1.5}, "trials"),
        ({"limit": -1}, "limit"),
        ({"concurrency": 0}, "concurrency"),
        ({"name": "x" * 201}, "name"),
        ({"sample": 1}, "sample"),
    ],
)
def test_a_wrong_launch_is_refused_by_place_and_starts_nothing(
    alpha: Caller, questions: None, changes: dict[str, Any], place: str
) -> None:
    alpha.post("solvers/", {"text": SPEC})
    heard = alpha.post("runs/", launch(**changes))
    assert heard.status == 422
    assert heard.problem["place"] == place
    assert not Run.objects.exists()


def test_a_split_without_ready_tasks_cannot_be_run(alpha: Caller, questions: None) -> None:
    alpha.post("solvers/", {"text": SPEC})
    alpha.post("environments/shop/splits/", {"name": "empty"})
    assert alpha.post("runs/", launch(split="empty")).problem["place"] == "split"


def test_what_is_not_there_is_not_found(alpha: Caller, launched: dict[str, Any]) -> None:
    for path in (
        "runs/2/",
        "runs/999999999999999999/",
        "runs/1/samples/99/",
        "runs/1/samples/999999999999999999/",
        "traces/999999999999999999/",
    ):
        assert alpha.get(path).status == 404, path
