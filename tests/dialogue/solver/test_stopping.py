"""Rules 1 to 9: what ends a loop or a conversation, and what stays."""

import pytest

from apps.dialogue.errors import SpecError
from tests.dialogue.solver.stage import (
    GENERATE,
    Builder,
    judge,
    loop,
    play_builders,
    say,
    solver,
)

KEEP = {"includes": "<done>", "keep_iteration": True}
DROP = {"includes": "<done>", "keep_iteration": False}


@pytest.mark.parametrize(("keep", "last"), [(True, ["u:ok <done>"]), (False, [])])
def test_a_stop_outside_a_loop_ends_the_conversation_successfully(
    keep: bool, last: list[str]
) -> None:
    condition = {"includes": "<done>", "keep_iteration": keep}
    played = play_builders(
        say("{{ sample.q }}"),
        GENERATE,
        judge(terminate_if=condition),
        GENERATE,
        main=["A", "never"],
        others={"judge": ["ok <done>"]},
    )
    assert played.said == ["u:Q", "a:A", *last]
    assert played.model.calls == ["main", "judge"]
    assert played.ending.reason == "stopped"
    assert played.ending.succeeded
    assert played.ending.path == "message_builders[2]"
    assert played.ending.model_key == "judge"
    assert played.ending.answer == "A"


def test_the_innermost_loop_ends_and_the_builder_after_it_runs() -> None:
    played = play_builders(
        say("Q"),
        loop(loop(judge(), times=5), GENERATE, say("next"), times=2),
        say("end"),
        main=["1", "2"],
        others={"judge": ["a", "<done>", "<done>"]},
    )
    assert played.said == ["u:Q", "u:a", "a:1", "u:next", "a:2", "u:next", "u:end"]
    assert played.ending.reason == "completed"


def test_a_dropped_iteration_takes_every_message_of_it_and_no_earlier_one() -> None:
    played = play_builders(
        say("Q"),
        loop(GENERATE, say("note"), judge()),
        main=["1", "2"],
        others={"judge": ["more", "<done>"]},
    )
    assert played.said == ["u:Q", "a:1", "u:note", "u:more"]
    assert played.ending.answer == "1"


def test_what_was_dropped_stays_in_the_trace_marked_with_its_cost() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    played = play_builders(
        say("Q"),
        loop(GENERATE, judge()),
        main=[{"text": "1", "usage": usage}],
        others={"judge": ["<done>"]},
    )
    entries = played.transcript.entries
    assert [(each.kind, each.discarded) for each in entries] == [
        ("message_event", False),
        ("model_call_event", True),
        ("message_event", True),
        ("model_call_event", True),
        ("message_event", True),
        ("custom", False),
    ]
    assert entries[1].body["usage"]["output_tokens"] == 2
    assert entries[-1].body["data"]["discarded"] == [1, 4]
    assert played.ending.answer is None
    assert played.ending.answer_position is None


def test_an_inner_stop_drops_the_inner_iteration_only() -> None:
    played = play_builders(
        say("Q"),
        loop(GENERATE, loop(say("i{{ loop_index }}"), judge(), times=4), times=1),
        main=["1"],
        others={"judge": ["a", "<done>"]},
    )
    assert played.said == ["u:Q", "a:1", "u:i0", "u:a"]


def test_a_kept_stop_text_stays_in_the_history_that_is_sent_on() -> None:
    played = play_builders(
        say("Q"),
        loop(judge(terminate_if=KEEP)),
        GENERATE,
        main=["A"],
        others={"judge": ["bye <done>"]},
    )
    assert played.said == ["u:Q", "u:bye <done>", "a:A"]
    assert played.asked[-1] == ["u:Q", "u:bye <done>"]


def test_keeping_is_the_default() -> None:
    played = play_builders(
        say("Q"), loop({**GENERATE, "terminate_if": {"includes": "END"}}), main=["a", "END"]
    )
    assert played.said == ["u:Q", "a:a", "a:END"]


def test_a_cap_with_error_keeps_the_partial_transcript_and_names_the_loop() -> None:
    played = play_builders(
        say("Q"),
        GENERATE,
        loop(judge(), GENERATE, times=2, cap="error"),
        GENERATE,
        main=["1", "2", "3", "never"],
        others={"judge": ["a", "b"]},
    )
    assert played.said == ["u:Q", "a:1", "u:a", "a:2", "u:b", "a:3"]
    assert played.ending.reason == "max_iterations"
    assert not played.ending.succeeded
    assert played.ending.path == "message_builders[2]"
    assert played.transcript.entries[-1].kind == "error"
    assert played.transcript.entries[-1].body["reason"] == "max_iterations"


def test_error_is_the_default_at_the_cap() -> None:
    capped: Builder = {"type": "loop", "max_iterations": 1, "message_builders": [judge()]}
    played = play_builders(say("Q"), capped, others={"judge": ["a"]})
    assert played.ending.reason == "max_iterations"


def test_a_loop_runs_ten_times_unless_told_otherwise() -> None:
    played = play_builders({"type": "loop", "message_builders": [say("{{ loop_index }}")]})
    assert played.said == [f"u:{index}" for index in range(10)]
    assert played.ending.reason == "completed"


def test_a_cap_that_goes_on_is_told_with_the_ending() -> None:
    played = play_builders(say("Q"), loop(judge(), times=1), others={"judge": ["a"]})
    assert played.ending.reason == "completed"
    assert played.ending.capped_loops == ("message_builders[1]",)


def test_a_stop_in_the_last_allowed_iteration_is_a_stop() -> None:
    played = play_builders(
        say("Q"), loop(judge(), times=2, cap="error"), others={"judge": ["a", "<done>"]}
    )
    assert played.ending.reason == "completed"
    assert played.ending.capped_loops == ()


@pytest.mark.parametrize(
    "inner",
    [say("x"), loop(judge(), times=1)],
    ids=["no condition at all", "a condition of an inner loop"],
)
def test_the_cap_is_an_error_only_if_a_condition_could_end_this_very_loop(inner: Builder) -> None:
    played = play_builders(
        say("Q"), loop(inner, times=2, cap="error"), say("end"), others={"judge": ["a", "b"]}
    )
    assert played.ending.reason == "completed"
    assert played.said[-1] == "u:end"


def test_zero_iterations_skip_the_body_without_an_error() -> None:
    body = [judge(), say("{{ sample.missing }}")]
    played = play_builders(say("Q"), loop(*body, times=0, cap="error"), GENERATE, main=["1"])
    assert played.said == ["u:Q", "a:1"]
    assert played.ending.reason == "completed"


def test_loop_index_counts_from_zero_in_the_innermost_loop_and_in_extra_messages() -> None:
    played = play_builders(
        loop(
            say("o{{ loop_index }}"),
            loop(judge("i{{ loop_index }}"), times=2),
            say("p{{ loop_index }}"),
            times=2,
        ),
        others={"judge": ["1", "2", "3", "4"]},
    )
    assert [said for said in played.said if said[2] in "op"] == ["u:o0", "u:p0", "u:o1", "u:p1"]
    assert [request[-1] for request in played.asked] == ["u:i0", "u:i1", "u:i0", "u:i1"]


def test_loop_index_outside_a_loop_is_an_error_before_any_call() -> None:
    played = play_builders(say("Q"), GENERATE, say("{{ loop_index }}"), main=["never"])
    assert played.ending.reason == "template_error"
    assert "inside a loop" in played.ending.message
    assert played.model.calls == []


@pytest.mark.parametrize("reply", ["<DONE>", "< done >", "done"])
def test_only_the_exact_text_stops(reply: str) -> None:
    played = play_builders(say("Q"), loop(judge(), times=1), others={"judge": [reply]})
    assert played.said == ["u:Q", f"u:{reply}"]


def test_reasoning_is_not_searched() -> None:
    thought = {"text": "go on", "reasoning": "should I say <done>?"}
    played = play_builders(
        say("Q"),
        {**GENERATE, "terminate_if": KEEP},
        judge(),
        main=[thought],
        others={"judge": [thought]},
    )
    assert played.said == ["u:Q", "a:go on", "u:go on"]
    assert played.ending.reason == "completed"


def test_neither_the_history_nor_the_instructions_are_searched() -> None:
    played = play_builders(
        say("say <done> when finished", role="system"),
        say("Q"),
        judge("say <done> at the end"),
        GENERATE,
        main=["A"],
        others={"judge": ["no"]},
    )
    assert played.said[-1] == "a:A"


def test_a_chat_message_may_stop_without_a_call() -> None:
    played = play_builders(
        say("Q"),
        loop(
            GENERATE,
            say("{{ '<done>' if messages[-1].content == 'B' else 'go on' }}", terminate_if=KEEP),
        ),
        main=["A", "B", "never"],
    )
    assert played.said == ["u:Q", "a:A", "u:go on", "a:B", "u:<done>"]


def test_a_dropped_chat_message_outside_a_loop_ends_the_conversation_without_it() -> None:
    played = play_builders(say("Q"), GENERATE, say("<done>", terminate_if=DROP), main=["A"])
    assert played.said == ["u:Q", "a:A"]
    assert played.ending.reason == "stopped"
    assert played.ending.model_key is None


@pytest.mark.parametrize(
    ("builder", "naming"),
    [
        ({**loop(GENERATE), "terminate_if": KEEP}, "a loop has no terminate_if"),
        (
            {"type": "load_trace", "trace_column": "t", "terminate_if": KEEP},
            "load_trace has no terminate_if",
        ),
        (
            judge(extra_input_messages=[say("x", terminate_if=KEEP)]),
            "an extra input message has no terminate_if",
        ),
        ({**GENERATE, "terminate_if": {"includes": ""}}, "includes: must not be empty"),
        ({**GENERATE, "terminate_if": {"includes": 5}}, "includes: must be a text"),
        ({**GENERATE, "terminate_if": {"include": "x"}}, "did you mean 'includes'"),
        ({**GENERATE, "terminate_iff": KEEP}, "did you mean 'terminate_if'"),
        (loop(), "message_builders: must not be empty"),
        (loop(GENERATE, times=-1), "must be at least 0"),
        (loop(GENERATE, cap="stop"), "'error' or 'continue'"),
    ],
)
def test_a_condition_in_a_wrong_place_or_of_a_wrong_form_is_refused(
    builder: Builder, naming: str
) -> None:
    with pytest.raises(SpecError) as refused:
        solver(builder)
    assert naming in str(refused.value)
    assert str(refused.value).startswith("message_builders[0]")
