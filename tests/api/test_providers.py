"""Model endpoints: secrets go in and never come out."""

from typing import Any

import pytest

from apps.providers.demo_server import demo_server
from apps.providers.models import ModelEndpoint
from apps.providers.secrets import decrypt
from tests.api.callers import Caller

SECRET = "sk-very-secret-3141"


def make(alpha: Caller, **changes: Any) -> Any:
    body = {"key": "gpt", "base_url": "https://models.example/v1", "model": "m", "secret": SECRET}
    return alpha.post("endpoints/", body | changes)


def test_an_endpoint_is_made_with_its_settings_and_its_secret_is_never_shown(
    alpha: Caller,
) -> None:
    made = make(alpha, price_input="1.25", price_output=10, parameters={"temperature": 0})
    assert made.status == 201
    assert (made.json["has_secret"], made.json["price_input"], made.json["price_output"]) == (
        True,
        1.25,
        10.0,
    )
    assert (made.json["timeout_seconds"], made.json["max_retries"]) == (60.0, 0)
    answers = [made, alpha.get("endpoints/"), alpha.get("endpoints/gpt/"), alpha.get("audit/")]
    for heard in answers:
        assert SECRET.encode() not in heard.body
    assert answers[1].json["items"] == [made.json] == [answers[2].json]
    assert decrypt(ModelEndpoint.objects.get().secret) == SECRET


def test_only_what_is_given_changes(alpha: Caller) -> None:
    made = make(alpha, timeout_seconds=5.5).json
    changed = alpha.patch("endpoints/gpt/", {"model": "other", "requests_per_minute": 60})
    assert changed.status == 200
    assert changed.json == {**made, "model": "other", "requests_per_minute": 60}
    assert alpha.patch("endpoints/gpt/", {"requests_per_minute": None}).json == {
        **made,
        "model": "other",
    }
    assert alpha.patch("endpoints/gpt/", {"secret": ""}).json["has_secret"] is False


def test_a_secret_does_not_travel_to_another_host(alpha: Caller) -> None:
    make(alpha)
    moved = alpha.patch("endpoints/gpt/", {"base_url": "https://elsewhere.example/v1"})
    assert moved.status == 422
    assert moved.problem["place"] == "secret"
    again = {"base_url": "https://elsewhere.example/v1", "secret": "new"}
    assert alpha.patch("endpoints/gpt/", again).status == 200


@pytest.mark.parametrize(
    ("changes", "status", "place"),
    [
        ({"key": "a b"}, 422, "key"),
        ({"base_url": "ftp://x"}, 422, "base_url"),
        ({"base_url": "https://user:pw@x/v1"}, 422, "base_url"),
        ({"base_url": "https://x/v1?a=b"}, 422, "base_url"),
        ({"model": ""}, 422, "model"),
        ({"api": "grpc"}, 422, "api"),
        ({"timeout_seconds": 0}, 422, "timeout_seconds"),
        ({"timeout_seconds": "60"}, 422, "timeout_seconds"),
        ({"max_retries": 11}, 422, "max_retries"),
        ({"max_retries": None}, 422, "max_retries"),
        ({"tokens_per_minute": 0}, 422, "tokens_per_minute"),
        ({"tokens_per_minute": 10**30}, 422, "tokens_per_minute"),
        ({"price_input": -1}, 422, "price_input"),
        ({"price_input": "much"}, 422, "price_input"),
        ({"price_input": 1e300}, 422, "price_input"),
        ({"parameters": {"messages": []}}, 422, "parameters.messages"),
        ({"parameters": []}, 422, "parameters"),
        ({"secret": "a b"}, 422, "secret"),
        ({"id": 7}, 422, "id"),
    ],
)
def test_a_wrong_endpoint_is_refused_by_place(
    alpha: Caller, changes: dict[str, Any], status: int, place: str
) -> None:
    heard = make(alpha, **changes)
    assert heard.status == status
    assert heard.problem["place"] == place
    assert SECRET.encode() not in heard.body
    assert not ModelEndpoint.objects.exists()


def test_a_key_is_taken_once(alpha: Caller) -> None:
    make(alpha)
    assert make(alpha).status == 409


def test_an_archived_endpoint_is_gone_but_for_who_asks(alpha: Caller) -> None:
    make(alpha)
    assert alpha.delete("endpoints/gpt/").status == 204
    assert alpha.get("endpoints/gpt/").status == 404
    assert alpha.get("endpoints/").json["items"] == []
    (kept,) = alpha.get("endpoints/?archived=true").json["items"]
    assert kept["archived_at"]
    assert kept["has_secret"] is False


def test_a_test_tells_what_a_real_call_brought(alpha: Caller) -> None:
    with demo_server() as url:
        make(alpha, base_url=url, model="echo")
        good = alpha.post("endpoints/gpt/test/")
        assert good.status == 200
        assert good.json["ok"] is True
        assert good.json["reply"]
        assert good.json["latency_ms"] > 0
        alpha.patch("endpoints/gpt/", {"model": "truncate"})
        cut = alpha.post("endpoints/gpt/test/", {}).json
        assert (cut["ok"], cut["reason"]) == (False, "length")
    down = alpha.post("endpoints/gpt/test/").json
    assert (down["ok"], down["reason"]) == (False, "connection")
    assert SECRET not in down["message"]
