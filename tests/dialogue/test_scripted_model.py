"""The shipped fake of the language model."""

import asyncio
from typing import Any

import pytest

from apps.dialogue.completeness import CompleteReply
from apps.dialogue.errors import IncompleteReply, ModelCallFailed
from apps.dialogue.message import text_message
from apps.dialogue.scripted_model import ScriptedModel
from apps.dialogue.solver.language_model import ModelRequest


def ask(model: ScriptedModel, key: str | None = None) -> CompleteReply:
    request = ModelRequest(key, "evaluated", "p", 0, (text_message("user", "Q"),))
    return asyncio.run(model.reply(request))


def test_each_model_gives_its_replies_in_order_and_remembers_what_it_was_asked() -> None:
    model = ScriptedModel({"main": ["1", "2"], "judge": ["j"]})
    assert [ask(model, key).message.text for key in (None, "judge", None)] == ["1", "j", "2"]
    assert model.calls == ["main", "judge", "main"]
    assert model.requests[0].messages[0].text == "Q"


def test_a_ready_reply_is_given_as_it_is() -> None:
    ready = CompleteReply(text_message("assistant", "x"), None, "stop")
    assert ask(ScriptedModel({"main": [ready]})) is ready


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ({"text": "x", "finish": "length"}, "length"),
        ({"text": "x", "finish": "content_filter"}, "content_filter"),
        ({"text": "", "refusal": "no"}, "refusal"),
        ({"text": ""}, "empty"),
    ],
)
def test_a_prepared_reply_passes_the_checks_of_real_ones(reply: Any, reason: str) -> None:
    with pytest.raises(IncompleteReply) as refused:
        ask(ScriptedModel({"main": [reply]}))
    assert refused.value.reason == reason


def test_a_prepared_failure_is_raised() -> None:
    with pytest.raises(ModelCallFailed, match="no answer"):
        ask(ScriptedModel({"main": [ModelCallFailed("timeout", "no answer")]}))


def test_running_out_of_replies_is_a_failed_call_that_names_the_model() -> None:
    with pytest.raises(ModelCallFailed, match="judge"):
        ask(ScriptedModel({"main": ["1"]}), "judge")


def test_what_is_no_reply_is_a_mistake_of_the_script() -> None:
    with pytest.raises(TypeError):
        ask(ScriptedModel({"main": [5]}))
