import json
import urllib.request

import pytest

from apps.providers.demo import FINGERPRINT, LABEL, MODELS, chat_completion
from apps.providers.demo_server import demo_server

AUSTRIA = "Which city is the capital of Austria?"
JAPAN = "Which city is the capital of Japan?"


def say(model: str, *turns: tuple[str, str]) -> str:
    status, payload = chat_completion(
        {"model": model, "messages": [{"role": role, "content": text} for role, text in turns]}
    )
    assert status == 200
    return str(payload["choices"][0]["message"]["content"])


def test_a_country_in_europe_is_asked_back_and_answered_after_a_yes() -> None:
    question = say("confirm-then-answer", ("user", AUSTRIA))
    assert AUSTRIA in question
    assert question.endswith("?")
    turns = (("user", AUSTRIA), ("assistant", question))
    assert say("confirm-then-answer", *turns, ("user", "Yes")) == "Vienna"
    assert say("confirm-then-answer", *turns, ("user", "yes, please.")) == "Vienna"
    assert say("confirm-then-answer", *turns, ("user", JAPAN)) == "Tokyo"


def test_other_countries_are_answered_at_once() -> None:
    assert say("confirm-then-answer", ("user", JAPAN)) == "Tokyo"


def test_what_it_does_not_know_gets_a_short_answer_all_the_same() -> None:
    assert say("confirm-then-answer", ("user", "What is love?")) == "Unknown"


def test_the_judge_says_yes_only_to_a_request_for_confirmation() -> None:
    look = ("user", "Look at the last message.")
    asked = ("assistant", f"You would like to know: {AUSTRIA} Is that right?")
    assert say("judge", ("user", AUSTRIA), asked, look) == "Yes"
    assert say("judge", ("user", AUSTRIA), ("assistant", "Vienna"), look) == "<done>"
    assert say("judge", ("user", "Why?"), ("assistant", "Why not?"), look) == "<done>"


def test_echo_repeats_parts_as_well_as_texts() -> None:
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    _, payload = chat_completion(
        {"model": "echo", "messages": [{"role": "user", "content": parts}]}
    )
    assert payload["choices"][0]["message"]["content"] == "one\ntwo"


@pytest.mark.parametrize(
    ("model", "finish", "content", "refusal"),
    [
        ("refuse", "stop", None, "This scripted model refuses everything."),
        ("truncate", "length", "This scripted reply stops in the mid", None),
        ("empty", "stop", "", None),
    ],
)
def test_the_failures_are_real_ones(
    model: str, finish: str, content: str | None, refusal: str | None
) -> None:
    _, payload = chat_completion({"model": model, "messages": [{"role": "user", "content": "x"}]})
    choice = payload["choices"][0]
    assert (choice["finish_reason"], choice["message"]["content"]) == (finish, content)
    assert choice["message"]["refusal"] == refusal


@pytest.mark.parametrize("model", MODELS)
def test_every_reply_is_labelled_counted_and_the_same_each_time(model: str) -> None:
    body = {"model": model, "messages": [{"role": "user", "content": AUSTRIA}]}
    status, payload = chat_completion(body)
    assert (status, payload["system_fingerprint"]) == (200, FINGERPRINT)
    assert payload["scripted"] == LABEL
    usage = payload["usage"]
    assert usage["prompt_tokens"] == 10
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert chat_completion(body) == (status, payload)


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "text",
        {},
        {"model": 3, "messages": [{"role": "user", "content": "x"}]},
        {"model": "echo"},
        {"model": "echo", "messages": []},
        {"model": "echo", "messages": "hello"},
        {"model": "echo", "messages": ["hello"]},
        {"model": "echo", "messages": [{"content": "x"}]},
        {"model": "echo", "messages": [{"role": "user", "content": 3}]},
        {"model": "echo", "messages": [{"role": "user", "content": "x"}], "stream": True},
    ],
)
def test_a_wrong_request_gets_an_error_in_openais_shape(body: object) -> None:
    status, payload = chat_completion(body)
    assert status == 400
    assert payload["error"]["message"]


def test_an_unknown_model_is_named_with_those_there_are() -> None:
    status, payload = chat_completion(
        {"model": "gpt", "messages": [{"role": "user", "content": "x"}]}
    )
    assert status == 404
    assert "'gpt'" in payload["error"]["message"]
    assert "echo" in payload["error"]["message"]


def test_its_own_little_server_answers_over_http() -> None:
    with demo_server() as url:
        body = {"model": "echo", "messages": [{"role": "user", "content": "hi"}]}
        request = urllib.request.Request(
            f"{url}/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=5) as answer:
            payload = json.load(answer)
    assert payload["choices"][0]["message"]["content"] == "hi"
