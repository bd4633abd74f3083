"""The unmodified `openreward` client against the product as it is served."""

import asyncio
import dataclasses
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import aiohttp
import pytest
from openreward import (
    AsyncEnvironmentsAPI,
    EnvironmentsAPI,
    GroupCandidate,
    Message,
    OpenReward,
    ScoreGroupUnsupported,
)
from openreward.api.environments.client import convert_messages
from openreward.api.environments.types import AuthenticationError, TextBlock, ToolCallError
from openreward.api.errors import SessionTerminatedError, ToolFailed
from openreward.environments.types import Message as ServedMessage

from tests.harness.bundle import RIDDLES
from tests.harness.live import LiveServer

pytestmark = pytest.mark.worker

FORMATS = ["openai", "openrouter", "anthropic", "google"]


@pytest.fixture(autouse=True)
def _no_update_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENREWARD_DISABLE_UPDATE_CHECK", "1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")


@pytest.fixture
def api(live: LiveServer) -> Iterator[EnvironmentsAPI]:
    with EnvironmentsAPI(live.url, live.key, api_base_url=live.url) as environments:
        yield environments


def test_the_documented_way(live: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENREWARD_API_KEY", live.key)
    monkeypatch.setenv("OPENREWARD_SESSION_URL", live.url)
    monkeypatch.setenv("OPENREWARD_API_URL", live.url)
    with OpenReward() as client:
        riddles = client.environments.get("kit/riddles")
        assert riddles.list_splits() == ["train", "test"]
        assert riddles.num_tasks("train") == 3
        tasks = riddles.list_tasks("train")
        assert [task.task_spec["id"] for task in tasks] == ["moon", "look-up", "picture"]
        with riddles.session(task=tasks[1]) as session:
            assert session.get_prompt()[0].text == "[system]"
            assert session.get_messages(format="anthropic")["system"] == (
                "Use the shelf.\n\nAnswer briefly."
            )
            assert session.is_assistant_message_final() is True
            assert session.call_terminal_tool("It is in row 4.").reward == 1.0


@pytest.mark.parametrize("index", range(3))
def test_messages_and_formats_are_those_of_the_reference(api: EnvironmentsAPI, index: int) -> None:
    conversation = RIDDLES["train"][index]["conversation"]
    with api.get("kit/riddles", variant="riddles").session(split="train", index=index) as session:
        messages = session.get_messages()
        served = [ServedMessage.model_validate(each).model_dump() for each in conversation]
        assert [dataclasses.asdict(message) for message in messages] == served
        for form in FORMATS:
            assert _or_error(session.get_messages, form) == _or_error(
                lambda form, messages=messages: convert_messages(messages, format=form), form
            )


def _or_error(convert: Any, form: str) -> Any:
    try:
        return convert(form)
    except ValueError as error:
        return type(error)


def test_tools_are_called_and_refusals_have_their_reasons(api: EnvironmentsAPI) -> None:
    counter = api.get("kit/counter")
    assert [tool.name for tool in counter.list_tools()] == ["find_order", "submit"]
    assert len(counter.list_tools(format="openai")) == 2
    with counter.session(split="test", index=1) as session:
        assert session.call_tool("find_order", {"id": "7302"}).blocks[0].text == "held at the depot"
        for name, given, reason in [
            ("ghost", {}, "not_found"),
            ("submit", {}, "input_validation"),
            ("submit", {"answer": 42}, "input_validation"),
        ]:
            with pytest.raises(ToolCallError) as refusal:
                session.call_tool(name, given)
            assert refusal.value.reason == reason
        output = session.call_tool("submit", {"answer": "done"})
        assert (output.reward, output.finished) == (1.0, True)
        with pytest.raises(ToolCallError) as refusal:
            session.call_tool("submit", {"answer": "done"})
        assert refusal.value.reason == "episode_finished"


def test_large_and_odd_results_arrive_whole(api: EnvironmentsAPI) -> None:
    with api.get("kit/counter").session(split="test", index=1) as session:
        text = session.call_tool("find_order", {"id": "spaces"}).blocks[0].text
        assert text == "a" + " " * 9000 + "b\n\u2028" + "  x" * 3000


def test_a_failing_tool_is_told_as_such(api: EnvironmentsAPI) -> None:
    with (
        api.get("kit/counter").session(split="test", index=1) as session,
        pytest.raises(ToolFailed, match="on fire"),
    ):
        session.call_tool("find_order", {"id": "crash"})


def test_groups_are_scored(api: EnvironmentsAPI) -> None:
    def says(text: str) -> Message:
        return Message(role="assistant", blocks=[TextBlock(text=text)])

    with api.get("kit/riddles").session(split="test", index=0) as session:
        assert session.supports_score_group()
        scores = session.score_group([[says("Graz")], GroupCandidate(messages=[says("Vienna")])])
        assert [score.reward for score in scores] == [0.0, 1.0]
    with (
        api.get("kit/counter").session(split="test", index=0) as session,
        pytest.raises(ScoreGroupUnsupported),
    ):
        session.score_group([[says("42")]])


def test_a_wrong_key_is_an_authentication_error(live: LiveServer) -> None:
    for key in ("wrong", ""):
        with EnvironmentsAPI(live.url, key) as api:
            with pytest.raises(AuthenticationError):
                api.get("kit/riddles").list_splits()
            with pytest.raises(AuthenticationError):
                api.get("kit/riddles").session(split="test", index=0).__enter__()


@pytest.mark.parametrize("name", ["kit/ghost", "nobody/riddles"])
def test_what_is_not_there_is_not_found(api: EnvironmentsAPI, name: str) -> None:
    with pytest.raises(aiohttp.ClientResponseError) as refusal:
        api.get(name).list_splits()
    assert refusal.value.status == 404


def test_a_session_deleted_elsewhere_ends_the_clients(
    api: EnvironmentsAPI, live: LiveServer
) -> None:
    with api.get("kit/counter").session(split="test", index=0) as session:
        assert live.ask("POST", "/delete", sid=session.sid)[0] == 200
        with pytest.raises(aiohttp.ClientResponseError) as refusal:
            session.list_tools()
        assert refusal.value.status == 410
        with pytest.raises(SessionTerminatedError):
            session.call_tool("submit", {"answer": "42"})


def test_leaving_ends_the_session(api: EnvironmentsAPI, live: LiveServer) -> None:
    with api.get("kit/counter").session(split="test", index=0) as session:
        sid = session.sid
        assert live.ask("POST", "/ping", sid=sid)[0] == 200
    assert live.ask("POST", "/ping", sid=sid)[0] == 410


def test_of_many_submissions_at_once_one_is_graded(api: EnvironmentsAPI) -> None:
    with (
        api.get("kit/counter").session(split="test", index=0) as session,
        ThreadPoolExecutor(12) as pool,
    ):

        def submit(number: int) -> str:
            try:
                answer = "42" if number % 2 else "0"
                return str(session.call_tool("submit", {"answer": answer}).finished)
            except ToolCallError as refusal:
                return str(refusal.reason)

        outcomes = sorted(pool.map(submit, range(12)))
    assert outcomes == ["True"] + ["episode_finished"] * 11


def test_sixty_four_episodes_at_once(live: LiveServer) -> None:
    async def episode(environment: Any, number: int) -> float:
        async with environment.session(split="test", index=0) as session:
            assert (await session.get_messages())[0].role == "user"
            assert len(await session.list_tools()) == 2
            output = await session.call_tool("submit", {"answer": "42" if number % 2 else "0"})
            assert output.finished
            return float(output.reward)

    async def all_of_them() -> list[float]:
        async with AsyncEnvironmentsAPI(live.url, live.key) as api:
            counter = api.get("kit/counter")
            return await asyncio.gather(*(episode(counter, number) for number in range(64)))

    assert asyncio.run(all_of_them()) == [float(number % 2) for number in range(64)]
