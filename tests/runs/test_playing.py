"""A run, from its launch to its metrics, with a real writer thread and real HTTP."""

import json
from datetime import timedelta
from decimal import Decimal

import pytest

from apps.accounts.permissions import OPERATOR
from apps.providers.actions import archive_endpoint
from apps.providers.queries import get_endpoint
from apps.runs.models import RunState, SampleState
from apps.runs.playing import play
from apps.runs.queries import get_sample
from apps.traces.models import CallState, ModelCall, Trace
from apps.traces.queries import TraceView, get_trace
from tests.kits.fake_openai import FakeOpenAI
from tests.runs.stage import CLARIFY, TWO_TURNS, Stage

pytestmark = pytest.mark.django_db(transaction=True)


def trace_of(stage: Stage, run: object, position: int = 0) -> TraceView:
    sample = get_sample(OPERATOR, run, position)  # type: ignore[arg-type]
    assert sample.trace_id is not None
    return get_trace(OPERATOR, stage.project, sample.trace_id)


def test_a_run_is_played_scored_and_counted(stage: Stage, server: FakeOpenAI) -> None:
    stage.endpoint("model", "confirm-then-answer", price_input=Decimal(1), price_output=Decimal(2))
    run = stage.launch(evaluated="model")
    assert (run.state, run.samples_total) == (RunState.QUEUED, 3)
    play()
    run = stage.again(run)
    assert run.state == RunState.FINISHED
    assert (run.samples_done, run.samples_scored, run.ended) == (3, 3, {"completed": 3})
    assert run.calls == len(server.requests) == 12
    assert (run.input_tokens, run.output_tokens) == (120, 60)
    assert run.cost == Decimal("0.000120")  # six priced calls of 10 tokens in and 5 out
    (metric,) = run.metrics
    assert (metric["key"], metric["value"], metric["n"]) == ("accuracy", 1.0, 3)
    assert (metric["coverage"], metric["high"]) == (1.0, 1.0)
    assert run.started_at is not None
    assert run.finished_at is not None


def test_the_trace_holds_every_turn_the_dropped_ones_marked(stage: Stage) -> None:
    stage.endpoint("model", "confirm-then-answer")
    run = stage.launch(evaluated="model")
    play()
    view = trace_of(stage, run)
    turns = [
        (entry.body["message"]["role"], entry.body["message"]["blocks"][0]["text"], entry.discarded)
        for entry in view.entries
        if entry.kind == "message_event"
    ]
    question = "Question 0: the capital of Austria?"
    assert turns == [
        ("system", "Ask before you answer.", False),
        ("user", question, False),
        ("assistant", f"{question} Is that right?", False),
        ("user", "Yes", False),
        ("assistant", "Vienna", False),
        ("user", "<done>", True),
    ]
    assert [entry.position for entry in view.entries] == list(range(len(view.entries)))
    assert (view.trace.ended, view.trace.answer) == ("completed", "Vienna")


def test_the_ledger_knows_every_call_and_what_became_of_it(stage: Stage) -> None:
    stage.endpoint("model", "confirm-then-answer")
    run = stage.launch(evaluated="model")
    play()
    calls = trace_of(stage, run).calls
    assert [(call.ordinal, call.attempt, call.model_key, call.state) for call in calls] == [
        (0, 1, "model", CallState.KEPT),
        (1, 1, "judge", CallState.KEPT),
        (2, 1, "model", CallState.KEPT),
        (3, 1, "judge", CallState.DISCARDED),
    ]
    for call in calls:
        assert json.loads(call.response)["choices"]
        assert call.latency_ms is not None
        assert call.sent_at is not None
        assert call.received_at is not None
        assert call.received_at >= call.sent_at >= call.planned_at
        assert (call.input_tokens, call.output_tokens) == (10, 5)
        assert call.cost is None  # no price is not a price of zero
        assert len(call.fingerprint) == 64


def test_scores_say_what_was_compared(stage: Stage) -> None:
    stage.endpoint("model", "confirm-then-answer")
    run = stage.launch(evaluated="model")
    play()
    (score,) = trace_of(stage, run).scores
    assert (score.scorer, score.values) == ("string_equals", {"is_correct": True})
    assert score.metadata == {"answer_gt": "Vienna", "answer_pred": "Vienna"}


@pytest.mark.parametrize(
    ("model", "ended", "reason"),
    [
        ("truncate", "incomplete_reply", "length"),
        ("refuse", "incomplete_reply", "refusal"),
        ("empty", "incomplete_reply", "empty"),
        ("status-500", "provider_error", "server_error"),
        ("status-401", "provider_error", "authentication"),
        ("status-413", "context_window", "context_window"),
        ("bad-json", "provider_error", "bad_response"),
        ("null", "provider_error", "bad_response"),
        ("disconnect", "provider_error", "connection"),
    ],
)
def test_a_failed_call_ends_its_sample_unscored_and_is_never_a_wrong_answer(
    stage: Stage, server: FakeOpenAI, model: str, ended: str, reason: str
) -> None:
    stage.endpoint("model", model)
    run = stage.launch(evaluated="model", limit=1)
    play()
    run = stage.again(run)
    assert (run.state, run.ended, run.samples_scored) == (RunState.FINISHED, {ended: 1}, 0)
    assert run.metrics[0]["value"] is None
    assert (run.metrics[0]["n"], run.metrics[0]["coverage"]) == (0, 0.0)
    assert len(server.requests) == 1
    view = trace_of(stage, run)
    (call,) = view.calls
    assert (call.state, call.reason) == (CallState.FAILED, reason)
    assert (view.trace.ended, view.trace.ended_model) == (ended, "model")
    assert (view.trace.ended_path, call.path) == ("message_builders[2]",) * 2
    (score,) = view.scores
    assert (score.values, score.unscored_reason) == ({}, ended)


def test_the_tokens_of_an_incomplete_reply_are_paid_for_and_counted(stage: Stage) -> None:
    stage.endpoint("model", "truncate", price_input=Decimal(1), price_output=Decimal(1))
    run = stage.launch(evaluated="model")
    play()
    run = stage.again(run)
    assert (run.input_tokens, run.output_tokens) == (30, 15)
    assert run.cost == Decimal("0.000045")
    assert json.loads(trace_of(stage, run).calls[0].response)["choices"]


def test_one_bad_sample_spoils_no_other(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    text = TWO_TURNS.replace(
        "First: {{ sample.question }}",
        "{% if sample.id == 'q0001' %}{{ sample.missing }}{% else %}Hello{% endif %}",
    )
    run = stage.launch(text, evaluated="model")
    play()
    run = stage.again(run)
    assert run.ended == {"completed": 2, "template_error": 1}
    assert (run.samples_scored, run.metrics[0]["value"]) == (2, 1.0)
    assert run.metrics[0]["coverage"] == pytest.approx(2 / 3)
    failed = trace_of(stage, run, 1).trace
    assert "missing" in failed.ended_message


def test_retries_are_attempts_of_one_call_and_not_more_samples(
    stage: Stage, server: FakeOpenAI
) -> None:
    stage.endpoint("model", "flaky-1", max_retries=2)
    run = stage.launch(TWO_TURNS, evaluated="model", limit=1)
    play()
    run = stage.again(run)
    assert (run.ended, run.samples_scored, run.metrics[0]["n"]) == ({"completed": 1}, 1, 1)
    calls = trace_of(stage, run).calls
    assert [(call.ordinal, call.attempt, call.state, call.reason) for call in calls] == [
        (0, 1, CallState.FAILED, "rate_limit"),
        (0, 2, CallState.KEPT, ""),
        (1, 1, CallState.FAILED, "rate_limit"),
        (1, 2, CallState.KEPT, ""),
    ]
    assert run.calls == len(server.requests) == 4


def test_nothing_is_resent_when_nobody_said_so(stage: Stage, server: FakeOpenAI) -> None:
    stage.endpoint("model", "flaky-1")
    run = stage.launch(TWO_TURNS, evaluated="model")
    play()
    assert stage.again(run).ended == {"provider_error": 3}
    assert len(server.requests) == 3


def test_a_model_that_never_answers_ends_its_sample_and_not_the_run(stage: Stage) -> None:
    stage.endpoint("model", "echo@60000", timeout_seconds=0.3)
    run = stage.launch(TWO_TURNS, evaluated="model")
    play()
    run = stage.again(run)
    assert (run.state, run.ended) == (RunState.FINISHED, {"provider_error": 3})
    assert trace_of(stage, run).calls[0].reason == "timeout"


def test_an_endpoint_gets_no_more_requests_at_once_than_it_takes(
    stage: Stage, server: FakeOpenAI
) -> None:
    stage.endpoint("model", "echo@40", max_concurrent_requests=2)
    run = stage.launch(TWO_TURNS, evaluated="model", trials=3)
    play()
    assert stage.again(run).ended == {"completed": 9}
    assert server.most_in_flight == 2
    # Those that had to wait were in the ledger as planned before they were sent.
    waits = [call.sent_at - call.planned_at for call in ModelCall.objects.all() if call.sent_at]
    assert len(waits) == 18
    assert max(waits) > timedelta(milliseconds=30)


def test_a_run_plays_no_more_conversations_at_once_than_it_may(
    stage: Stage, server: FakeOpenAI
) -> None:
    stage.endpoint("model", "echo@40")
    run = stage.launch(TWO_TURNS, evaluated="model", trials=3, concurrency=2)
    play()
    assert stage.again(run).ended == {"completed": 9}
    assert server.most_in_flight == 2


def test_trials_play_every_task_again(stage: Stage, server: FakeOpenAI) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(TWO_TURNS, evaluated="model", trials=2, limit=2)
    play()
    run = stage.again(run)
    assert (run.samples_total, run.metrics[0]["n"], run.metrics[0]["coverage"]) == (4, 2, 1.0)
    keys = [
        (sample.revision.task.key, sample.trial)
        for sample in run.samples.select_related("revision__task").order_by("position")
    ]
    assert keys == [("q0000", 0), ("q0001", 0), ("q0000", 1), ("q0001", 1)]
    titles = list(Trace.objects.order_by("pk").values_list("title", flat=True))
    assert titles[0] == "q0000 (trial 1)"


def test_several_runs_are_played_by_one_player(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    runs = [stage.launch(TWO_TURNS, evaluated="model") for _ in range(3)]
    play()
    assert {stage.again(run).state for run in runs} == {RunState.FINISHED}


def test_a_player_for_one_run_leaves_the_others_alone(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    first, second = (stage.launch(TWO_TURNS, evaluated="model") for _ in range(2))
    play(second.pk)
    assert stage.again(first).state == RunState.QUEUED
    assert stage.again(second).state == RunState.FINISHED


def test_a_second_doorbell_for_a_finished_run_does_no_harm(
    stage: Stage, server: FakeOpenAI
) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(TWO_TURNS, evaluated="model")
    play()
    before = stage.again(run)
    play()
    play(run.pk)
    after = stage.again(run)
    assert (after.calls, after.samples_done) == (before.calls, before.samples_done)
    assert len(server.requests) == 6


def test_a_run_whose_endpoint_was_put_away_is_interrupted_with_the_reason(
    stage: Stage, server: FakeOpenAI
) -> None:
    stage.endpoint("model", "confirm-then-answer")
    run = stage.launch(evaluated="model")
    archive_endpoint(actor=OPERATOR, endpoint=get_endpoint(OPERATOR, stage.project, "judge"))
    play()
    run = stage.again(run)
    assert run.state == RunState.INTERRUPTED
    assert "judge" in run.error
    assert {sample.state for sample in run.samples.all()} == {SampleState.WAITING}
    assert server.requests == []


def test_what_a_run_plays_is_what_was_current_when_it_was_launched(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(TWO_TURNS, evaluated="model", limit=1)
    sample = get_sample(OPERATOR, run, 0)
    assert sample.revision.number == 1
    newest = stage.spec(TWO_TURNS.replace("Two turns", "Two turns, renamed"))
    assert newest.version == 2
    play()
    assert stage.again(run).spec.version == 1


def test_the_clarifying_spec_costs_four_calls_a_sample(stage: Stage, server: FakeOpenAI) -> None:
    stage.endpoint("model", "confirm-then-answer")
    stage.launch(CLARIFY, evaluated="model")
    play()
    assert len(server.requests) == 12
    assert set(server.sent().values()) == {1}
