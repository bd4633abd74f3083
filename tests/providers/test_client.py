import asyncio
import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from apps.dialogue.completeness import Usage
from apps.dialogue.errors import IncompleteReply, ModelCallFailed
from apps.dialogue.message import Message, text_message
from apps.providers.client import Caller
from apps.providers.models import Api
from apps.providers.targets import Target, complete, cost_of, prepare
from tests.kits.fake_openai import FakeOpenAI

HELLO = [text_message("system", "Be brief."), text_message("user", "Hello")]


def target(server: FakeOpenAI, model: str = "echo", **changes: Any) -> Target:
    made = Target(
        endpoint_id=1,
        key="under-test",
        base_url=server.url,
        model=model,
        api=Api.CHAT_COMPLETIONS,
        secret="sk-secret",
        parameters={},
        timeout=5,
        max_retries=0,
        max_concurrent_requests=None,
        price_input=None,
        price_cached_input=None,
        price_output=None,
        trusted=False,
    )
    return replace(made, **changes)


def ask(asked: Target, messages: list[Message] = HELLO) -> Message:
    async def exchange() -> Message:
        async with Caller() as caller:
            raw = await caller.post(asked, prepare(asked, messages))
        assert raw.latency_ms > 0
        return complete(asked, raw.response).message

    return asyncio.run(exchange())


def test_a_reply_comes_back_as_a_message(server: FakeOpenAI) -> None:
    assert ask(target(server)).text == "Hello"


def test_the_body_is_the_conversation_the_model_and_the_parameters(server: FakeOpenAI) -> None:
    ask(target(server, parameters={"temperature": 0, "max_completion_tokens": 9}))
    (received,) = server.requests
    assert received.path == "/v1/chat/completions"
    assert received.body == {
        "temperature": 0,
        "max_completion_tokens": 9,
        "model": "echo",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hello"},
        ],
    }
    assert received.headers["Authorization"] == "Bearer sk-secret"


def test_no_secret_means_no_authorization_header(
    server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-operator")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-operator")
    ask(target(server, secret=""))
    headers = server.requests[0].headers
    assert "Authorization" not in headers
    assert "of-the-operator" not in json.dumps(headers)


def test_the_responses_api_is_another_door_to_the_same_reply(server: FakeOpenAI) -> None:
    assert ask(target(server, api=Api.RESPONSES)).text == "Hello"
    (received,) = server.requests
    assert received.path == "/v1/responses"
    assert received.body["store"] is False
    assert received.body["include"] == ["reasoning.encrypted_content"]


def test_reasoning_is_kept_and_sent_again(server: FakeOpenAI) -> None:
    thoughtful = ask(target(server, "reasoning"))
    ask(target(server), [*HELLO, thoughtful, text_message("user", "And now?")])
    assert server.requests[1].messages[2]["reasoning_content"] == "Let me think."


@pytest.mark.parametrize(
    ("model", "reason"),
    [("truncate", "length"), ("refuse", "refusal"), ("empty", "empty")],
)
def test_a_reply_that_is_not_complete_is_no_turn(
    server: FakeOpenAI, model: str, reason: str
) -> None:
    with pytest.raises(IncompleteReply) as incomplete:
        ask(target(server, model))
    assert incomplete.value.reason == reason
    assert incomplete.value.response["choices"]


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("status-401", "authentication"),
        ("status-403", "authentication"),
        ("status-404", "bad_request"),
        ("status-408", "timeout"),
        ("status-413", "context_window"),
        ("status-422", "bad_request"),
        ("status-429", "rate_limit"),
        ("status-500", "server_error"),
        ("status-503", "server_error"),
        ("redirect", "bad_request"),
        ("bad-json", "bad_response"),
        ("no-json", "bad_response"),
        ("null", "bad_response"),
        ("disconnect", "connection"),
    ],
)
def test_every_failure_has_a_reason_and_is_sent_once(
    server: FakeOpenAI, model: str, reason: str
) -> None:
    with pytest.raises(ModelCallFailed) as failed:
        ask(target(server, model))
    assert failed.value.reason == reason
    assert len(server.requests) == 1


def test_an_endpoint_that_is_not_there_is_a_failed_connection(server: FakeOpenAI) -> None:
    with pytest.raises(ModelCallFailed, match="could not be reached") as failed:
        ask(target(server, base_url="http://127.0.0.1:9/v1"))
    assert failed.value.reason == "connection"


def test_an_answer_that_takes_too_long_is_a_timeout(server: FakeOpenAI) -> None:
    with pytest.raises(ModelCallFailed, match=r"within 0\.2 seconds") as failed:
        ask(target(server, "echo@5000", timeout=0.2))
    assert failed.value.reason == "timeout"


def test_what_the_provider_asks_to_wait_is_handed_on(server: FakeOpenAI) -> None:
    with pytest.raises(ModelCallFailed) as failed:
        ask(target(server, "status-429"))
    assert failed.value.retry_after == 0.05
    assert failed.value.status == 429


def test_an_error_that_repeats_the_secret_does_not_carry_it_on(server: FakeOpenAI) -> None:
    with pytest.raises(ModelCallFailed) as failed:
        ask(target(server, "status-401"))
    told = f"{failed.value} {failed.value.response}"
    assert "sk-secret" not in told
    assert "***" in told


def test_the_secret_is_not_in_the_text_of_a_target(server: FakeOpenAI) -> None:
    assert "sk-secret" not in repr(target(server))


def test_a_private_address_is_not_called_unless_the_operator_allows_it(
    server: FakeOpenAI, settings: Settings
) -> None:
    settings.ALLOW_PRIVATE_ENDPOINTS = False
    with pytest.raises(ModelCallFailed, match="ALLOW_PRIVATE_ENDPOINTS"):
        ask(target(server))
    with pytest.raises(ModelCallFailed, match="ALLOW_PRIVATE_ENDPOINTS"):
        ask(target(server, base_url=server.url.replace("127.0.0.1", "localhost")))
    assert server.requests == []


def test_many_calls_share_connections_and_run_at_once(server: FakeOpenAI) -> None:
    asked = target(server, "echo@50")

    async def exchange() -> None:
        async with Caller() as caller:
            calls = (caller.post(asked, prepare(asked, HELLO)) for _ in range(40))
            await asyncio.gather(*calls)

    asyncio.run(exchange())
    assert server.most_in_flight > 20


def test_the_fingerprint_tells_requests_apart_and_equal_ones_not(server: FakeOpenAI) -> None:
    asked = target(server)
    same = prepare(asked, HELLO).fingerprint
    assert prepare(replace(asked, secret="sk-other", timeout=9), HELLO).fingerprint == same
    others = [
        prepare(asked, HELLO[:1]),
        prepare(replace(asked, model="other"), HELLO),
        prepare(replace(asked, parameters={"temperature": 1}), HELLO),
        prepare(replace(asked, base_url="https://example.org/v1"), HELLO),
        prepare(replace(asked, api=Api.RESPONSES), HELLO),
    ]
    assert len({same, *(other.fingerprint for other in others)}) == 6


def test_a_call_costs_what_its_tokens_cost(server: FakeOpenAI) -> None:
    priced = target(
        server,
        price_input=Decimal(2),
        price_cached_input=Decimal("0.5"),
        price_output=Decimal(10),
    )
    usage = Usage(input_tokens=1000, cached_tokens=400, output_tokens=100)
    assert cost_of(priced, usage) == Decimal("0.0024")
    assert cost_of(replace(priced, price_cached_input=None), usage) == Decimal("0.003")


def test_an_unknown_price_or_usage_is_an_unknown_cost_and_not_zero(server: FakeOpenAI) -> None:
    usage = Usage(input_tokens=1, cached_tokens=0, output_tokens=1)
    assert cost_of(target(server), usage) is None
    priced = target(server, price_input=Decimal(1), price_output=Decimal(1))
    assert cost_of(priced, None) is None
