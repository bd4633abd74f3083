"""The scripted demo model over HTTP."""

import json
from typing import Any

import openai
import pytest
from django.test import Client

ADDRESS = "/demo/v1/chat/completions"


def ask(body: Any) -> tuple[int, Any]:
    raw = body if isinstance(body, bytes) else json.dumps(body)
    response = Client(enforce_csrf_checks=True).post(ADDRESS, raw, content_type="application/json")
    return response.status_code, json.loads(response.content)


def test_it_answers_like_a_chat_completions_server_and_says_what_it_is() -> None:
    status, answer = ask({"model": "echo", "messages": [{"role": "user", "content": "Hello"}]})
    assert status == 200
    assert answer["choices"][0]["message"]["content"] == "Hello"
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["usage"]["total_tokens"] > 0
    assert "no model" in answer["scripted"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"\xff", 400),
        (b'{"model": NaN}', 400),
        (b"", 400),
        ([], 400),
        ({"model": "echo"}, 400),
        ({"model": "echo", "messages": []}, 400),
        ({"model": "gpt-5", "messages": [{"role": "user", "content": "Hi"}]}, 404),
        ({"model": "echo", "messages": [{"role": "user", "content": "Hi"}], "stream": True}, 400),
    ],
)
def test_a_wrong_request_is_refused_in_openais_shape(body: Any, status: int) -> None:
    heard, answer = ask(body)
    assert heard == status
    assert answer["error"]["message"]
    assert answer["error"]["type"] == "invalid_request_error"


def test_its_models_are_listed() -> None:
    answer = json.loads(Client().get("/demo/v1/models").content)
    assert {"confirm-then-answer", "judge", "echo"} <= {each["id"] for each in answer["data"]}


def test_other_methods_and_addresses_are_told() -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.get(ADDRESS).status_code == 405
    assert client.post("/demo/v1/models").status_code == 405
    response = client.post("/demo/v1/embeddings", b"{}", content_type="application/json")
    assert response.status_code == 404
    assert json.loads(response.content)["error"]["message"]


@pytest.mark.django_db
def test_the_openai_package_talks_to_it(live_server: Any) -> None:
    with openai.OpenAI(base_url=f"{live_server.url}/demo/v1", api_key="none") as client:
        reply = client.chat.completions.create(
            model="confirm-then-answer",
            messages=[{"role": "user", "content": "What is the capital of France?"}],
        )
        assert "Is that right?" in (reply.choices[0].message.content or "")
        assert len(client.models.list().data) > 3
