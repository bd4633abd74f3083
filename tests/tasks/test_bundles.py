"""Bundles: everything in one or nothing, a second time nothing, and back as they came."""

import json
from pathlib import Path
from typing import Any

import pytest

from apps.accounts.errors import Invalid, Refusal
from apps.accounts.models import AuditEntry, Project
from apps.accounts.permissions import OPERATOR
from apps.dialogue.scoring import Scored, ScoringContext, parse_scorer
from apps.tasks.actions import load_bundle, set_status
from apps.tasks.bundles import verbatim
from apps.tasks.models import Environment, Revision, Task
from apps.tasks.queries import bundle_of, default_environment, get_environment, get_task_by_key
from apps.tasks.scoring import scorers_for, scripted_results
from tests.cast import Cast

GOLDEN = Path(__file__).parent / "golden" / "bundle.json"


@pytest.fixture
def bundle() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return loaded


@pytest.fixture
def project(cast: Cast) -> Project:
    return cast.project


@pytest.fixture
def bench(project: Project, bundle: dict[str, Any]) -> Environment:
    load_bundle(actor=OPERATOR, project=project, bundle=bundle)
    return get_environment(OPERATOR, project, "bench")


def _revision(environment: Environment, key: str) -> Revision:
    revision = get_task_by_key(OPERATOR, environment, key).current
    assert revision is not None
    return revision


def test_a_dump_is_the_bundle_it_came_from(
    bench: Environment, project: Project, bundle: dict[str, Any]
) -> None:
    for wanted in bundle["environments"]:
        dumped = bundle_of(OPERATOR, get_environment(OPERATOR, project, wanted["name"]))
        assert dumped["environments"] == [wanted]
        assert json.dumps(dumped["environments"][0]["tasks"]) == json.dumps(wanted["tasks"])


def test_a_bundle_loaded_again_changes_nothing(
    bench: Environment, project: Project, bundle: dict[str, Any]
) -> None:
    def rows() -> list[Any]:
        models = (Environment, Task, Revision, AuditEntry)
        tables = [list(model.objects.order_by("pk").values()) for model in models]
        return [*tables, list(bench.tools.values()), list(bench.splits.values())]

    before = rows()
    report = load_bundle(actor=OPERATOR, project=project, bundle=bundle)
    assert (report.created, report.updated, report.unchanged) == (0, 0, 4)
    assert rows() == before


def test_a_changed_bundle_brings_tasks_up_to_it(
    bench: Environment, project: Project, bundle: dict[str, Any]
) -> None:
    train = bundle["environments"][1]["tasks"]["train"]
    train[0]["grader"]["value"] = "M5"
    train[1]["conversation"][0]["blocks"][0]["text"] = "Write it once"
    bundle["environments"][1]["tasks"] = {"odd": train}
    report = load_bundle(actor=OPERATOR, project=project, bundle=bundle)
    assert (report.updated, report.unchanged) == (2, 1)
    assert "M5" in _revision(bench, "screw").grader
    assert get_task_by_key(OPERATOR, bench, "braces").split.name == "odd"
    assert get_task_by_key(OPERATOR, bench, "strange").status == "draft"


def test_graders_and_authored_results_are_kept_and_never_served(bench: Environment) -> None:
    screw = _revision(bench, "screw")
    served = screw.spec_body + screw.messages_body + screw.prompt_body + screw.content
    assert "bM[0-9]" not in served
    assert "canned" not in served
    assert "the shelf fell" not in served
    assert json.loads(screw.spec_body)["target"] == "M4"


def test_a_task_is_graded_by_its_own_scorers_else_by_the_environments(
    bench: Environment,
) -> None:
    assert scorers_for(bench, _revision(bench, "screw")) == [
        {"type": "regex", "ground_truth": r"\bM[0-9]\b"}
    ]
    plain = _revision(bench, "screw")
    plain.grader = ""
    assert scorers_for(bench, plain) == bench.scorers


def test_the_results_of_a_task_come_before_the_tools_own(bench: Environment) -> None:
    find_part = bench.tools.get(name="find_part")
    inputs = [each["input"] for each in scripted_results(find_part, _revision(bench, "screw"))]
    assert inputs == [{"number": "7"}, {"number": "8"}, {"number": "0"}]
    assert len(scripted_results(find_part, _revision(bench, "braces"))) == 1


@pytest.mark.parametrize("text", ["plain", "{{ x }}", "{% raw %}", "{# no", '"q" {{ \\n', "{{ 😀"])
def test_a_wanted_answer_is_never_taken_for_a_template(text: str) -> None:
    scorer = parse_scorer({"type": "string_equals", "ground_truth": verbatim(text)})
    scored = scorer.score(ScoringContext(sample={}, answer=text))
    assert isinstance(scored, Scored)
    assert scored.values == {"is_correct": True}


def test_a_bundle_offers_no_submit_tool_unless_it_says_so(
    bench: Environment, project: Project
) -> None:
    assert bench.offers_submit
    quiz = get_environment(OPERATOR, project, "quiz")
    assert (quiz.offers_submit, quiz.supports_score_group, quiz.scorers) == (False, True, [])
    assert default_environment(OPERATOR, project) == quiz


def test_archived_tasks_are_not_dumped(bench: Environment) -> None:
    for key in ("screw", "strange"):
        task = get_task_by_key(OPERATOR, bench, key)
        set_status(actor=OPERATOR, task=task, status="archived")
    dumped = bundle_of(OPERATOR, bench)["environments"][0]["tasks"]
    assert {name: [task["id"] for task in tasks] for name, tasks in dumped.items()} == {
        "train": ["braces"],
        "odd": [],
    }


TASK = ("environments", 1, "tasks", "train", 0)


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (("environments", 0, "name"), "api", "slug"),
        (("environments", 0, "colour"), 1, "environments[0].colour"),
        (("environments", 0, "score_group"), "yes", "environments[0].score_group"),
        (("environments", 0, "splits", 0, "kind"), 1, "environments[0].splits[0].kind"),
        (("environments", 0, "tools", 0, "kind"), "magic", "environments[0].tools[0].kind"),
        (("environments", 0, "splits", 0, "name"), "a/b", "environments[0].splits[0].name"),
        (("environments", 0, "splits", 0, "type"), "exam", "environments[0].splits[0].type"),
        (("environments", 0, "splits", 0, "type"), 1, "environments[0].splits[0].type"),
        (("environments", 0, "splits", 0, "type"), [], "environments[0].splits[0].type"),
        (("environments", 0, "tools", 0, "kind"), [], "environments[0].tools[0].kind"),
        (("environments", 0, "tools", 0, "name"), None, "environments[0].tools[0].name"),
        (("environments", 0, "tools", 0, "name"), 7, "environments[0].tools[0].name"),
        (("environments", 0, "tools", 0, "argument"), 7, "environments[0].tools[0].argument"),
        (("environments", 0, "tools", 0, "argument"), {}, "environments[0].tools[0].argument"),
        (("environments", 0, "tasks", "dev"), [], "environments[0].tasks.dev"),
        ((*TASK, "id"), 7, "environments[1].tasks.train[0].id"),
        ((*TASK, "id"), "braces", "environments[1].tasks.train[1].id"),
        ((*TASK, "id"), " a", "environments[1].tasks.train[0].id"),
        ((*TASK, "id"), "\ud800", "environments[1].tasks.train[0].id"),
        ((*TASK, "grader", "type"), "magic", "environments[1].tasks.train[0].grader.type"),
        ((*TASK, "grader", "value"), 7, "environments[1].tasks.train[0].grader.value"),
        ((*TASK, "grader", "value"), "(", "environments[1].tasks.train[0].grader[0].ground_truth"),
        ((*TASK, "canned"), [], "environments[1].tasks.train[0].canned"),
        (
            (*TASK, "canned", "find_part", 0, "delay_ms"),
            -1,
            "environments[1].tasks.train[0].canned.find_part[0].delay_ms",
        ),
        (
            (*TASK, "conversation", 1, "role"),
            "robot",
            "environments[1].tasks.train[0].conversation[1].role",
        ),
        ((*TASK, "conversation"), [], "environments[1].tasks.train[0].messages"),
        ((*TASK, "turnwright"), {"colour": 1}, "environments[1].tasks.train[0].turnwright.colour"),
        (("default_environment",), "nowhere", "environment"),
        (("default_environment",), ["bench"], "default_environment"),
    ],
)
def test_a_wrong_bundle_is_refused_at_its_place_and_changes_nothing(
    project: Project, bundle: dict[str, Any], path: tuple[Any, ...], value: Any, place: str
) -> None:
    inner: Any = bundle
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    with pytest.raises(Refusal) as refusal:
        load_bundle(actor=OPERATOR, project=project, bundle=bundle)
    assert refusal.value.place == place
    assert not Environment.objects.exists()
    assert not Task.objects.exists()


def test_an_equals_grader_cannot_ignore_the_case(project: Project, bundle: dict[str, Any]) -> None:
    grader = {"type": "equals", "value": "x", "ignore_case": True}
    bundle["environments"][0]["tasks"]["test"][0]["grader"] = grader
    with pytest.raises(Invalid, match="letter by letter"):
        load_bundle(actor=OPERATOR, project=project, bundle=bundle)
