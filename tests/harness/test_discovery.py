"""What a harness can find out before it opens a session."""

from typing import Any

import pytest
from openreward.api.environments.types import ToolSpec

from apps.accounts.models import Project
from apps.accounts.permissions import OPERATOR
from apps.tasks.actions import set_status, update_environment
from apps.tasks.queries import get_environment, get_task_by_key
from tests.harness.bundle import COUNTER, RIDDLES
from tests.harness.harnesses import Harness

TRAIN = [task["id"] for task in RIDDLES["train"]]


def ids(heard: Any) -> list[str]:
    return [task["id"] for task in heard.json["tasks"]]


def test_health_and_version_need_no_key() -> None:
    nobody = Harness(None)
    assert nobody.get("/health").json == {"status": "ok"}
    assert set(nobody.get("/version").json) == {"version", "build_sha"}


def test_the_default_environment_is_listed_first(harness: Harness) -> None:
    assert harness.get("/list_environments").json == ["riddles", "counter"]


def test_splits_are_listed_in_their_order_whatever_the_case_of_the_name(harness: Harness) -> None:
    want = [{"name": "train", "type": "train"}, {"name": "test", "type": "test"}]
    assert harness.get("/riddles/splits").json == want
    assert harness.get("/RIDDLES/splits").json == want


def test_tools_have_exactly_the_keys_that_the_client_knows(harness: Harness) -> None:
    answer = harness.get("/counter/tools").json
    assert [ToolSpec(**tool).name for tool in answer["tools"]] == ["find_order", "submit"]
    assert answer["terminal_tool"] is None
    assert answer["supports_score_group"] is False
    assert answer["message_block_types"] == [
        "text", "image", "reasoning", "tool_call", "tool_result",
    ]  # fmt: skip


def test_a_terminal_tool_is_hidden_from_the_list(harness: Harness) -> None:
    answer = harness.get("/riddles/tools").json
    assert answer["tools"] == []
    assert answer["terminal_tool"] == {
        "name": "reply", "arg": "text", "description": "Grade the closing message.",
    }  # fmt: skip


def test_an_environment_may_offer_a_visible_submit_beside_its_terminal_tool(
    harness: Harness, kit: Project
) -> None:
    riddles = get_environment(OPERATOR, kit, "riddles")
    update_environment(actor=OPERATOR, environment=riddles, offers_submit=True)
    (tool,) = harness.get("/riddles/tools").json["tools"]
    assert tool["name"] == "submit"
    assert tool["input_schema"]["required"] == ["answer"]
    sid = harness.session("riddles", "capital")
    output = harness.call(sid, "submit", {"answer": "Vienna"}, "riddles").result["output"]
    assert (output["reward"], output["finished"]) == (1.0, True)


def test_tasks_are_listed_by_position_and_without_their_graders(harness: Harness) -> None:
    heard = harness.post("/riddles/tasks", body={"split": "train"})
    assert ids(heard) == TRAIN
    assert heard.json["env_name"] == "riddles"
    assert all(set(task) == {"id", "conversation"} for task in heard.json["tasks"])
    lab = harness.post("/counter/task", body={"split": "test", "index": 1}).json["task"]
    assert set(lab) == {"id", "conversation"}


@pytest.mark.parametrize("index", [0, 2, -1, -3])
def test_an_index_is_pythons(harness: Harness, index: int) -> None:
    heard = harness.post("/riddles/task", body={"split": "train", "index": index})
    assert heard.json["task"]["id"] == TRAIN[index]
    assert heard.json["env_name"] == "riddles"


@pytest.mark.parametrize("index", [3, -4, 10**30, -(10**30)])
def test_an_index_beyond_either_end_is_refused(harness: Harness, index: int) -> None:
    heard = harness.post("/riddles/task", body={"split": "train", "index": index})
    assert heard.status == 400
    assert "3 tasks" in heard.detail


@pytest.mark.parametrize(
    ("start", "stop"),
    [
        (None, None), (0, 2), (-2, None), (None, -1), (2, 1), (-99, 2), (2, 99), (50, 60),
        (0, 10**30), (-(10**30), None),
    ],
)  # fmt: skip
def test_a_range_is_a_slice(harness: Harness, start: int | None, stop: int | None) -> None:
    heard = harness.post(
        "/riddles/task_range", body={"split": "train", "start": start, "stop": stop}
    )
    assert ids(heard) == TRAIN[start:stop]


def test_a_range_without_bounds_is_the_whole_split(harness: Harness) -> None:
    assert ids(harness.post("/riddles/task_range", body={"split": "train"})) == TRAIN


def test_only_ready_tasks_are_served(harness: Harness, kit: Project) -> None:
    riddles = get_environment(OPERATOR, kit, "riddles")
    set_status(
        actor=OPERATOR, task=get_task_by_key(OPERATOR, riddles, "look-up"), status="archived"
    )
    assert harness.post("/riddles/num_tasks", body={"split": "train"}).json == {"num_tasks": 2}
    assert ids(harness.post("/riddles/tasks", body={"split": "train"})) == ["moon", "picture"]
    assert harness.post("/riddles/task", body={"split": "train", "index": 2}).status == 400


@pytest.mark.parametrize("path", ["tasks", "num_tasks", "task", "task_range"])
def test_an_unknown_split_is_the_bodys_fault_and_not_the_addresss(
    harness: Harness, path: str
) -> None:
    body = {"split": "nope", **({"index": 0} if path == "task" else {})}
    heard = harness.post(f"/riddles/{path}", body=body)
    assert heard.status == 400
    assert "nope" in heard.detail


def test_long_listings_are_streamed_whole(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apps.harness.views.discovery.BATCH", 2)
    heard = harness.post("/riddles/tasks", body={"split": "train"})
    assert "Content-Length" not in heard.headers
    assert ids(heard) == TRAIN


def test_counts_are_those_of_the_bundle(harness: Harness) -> None:
    heard = harness.post("/counter/num_tasks", body={"split": "test"})
    assert heard.json == {"num_tasks": len(COUNTER)}
