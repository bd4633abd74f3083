"""What the first requests of a sample would be, and who refuses them, before any model is asked."""

import asyncio
from typing import Any

from apps.dialogue.pairing import Problem
from apps.dialogue.solver.rehearsal import rehearse
from tests.dialogue.solver.stage import GENERATE, judge, loop, say, solver

APIS = {None: "chat_completions", "judge": "responses"}
LOAD = {"type": "load_trace", "trace_column": "t"}


def item(role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": text}


def called(name: str) -> list[dict[str, Any]]:
    return [
        item("user", "go"),
        {"type": "function_call", "call_id": "c", "name": name, "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
    ]


def rehearsed(*builders: dict[str, Any], **sample: Any) -> list[Problem]:
    return asyncio.run(rehearse(solver(*builders), sample, APIS))


def test_a_sample_that_can_be_sent_has_no_problem() -> None:
    assert rehearsed(say("{{ sample.q }}"), GENERATE, say("And?"), GENERATE, q="Why?") == []


def test_what_the_evaluated_model_refuses_is_an_error_at_its_message() -> None:
    (problem,) = rehearsed(LOAD, GENERATE, t=called("two words"))
    assert (problem.place, problem.severity) == ("messages[1].blocks[0]", "error")
    assert "'two words'" in problem.message


def test_it_is_found_behind_the_calls_of_other_models() -> None:
    found = rehearsed(say("Hi"), judge(), LOAD, GENERATE, t=called("two words"))
    assert [each.place for each in found] == ["messages[3].blocks[0]"]


def test_the_api_of_each_model_counts_for_its_own_requests() -> None:
    reasoning = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
    trace = [item("user", "go"), reasoning, item("assistant", "done")]
    found = rehearsed(LOAD, judge(), GENERATE, t=trace)
    assert [each.severity for each in found] == ["warning", "warning"]
    assert "responses" in found[0].message
    assert "reasoning_content" in found[1].message


def test_a_template_that_does_not_render_is_an_error() -> None:
    (problem,) = rehearsed(say("{{ sample.nothing }}"), GENERATE, q="Q")
    assert (problem.place, problem.severity) == ("message_builders[0]", "error")
    assert "nothing" in problem.message


def test_what_the_stand_in_said_is_held_against_nobody() -> None:
    """A template that takes a judge's reply apart cannot read the stand-in's."""
    takes_apart = say("{{ messages[-1].content.split('|')[1] }}")
    assert rehearsed(say("Hi"), judge(), takes_apart, GENERATE) == []


def test_a_solver_that_never_asks_the_evaluated_model_comes_to_an_end() -> None:
    talks = loop(judge(terminate_if=None), times=1000)
    assert rehearsed(say("Hi"), talks) == []
