"""Stopping a run from another thread, as another process would."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.db import connections
from django.utils import timezone

from apps.accounts.errors import Conflict
from apps.accounts.permissions import OPERATOR
from apps.runs.actions import cancel, resume
from apps.runs.models import Run, RunState, SampleState
from apps.runs.playing import play
from apps.traces.models import CallState, ModelCall, Trace
from tests.kits.fake_openai import FakeOpenAI
from tests.runs.stage import TWO_TURNS, Stage

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def playing(**options: Callable[[], bool]) -> Iterator[threading.Thread]:
    """A player in a thread of its own while the block runs; it has to end by itself."""

    def run() -> None:
        try:
            play(**options)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    yield thread
    thread.join(30)
    assert not thread.is_alive()


def wait_for(stage: Stage, run: Run, state: str, seconds: float = 10) -> float:
    """Wait until the run is in ``state``; gives how long it took."""
    started = time.monotonic()
    while stage.again(run).state != state:
        assert time.monotonic() - started < seconds, f"still {stage.again(run).state}"
        time.sleep(0.02)
    return time.monotonic() - started


def test_a_run_nobody_plays_is_cancelled_at_once(stage: Stage, server: FakeOpenAI) -> None:
    stage.endpoint("model", "echo")
    run = cancel(actor=OPERATOR, run=stage.launch(TWO_TURNS, evaluated="model"))
    assert (run.state, run.ended) == (RunState.CANCELLED, {"cancelled": 3})
    assert run.finished_at is not None
    play()
    assert server.requests == []


def test_a_run_under_way_stops_within_a_second_and_late_answers_are_kept_as_late(
    stage: Stage, server: FakeOpenAI
) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(TWO_TURNS, evaluated="model", concurrency=2)
    server.gate.clear()
    with playing():
        server.wait_for(2)
        cancel(actor=OPERATOR, run=run)
        assert wait_for(stage, run, RunState.CANCELLED) < 1.5
        assert len(server.requests) == 2
        server.gate.set()
    assert len(server.requests) == 2
    run = stage.again(run)
    assert (run.state, run.ended, run.samples_done) == (RunState.CANCELLED, {"cancelled": 3}, 0)
    assert {call.state for call in ModelCall.objects.all()} == {CallState.LATE}
    assert all(call.response for call in ModelCall.objects.all())
    assert (run.input_tokens, run.output_tokens) == (20, 10)
    assert {trace.ended for trace in Trace.objects.all()} == {"cancelled"}


def test_what_was_scored_before_stays_and_the_rest_can_be_resumed(
    stage: Stage, server: FakeOpenAI
) -> None:
    stage.endpoint("model", "echo@150")
    run = stage.launch(TWO_TURNS, evaluated="model", concurrency=1)
    with playing():
        server.wait_for(3)  # the first sample has made its two calls
        cancel(actor=OPERATOR, run=run)
    run = stage.again(run)
    assert run.state == RunState.CANCELLED
    assert (run.samples_done, run.samples_scored) == (1, 1)
    assert run.ended == {"completed": 1, "cancelled": 2}
    assert (run.metrics[0]["value"], run.metrics[0]["n"]) == (1.0, 1)
    resume(actor=OPERATOR, run=run)
    play()
    run = stage.again(run)
    assert (run.state, run.ended, run.samples_scored) == (RunState.FINISHED, {"completed": 3}, 3)
    # The late reply of the cancelled sample was used: no request went out twice.
    assert set(server.sent().values()) == {1}
    assert run.calls == len(server.requests) == 6


def test_a_cancelled_run_ends_even_when_its_player_is_gone(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(TWO_TURNS, evaluated="model")
    run.samples.update(
        state=SampleState.RUNNING, lease_owner="dead", lease_expires_at=timezone.now()
    )
    Run.objects.filter(pk=run.pk).update(state=RunState.CANCELLING)
    play()
    assert stage.again(run).state == RunState.CANCELLED


def test_a_run_that_has_ended_cannot_be_cancelled(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(TWO_TURNS, evaluated="model")
    play()
    with pytest.raises(Conflict, match="finished"):
        cancel(actor=OPERATOR, run=run)


def test_cancelling_one_run_leaves_another_in_peace(stage: Stage, server: FakeOpenAI) -> None:
    stage.endpoint("model", "echo@100")
    runs = [stage.launch(TWO_TURNS, evaluated="model") for _ in range(2)]
    with playing():
        server.wait_for(6)
        cancel(actor=OPERATOR, run=runs[0])
    assert stage.again(runs[0]).state == RunState.CANCELLED
    assert stage.again(runs[1]).ended == {"completed": 3}


def test_a_player_told_to_stop_takes_in_what_is_on_its_way_and_gives_the_rest_back(
    stage: Stage, server: FakeOpenAI
) -> None:
    stage.endpoint("model", "echo@200")
    run = stage.launch(TWO_TURNS, evaluated="model", concurrency=2)
    stop = threading.Event()
    with playing(should_stop=stop.is_set):
        server.wait_for(2)
        stop.set()
    run = stage.again(run)
    assert run.state == RunState.RUNNING
    assert {sample.state for sample in run.samples.all()} == {SampleState.WAITING}
    assert {call.state for call in ModelCall.objects.all()} == {CallState.RECEIVED}
    play()
    assert stage.again(run).ended == {"completed": 3}
    assert set(server.sent().values()) == {1}
