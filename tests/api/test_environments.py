"""Environments, tools, splits."""

from typing import Any

import pytest

from apps.tasks.models import Environment
from tests.api.callers import Caller


def test_an_environment_is_made_read_and_changed(alpha: Caller) -> None:
    made = alpha.post("environments/", {"slug": "quiz", "description": "Questions"})
    assert made.status == 201
    assert (made.json["name"], made.json["is_default"]) == ("quiz", True)
    assert alpha.get("environments/QUIZ/").json == made.json
    changed = alpha.patch(
        "environments/quiz/",
        {"name": "Quiz", "scorers": [{"type": "includes", "ground_truth": "{{ sample.target }}"}]},
    )
    assert changed.status == 200
    assert (changed.json["name"], changed.json["description"]) == ("Quiz", "Questions")
    assert changed.json["scorers"][0]["type"] == "includes"
    assert alpha.get("environments/").json["items"] == [changed.json]


@pytest.mark.parametrize(
    ("body", "status", "place"),
    [
        ({"slug": "shop"}, 409, "slug"),
        ({"slug": "api"}, 422, "slug"),
        ({"slug": "No"}, 422, "slug"),
        ({"slug": "ok", "colour": 1}, 422, "colour"),
        ({"slug": "ok", "scorers": [{"type": "nonsense"}]}, 422, "scorers[0].type"),
        ({"slug": "ok", "tools": [{"name": "t"}]}, 422, "tools[0].kind"),
        ({"slug": "ok", "tools": [{"name": "a b", "kind": "answer"}]}, 422, "tools[0].name"),
        (
            {"slug": "ok", "tools": [{"name": "t", "kind": "answer", "input_schema": {"type": 1}}]},
            422,
            "tools[0].input_schema.type",
        ),
        ({"slug": "ok", "name": "x" * 201}, 422, "name"),
    ],
)
def test_a_wrong_environment_is_refused_by_place(
    alpha: Caller, environment: Environment, body: dict[str, Any], status: int, place: str
) -> None:
    heard = alpha.post("environments/", body)
    assert heard.status == status
    assert heard.problem["place"] == place


def test_an_environment_of_another_project_is_not_found(
    api: Caller, environment: Environment
) -> None:
    assert api.get("projects/alpha/environments/shop/").status == 200
    assert api.get("projects/beta/environments/shop/").status == 404
    assert api.get("projects/alpha/environments/none/").problem["place"] == "environment"


def test_tools_are_replaced_as_a_whole_key_order_kept(
    alpha: Caller, environment: Environment
) -> None:
    schema = {"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "number"}}}
    tools = [
        {"name": "answer", "kind": "answer", "input_schema": schema, "argument": "z"},
        {"name": "closing", "kind": "answer", "is_terminal": True, "ends_episode": False},
    ]
    put = alpha.put("environments/shop/tools/", {"tools": tools})
    assert put.status == 200
    assert alpha.get("environments/shop/tools/").json == put.json
    first, second = put.json["items"]
    assert list(first["input_schema"]["properties"]) == ["z", "a"]
    assert (second["is_terminal"], second["input_schema"]) == (True, None)
    twice = alpha.put("environments/shop/tools/", {"tools": [tools[0], tools[0]]})
    assert twice.problem["place"] == "tools[1].name"
    assert alpha.get("environments/shop/tools/").json == put.json


def test_splits_are_made_once(alpha: Caller, environment: Environment) -> None:
    made = alpha.post("environments/shop/splits/", {"name": "test"})
    assert made.status == 201
    assert made.json == {"name": "test", "type": "test", "task_count": 0, "ready_count": 0}
    assert alpha.post("environments/shop/splits/", {"name": "test"}).status == 409
    other = alpha.post("environments/shop/splits/", {"name": "extra", "type": "train"})
    assert other.json["type"] == "train"
    assert alpha.post("environments/shop/splits/", {"name": " x"}).problem["place"] == "name"
    listed = alpha.get("environments/shop/splits/").json["items"]
    assert [each["name"] for each in listed] == ["test", "extra"]
