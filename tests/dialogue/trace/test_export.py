"""What we export is what LatticeFlow's own types parse (``latticeflow-core``)."""

import json
from typing import Any

import pytest
from latticeflow.core.dtypes import Trace

from apps.dialogue.message import Message, parse_conversation
from apps.dialogue.trace import messages_to_items, to_open_responses, trace_items_to_messages
from tests.dialogue.solver.stage import GENERATE, judge, loop, play_builders, say

TEXT = {"type": "text", "text": "hi"}
IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
REASONING = {"type": "reasoning", "text": "hm", "signature": "sig"}
CALL = {"type": "tool_call", "id": "c1", "name": "f", "input": {"b": 1, "a": "é"}}
RESULT = {"type": "tool_result", "tool_call_id": "c1", "blocks": [TEXT, IMAGE], "is_error": True}


def conversation() -> tuple[Message, ...]:
    return parse_conversation(
        [
            {"role": "system", "blocks": [TEXT]},
            {"role": "user", "blocks": [TEXT, IMAGE]},
            {"role": "assistant", "blocks": [REASONING, TEXT, CALL]},
            {"role": "user", "blocks": [RESULT]},
            {"role": "assistant", "blocks": [TEXT]},
        ]
    )


def parsed(exported: dict[str, Any]) -> Trace:
    """Parse what left the house, as JSON text."""
    return Trace.model_validate(json.loads(json.dumps(exported)))


def test_messages_become_items_that_latticeflow_parses() -> None:
    trace = parsed(to_open_responses(conversation()))
    assert [item.type for item in trace.items] == [
        "message", "message", "message", "function_call", "function_call_output", "message",
    ]  # fmt: skip
    (pair,) = trace.get_function_call_pairs()
    assert pair[0].name == "f"
    assert pair[1] is not None
    assert trace.get_function_call_arguments(pair[0]) == {"b": 1, "a": "é"}
    assert trace.get_first_system_prompt() == "hi"
    assert trace.events is None


def test_the_key_order_of_a_call_is_kept() -> None:
    call = next(i for i in messages_to_items(conversation()) if i["type"] == "function_call")
    assert call["arguments"] == '{"b": 1, "a": "é"}'


def test_reasoning_is_left_out_by_name_or_kept_when_asked() -> None:
    exported = to_open_responses(conversation())
    assert exported["metadata"]["extra"]["left_out"] == [{"type": "reasoning", "message": 2}]
    whole = to_open_responses(conversation(), keep_reasoning=True)
    assert [item["type"] for item in whole["items"]].count("reasoning") == 1
    assert "extra" not in whole["metadata"]


def test_metadata_goes_to_its_fields_and_the_rest_to_extra() -> None:
    metadata = {"trace_id": "t1", "model": "m", "tags": ["a"], "run": 7, "extra": {"x": 1}}
    trace = parsed(to_open_responses(conversation(), metadata))
    assert trace.metadata is not None
    assert (trace.metadata.trace_id, trace.metadata.model) == ("t1", "m")
    assert trace.metadata.message_count == 5
    assert trace.metadata.extra is not None
    assert trace.metadata.extra["run"] == 7
    assert trace.metadata.extra["x"] == 1


def test_our_own_items_read_back_as_the_same_conversation() -> None:
    messages = conversation()
    read = trace_items_to_messages(to_open_responses(messages, keep_reasoning=True))
    assert [m.role for m in read] == [m.role for m in messages]
    assert read[3] == messages[3]
    assert [block.type for block in read[2].blocks] == ["reasoning", "text", "tool_call"]


def test_a_played_conversation_parses_with_all_its_events() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    played = play_builders(
        say("S", role="system"),
        {"type": "load_trace", "trace_column": "t"},
        loop(GENERATE, judge("{{ loop_index }}")),
        GENERATE,
        sample={"t": to_open_responses(conversation()[1:])},
        main=[{"text": "1", "usage": usage}, "2", {"text": "cut", "finish": "length"}],
        others={"judge": ["more", "<done>"]},
    )
    exported = to_open_responses(played.transcript.entries, {"model": "gpt"})
    trace = parsed(exported)
    assert trace.events is not None
    kinds = [event.type for event in trace.events]
    assert kinds.count("model_call_event") == 5
    assert kinds.count("function_call_event") == 1
    assert kinds.count("error") == 1
    assert kinds.count("span_begin") == kinds.count("span_end") == 1
    assert trace.get_last_user_text() == "more"


def test_the_events_alone_give_the_kept_conversation() -> None:
    played = play_builders(
        say("Q"), loop(GENERATE, judge()), main=["1", "2"], others={"judge": ["more", "<done>"]}
    )
    trace = parsed(to_open_responses(played.transcript.entries))
    assert trace.events is not None
    derived = Trace.from_events(trace.events)
    assert [item.model_dump() for item in derived.items] == [
        item.model_dump() for item in trace.items
    ]
    (dropped,) = trace.spans()
    assert dropped.span_name == "discarded"
    assert dropped.get_last_user_text() is None or "<done>" in str(dropped.items)


def test_a_call_event_holds_what_was_really_sent() -> None:
    played = play_builders(
        say("Q"),
        loop(GENERATE, judge("{{ loop_index }}")),
        judge("last", include_conversation=False, terminate_if=None),
        main=["1", "2"],
        others={"judge": ["more", "<done>", "end"]},
    )
    exported = to_open_responses(played.transcript.entries)
    calls = [event for event in exported["events"] if event["type"] == "model_call_event"]
    sent = [[item["content"][0]["text"] for item in call["input_context"]] for call in calls]
    assert sent == [[message[2:] for message in request] for request in played.asked]
    assert sent[-1] == ["last"]


def test_a_trace_grows_with_its_text_and_not_with_its_square() -> None:
    text = "x" * 2_000
    played = play_builders(loop(say(text), GENERATE, times=150), main=[text] * 150)
    stored = sum(len(json.dumps(entry.body)) for entry in played.transcript.entries)
    assert stored < 2 * 300 * len(text)


@pytest.mark.parametrize("source", [[], ()])
def test_an_empty_trace_is_a_trace(source: Any) -> None:
    assert parsed(to_open_responses(source)).items == []
