"""Rules 8, 10, 11, 13 to 15: what models are sent, and what becomes of their replies."""

import asyncio
from typing import Any

import pytest

from apps.dialogue.completeness import CompleteReply
from apps.dialogue.errors import LimitReached, ModelCallFailed, SpecError
from apps.dialogue.message import Message, text_message
from apps.dialogue.solver.engine import play
from apps.dialogue.solver.language_model import ModelRequest
from apps.dialogue.trace import Transcript
from tests.dialogue.solver.stage import GENERATE, judge, loop, play_builders, say, solver


def test_the_evaluated_model_is_sent_the_whole_conversation_each_time() -> None:
    played = play_builders(
        say("S", role="system"), say("{{ sample.q }}"), GENERATE, say("more"), GENERATE,
        main=["1", "2"],
    )  # fmt: skip
    assert played.asked == [["s:S", "u:Q"], ["s:S", "u:Q", "a:1", "u:more"]]
    first, second = played.model.requests
    assert (first.model_key, first.purpose, first.ordinal) == (None, "evaluated", 0)
    assert (second.path, second.ordinal) == ("message_builders[4]", 1)


def test_another_model_is_sent_the_conversation_and_then_the_extras_which_stay_outside() -> None:
    played = play_builders(
        say("S", role="system"), say("Q"), GENERATE, judge("X", "Y"), GENERATE,
        main=["1", "2"], others={"judge": ["Yes"]},
    )  # fmt: skip
    assert played.asked[1] == ["s:S", "u:Q", "a:1", "u:X", "u:Y"]
    assert played.asked[2] == ["s:S", "u:Q", "a:1", "u:Yes"]
    assert played.said == ["s:S", "u:Q", "a:1", "u:Yes", "a:2"]
    assert played.model.requests[1].purpose == "simulated"


def test_without_the_conversation_the_extras_go_alone_and_still_see_it() -> None:
    played = play_builders(
        say("Q"),
        GENERATE,
        judge("{{ messages|length }} {{ messages[-1].content }}", include_conversation=False),
        main=["A"],
        others={"judge": ["Yes"]},
    )
    assert played.asked[1] == ["u:2 A"]


def test_extras_do_not_see_each_other() -> None:
    played = play_builders(
        say("Q"), judge("{{ messages|length }}", "{{ messages|length }}"),
        others={"judge": ["Yes"]},
    )  # fmt: skip
    assert played.asked[0] == ["u:Q", "u:1", "u:1"]


@pytest.mark.parametrize(
    ("role", "short"), [(None, "a"), ("assistant", "a"), ("user", "u"), ("system", "s")]
)
def test_a_reply_is_appended_as_the_output_role(role: str | None, short: str) -> None:
    played = play_builders(say("Q"), judge(output_role=role), others={"judge": ["hi"]})
    assert played.said == ["u:Q", f"{short}:hi"]


def test_the_reply_of_another_model_is_no_answer_even_as_an_assistant() -> None:
    played = play_builders(say("Q"), judge(output_role="assistant"), others={"judge": ["hi"]})
    assert played.ending.reason == "completed"
    assert played.ending.answer is None


def test_the_answer_is_the_last_kept_reply_of_the_evaluated_model() -> None:
    played = play_builders(
        say("Q"), GENERATE, judge(output_role="assistant"), say("bye"),
        main=["A"], others={"judge": ["hi"]},
    )  # fmt: skip
    assert played.ending.answer == "A"
    position = played.ending.answer_position
    assert position is not None
    entry = played.transcript.entries[position]
    assert entry.body["message"]["blocks"][0]["text"] == "A"


def test_a_roleless_reply_enters_without_the_other_model_s_reasoning_which_the_trace_keeps() -> (
    None
):
    reply = {"text": "hi", "reasoning": "hm"}
    played = play_builders(say("Q"), judge(output_role="user"), others={"judge": [reply]})
    assert [block.type for block in played.transcript.messages[-1].blocks] == ["text"]
    call = played.transcript.entries[1].body
    assert [block["type"] for block in call["reply"]["blocks"]] == ["reasoning", "text"]


def test_the_evaluated_model_s_reasoning_is_kept_and_sent_on() -> None:
    played = play_builders(
        say("Q"), GENERATE, say("go on"), GENERATE,
        main=[{"text": "1", "reasoning": "hm"}, "2"],
    )  # fmt: skip
    sent = played.model.requests[1].messages[1]
    assert [block.type for block in sent.blocks] == ["reasoning", "text"]


INCOMPLETE: list[Any] = [
    {"text": "<do", "finish": "length"},
    {"text": "x", "finish": "content_filter"},
    {"text": "no", "refusal": "I cannot help with that"},
    {"text": ""},
    {"text": " \n"},
    {"text": None},
    {"text": "<done>", "finish": "length"},
    {"text": "x", "finish": "tool_calls"},
]


@pytest.mark.parametrize("reply", INCOMPLETE, ids=str)
def test_an_incomplete_reply_is_neither_a_turn_nor_a_stop(reply: Any) -> None:
    played = play_builders(
        say("Q"), GENERATE, loop(judge(), GENERATE), main=["1"], others={"judge": [reply]}
    )
    assert played.said == ["u:Q", "a:1"]
    assert played.ending.reason == "incomplete_reply"
    assert played.ending.model_key == "judge"
    assert played.ending.path == "message_builders[2].message_builders[0]"
    call = played.transcript.entries[-2]
    assert call.kind == "model_call_event"
    assert call.body["error"]["message"]
    assert call.body["response"]["choices"]


def test_the_cost_of_an_incomplete_reply_is_in_the_trace() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    played = play_builders(
        say("Q"), GENERATE, main=[{"text": "x", "finish": "length", "usage": usage}]
    )
    call = played.transcript.entries[-2].body
    assert call["usage"] == {"input_tokens": 7, "cached_tokens": 0, "output_tokens": 3}
    assert call["error"]["reason"] == "length"


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (ModelCallFailed("context_window", "too long", status=400), "context_window"),
        (ModelCallFailed("timeout", "no answer"), "provider_error"),
        (ModelCallFailed("server_error", "500", status=500), "provider_error"),
        (ModelCallFailed("bad_response", "no choices"), "provider_error"),
        (ModelCallFailed("cancelled", "the run was cancelled"), "cancelled"),
        (LimitReached("the run may spend no more"), "limit"),
    ],
    ids=lambda each: getattr(each, "reason", None) or type(each).__name__,
)
def test_a_failed_call_ends_the_conversation_with_its_reason_and_is_not_repeated(
    failure: Exception, reason: str
) -> None:
    played = play_builders(say("Q"), GENERATE, say("more"), GENERATE, main=["1", failure, "never"])
    assert played.said == ["u:Q", "a:1", "u:more"]
    assert played.model.calls == ["main", "main"]
    assert played.ending.reason == reason
    assert played.ending.answer == "1"
    assert not played.ending.succeeded


def test_an_empty_conversation_is_refused_before_the_call() -> None:
    played = play_builders(GENERATE, main=["never"])
    assert played.model.calls == []
    assert "empty request" in played.ending.message
    assert played.ending.path == "message_builders[0]"


def test_another_model_can_begin_from_the_extras_alone() -> None:
    played = play_builders(judge("Begin"), GENERATE, main=["A"], others={"judge": ["Hello"]})
    assert played.asked == [["u:Begin"], ["u:Hello"]]


@pytest.mark.parametrize(
    "builders",
    [
        [say("{{ sample.nope }}"), GENERATE],
        [say("Q"), GENERATE, say("{{ sample.nope }}")],
        [say("Q"), GENERATE, judge("{{ sample.nope }}")],
        [say("Q"), GENERATE, loop(GENERATE, loop(say("{{ sample.nope }}")))],
        [say("Q"), GENERATE, {"type": "load_trace", "trace_column": "nope"}],
    ],
    ids=["first", "later", "extra", "nested", "trace"],
)
def test_a_missing_column_is_an_error_of_the_sample_before_any_call(builders: list[Any]) -> None:
    played = play_builders(*builders, main=["never"] * 5)
    assert played.model.calls == []
    assert played.ending.reason == "template_error"
    assert "no column 'nope'" in played.ending.message
    assert played.said in ([], ["u:Q"])


def test_what_was_said_before_the_first_call_stays_when_a_later_column_is_missing() -> None:
    played = play_builders(say("{{ sample.q }}"), GENERATE, say("{{ sample.nope }}"))
    assert played.said == ["u:Q"]
    assert played.ending.path == "message_builders[2]"


def test_a_column_behind_a_condition_is_only_missed_when_it_is_read() -> None:
    asks = say("{% if messages[-1].content == 'x' %}{{ sample.nope }}{% else %}fine{% endif %}")
    assert play_builders(say("Q"), GENERATE, asks, main=["y"]).ending.reason == "completed"
    missed = play_builders(say("Q"), GENERATE, asks, main=["x"])
    assert missed.ending.reason == "template_error"
    assert missed.said == ["u:Q", "a:x"]


@pytest.mark.parametrize("name", ["trace", "model_outputs"])
def test_names_of_scorers_are_refused_in_builders_with_the_fix(name: str) -> None:
    for builder in (say(f"{{{{ {name} }}}}"), judge(f"{{{{ {name} }}}}")):
        with pytest.raises(SpecError, match="scorers only; use 'messages'"):
            solver(builder)


def test_what_a_model_wrote_is_never_rendered() -> None:
    played = play_builders(
        say("Q"), GENERATE, say("you said {{ messages[-1].content }}"),
        main=["{{ sample.q }} {% raw %}"],
    )  # fmt: skip
    assert played.said[-1] == "u:you said {{ sample.q }} {% raw %}"


def test_a_sample_that_is_no_plain_data_ends_the_conversation() -> None:
    played = play_builders(say("{{ sample.q }}"), sample={"q": float("nan")})
    assert played.ending.reason == "template_error"
    assert "nan" in played.ending.message


def test_a_text_that_cannot_be_stored_ends_the_conversation() -> None:
    played = play_builders(say(r"{{ '\0' }}"), GENERATE, main=["never"])
    assert played.ending.reason == "template_error"
    assert "NUL" in played.ending.message


def test_the_sample_is_not_changed() -> None:
    sample = {"q": "Q", "list": [1, {"a": 2}]}
    play_builders(say("{{ sample.list }}"), sample=sample)
    assert sample == {"q": "Q", "list": [1, {"a": 2}]}


def test_playing_again_with_the_same_replies_writes_the_same_transcript() -> None:
    def once() -> Any:
        played = play_builders(
            say("Q"), GENERATE, loop(judge("{{ loop_index }}"), GENERATE),
            main=["1", "2", "3"], others={"judge": ["a", "b", "<done>"]},
        )  # fmt: skip
        return played.transcript.entries, played.ending, played.asked

    assert once() == once()


class Waiting:
    """A model that never answers."""

    async def reply(self, request: ModelRequest) -> CompleteReply:
        await asyncio.Event().wait()
        raise AssertionError


class Mute:
    """A model whose adapter forgot the checks."""

    async def reply(self, request: ModelRequest) -> CompleteReply:
        return CompleteReply(Message(role="assistant", blocks=()), None, "stop")


class Broken:
    """A model with a mistake in its code."""

    async def reply(self, request: ModelRequest) -> CompleteReply:
        raise KeyError("a bug")


def test_an_empty_reply_is_no_turn_whoever_brings_it() -> None:
    ending = asyncio.run(play(solver(say("Q"), GENERATE), {}, Mute(), Transcript()))
    assert ending.reason == "incomplete_reply"


def test_a_mistake_in_the_code_of_a_model_is_not_taken_for_an_ending() -> None:
    with pytest.raises(KeyError):
        asyncio.run(play(solver(say("Q"), GENERATE), {}, Broken(), Transcript()))


def test_cancelling_passes_through() -> None:
    transcript = Transcript()

    async def cancel() -> None:
        playing = asyncio.create_task(play(solver(say("Q"), GENERATE), {}, Waiting(), transcript))
        await asyncio.sleep(0)
        playing.cancel()
        await playing

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())
    assert [each.kind for each in transcript.entries] == ["message_event"]


def test_conversations_are_played_side_by_side_without_touching_each_other() -> None:
    class Echo:
        async def reply(self, request: ModelRequest) -> CompleteReply:
            await asyncio.sleep(0)
            return CompleteReply(text_message("assistant", request.messages[-1].text), None, "stop")

    parsed = solver(say("{{ sample.q }}"), loop(GENERATE, say("{{ sample.q }} {{ loop_index }}")))

    async def play_all() -> list[str | None]:
        tasks = [play(parsed, {"q": str(n)}, Echo(), Transcript()) for n in range(50)]
        return [ending.answer for ending in await asyncio.gather(*tasks)]

    assert asyncio.run(play_all()) == [f"{n} 1" for n in range(50)]
