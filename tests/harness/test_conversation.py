"""What a session reads is, byte for byte of meaning, what the reference would send."""

import dataclasses
import json
from typing import Any

import pytest
from openreward.api.environments.client import convert_messages
from openreward.api.environments.types import Message as ClientMessage
from openreward.environments.types import Message

from apps.accounts.models import Project
from apps.accounts.permissions import OPERATOR
from apps.tasks.actions import save_revision
from apps.tasks.queries import get_environment, get_task_by_key
from tests.harness.bundle import COUNTER, RIDDLES, find, says
from tests.harness.harnesses import Harness

EVERY_TASK = [
    *(("riddles", task["id"]) for listed in RIDDLES.values() for task in listed),
    *(("counter", task["id"]) for task in COUNTER),
]
FORMATS = ["openai", "openrouter", "anthropic", "google"]


def of_the_client(wire: list[dict[str, Any]]) -> list[ClientMessage]:
    """Messages as the real client reads them."""
    from openreward.api.environments.client import _parse_blocks

    return [
        ClientMessage(role=m["role"], blocks=_parse_blocks(m["blocks"]), detail=m["detail"])
        for m in wire
    ]


@pytest.mark.parametrize(("environment", "key"), EVERY_TASK)
def test_messages_are_what_the_reference_server_sends(
    harness: Harness, environment: str, key: str
) -> None:
    conversation = find(environment, key)[2]["conversation"]
    want = [Message.model_validate(m).model_dump(mode="json") for m in conversation]
    got = harness.get(f"/{environment}/messages", harness.session(environment, key)).json
    assert json.dumps(got) == json.dumps(want)


def test_the_order_of_keys_reaches_the_model(harness: Harness) -> None:
    heard = harness.get("/riddles/prompt", harness.session("riddles", "look-up"))
    texts = [block["text"] for block in heard.json]
    assert any('{"zebra": 1, "apple": {"pear": 2.0, "fig": null}' in text for text in texts)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("environment", "key"), EVERY_TASK)
def test_a_format_is_what_the_client_would_build_or_refused_with_the_reason(
    harness: Harness, environment: str, key: str, form: Any
) -> None:
    sid = harness.session(environment, key)
    messages = of_the_client(harness.get(f"/{environment}/messages", sid).json)
    heard = harness.get(f"/{environment}/messages?format={form}", sid)
    try:
        want = convert_messages(messages, format=form)
    except ValueError:
        assert heard.status == 422
        assert heard.detail
    else:
        assert json.dumps(heard.json) == json.dumps(want, ensure_ascii=True)


def test_an_unknown_format_is_refused_by_name(harness: Harness) -> None:
    heard = harness.get("/riddles/messages?format=cohere", harness.session("riddles", "moon"))
    assert heard.status == 422
    assert "cohere" in heard.detail
    assert "anthropic" in heard.detail


def test_a_session_keeps_the_revision_it_started_with(harness: Harness, kit: Project) -> None:
    sid = harness.session("riddles", "moon")
    before = harness.get("/riddles/messages", sid).body
    task = get_task_by_key(OPERATOR, get_environment(OPERATOR, kit, "riddles"), "moon")
    save_revision(
        actor=OPERATOR, task=task, base=1, content={"messages": [says("user", "Another riddle.")]}
    )
    assert harness.get("/riddles/messages", sid).body == before
    later = harness.session("riddles", "moon")
    assert "Another riddle." in harness.get("/riddles/messages", later).body.decode()


def test_a_warm_body_costs_one_query(harness: Harness, django_assert_num_queries: Any) -> None:
    sid = harness.session("riddles", "look-up")
    for path in ("/riddles/messages", "/riddles/prompt", "/riddles/messages?format=openai"):
        first = harness.get(path, sid).body
        with django_assert_num_queries(1):
            assert harness.get(path, sid).body == first


def test_everything_stays_readable_after_the_episode_has_finished(harness: Harness) -> None:
    sid = harness.session("counter", "sum")
    assert harness.submit(sid, "42").result["output"]["finished"]
    for path in ("messages", "prompt", "task_tools"):
        assert harness.get(f"/counter/{path}", sid).status == 200


def test_the_tools_of_a_session_are_those_of_its_environment(harness: Harness) -> None:
    sid = harness.session("counter", "sum")
    assert harness.get("/counter/task_tools", sid).json == harness.get("/counter/tools").json


def test_another_environments_path_does_not_serve_a_session(harness: Harness) -> None:
    """And not with 404, which the client reads as "ask the older address"."""
    sid = harness.session("counter", "sum")
    for path in ("messages", "prompt", "task_tools"):
        heard = harness.get(f"/riddles/{path}", sid)
        assert heard.status == 400
        assert "counter" in heard.detail
    assert harness.call(sid, "submit", {"answer": "42"}, "riddles").status == 400
    assert harness.submit(sid, "42").result["output"]["reward"] == 1.0


def test_the_client_reads_what_is_served(harness: Harness) -> None:
    wire = harness.get("/riddles/messages", harness.session("riddles", "look-up")).json
    assert [dataclasses.asdict(m)["role"] for m in of_the_client(wire)] == [
        "system", "user", "assistant", "user",
    ]  # fmt: skip
