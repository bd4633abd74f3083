"""Taking over from a player that died, from a cancelled run, from failures: what is paid once."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.errors import Conflict
from apps.accounts.permissions import OPERATOR
from apps.providers.actions import update_endpoint
from apps.providers.queries import get_endpoint
from apps.runs import leases, writes
from apps.runs.actions import resume
from apps.runs.models import Run, RunState, Sample, SampleState
from apps.runs.playing import play
from apps.runs.queries import get_sample
from apps.traces.actions import CallKey, NewCall, Outcome
from apps.traces.models import CallState, ModelCall, Score, TraceEntry
from tests.kits.fake_openai import FakeOpenAI
from tests.runs.stage import TWO_TURNS, Stage

pytestmark = pytest.mark.django_db(transaction=True)


def expire(run: Run) -> None:
    """Let the leases of a player that died run out."""
    run.samples.filter(state=SampleState.RUNNING).update(
        lease_expires_at=timezone.now() - timedelta(seconds=1)
    )


def rewind_to(run: Run, position: int, keep_calls: int) -> Sample:
    """Make a sample look as its player left it when it died after ``keep_calls`` calls."""
    sample = get_sample(OPERATOR, run, position)
    assert sample.trace is not None
    ModelCall.objects.filter(trace=sample.trace, ordinal__gte=keep_calls).delete()
    ModelCall.objects.filter(trace=sample.trace).update(state=CallState.RECEIVED)
    Score.objects.filter(trace=sample.trace).delete()
    TraceEntry.objects.filter(trace=sample.trace, position__gte=2).delete()
    Sample.objects.filter(pk=sample.pk).update(
        state=SampleState.RUNNING,
        lease_owner="dead",
        lease_expires_at=timezone.now() - timedelta(seconds=1),
        ended="",
    )
    Run.objects.filter(pk=run.pk).update(
        state=RunState.RUNNING,
        samples_done=run.samples_total - 1,
        samples_scored=run.samples_total - 1,
        ended={"completed": run.samples_total - 1},
        finished_at=None,
    )
    return sample


def played(stage: Stage, **options: Any) -> Run:
    stage.endpoint("model", "confirm-then-answer")
    run = stage.launch(evaluated="model", **options)
    play()
    return stage.again(run)


@pytest.mark.parametrize("calls", [0, 1, 2, 3, 4])
def test_a_sample_taken_over_uses_every_reply_that_was_received(
    stage: Stage, server: FakeOpenAI, calls: int
) -> None:
    run = played(stage)
    told = TraceEntry.objects.filter(trace__sample__position=1)
    before = list(told.values_list("kind", "body", "discarded"))
    sample = rewind_to(run, 1, calls)
    server.requests.clear()
    play()
    run = stage.again(run)
    assert len(server.requests) == 4 - calls
    assert (run.state, run.ended, run.samples_scored) == (RunState.FINISHED, {"completed": 3}, 3)
    assert list(told.all().values_list("kind", "body", "discarded")) == before
    states = list(sample.trace.calls.values_list("state", flat=True))  # type: ignore[union-attr]
    assert states == [CallState.KEPT] * 3 + [CallState.DISCARDED]


def test_a_call_that_was_sent_when_its_player_died_is_unknown_and_made_again(
    stage: Stage, server: FakeOpenAI
) -> None:
    run = played(stage)
    sample = rewind_to(run, 0, 2)
    ModelCall.objects.filter(trace=sample.trace, ordinal=1).update(
        state=CallState.SENT, response="", received_at=None
    )
    server.requests.clear()
    play()
    run = stage.again(run)
    assert run.calls_unknown == 1
    assert len(server.requests) == 3
    calls = ModelCall.objects.filter(trace=sample.trace).order_by("ordinal", "attempt")
    assert [(call.ordinal, call.attempt, call.state) for call in calls] == [
        (0, 1, CallState.KEPT),
        (1, 1, CallState.UNKNOWN),
        (1, 2, CallState.KEPT),
        (2, 1, CallState.KEPT),
        (3, 1, CallState.DISCARDED),
    ]
    assert "may have been charged" in calls[1].error


def test_a_planned_call_of_a_dead_player_never_went_out_and_is_forgotten(
    stage: Stage, server: FakeOpenAI
) -> None:
    run = played(stage)
    sample = rewind_to(run, 0, 2)
    ModelCall.objects.filter(trace=sample.trace, ordinal=1).update(state=CallState.PLANNED)
    play()
    assert stage.again(run).calls_unknown == 0
    attempts = ModelCall.objects.filter(trace=sample.trace, ordinal=1)
    assert [(call.attempt, call.state) for call in attempts] == [(1, CallState.KEPT)]


def test_a_failure_that_was_recorded_is_not_asked_again_by_itself(
    stage: Stage, server: FakeOpenAI
) -> None:
    stage.endpoint("model", "truncate")
    run = stage.launch(TWO_TURNS, evaluated="model")
    play()
    run = stage.again(run)
    rewind_to(run, 0, 1)
    ModelCall.objects.filter(trace__sample__position=0).update(state=CallState.FAILED)
    Run.objects.filter(pk=run.pk).update(ended={"incomplete_reply": 2}, samples_scored=0)
    server.requests.clear()
    play()
    assert server.requests == []
    assert stage.again(run).ended == {"incomplete_reply": 3}


def test_a_lease_that_still_runs_is_respected(stage: Stage, server: FakeOpenAI) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(TWO_TURNS, evaluated="model")
    claimed = leases.claim("another", most=2)
    assert [each.position for each in claimed] == [0, 1]
    assert [each.position for each in leases.claim("mine", most=9)] == [2]
    assert leases.claim("mine", most=9) == []
    expire(run)
    assert len(leases.claim("third", most=9)) == 3


def test_leases_are_renewed_only_for_who_holds_them(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(TWO_TURNS, evaluated="model")
    ours = {each.lease.sample_id for each in leases.claim("mine", most=3)}
    assert leases.renew("mine") == ours
    assert leases.renew("another") == set()
    expire(run)
    taken = leases.claim("another", most=1)
    assert leases.renew("mine") == ours - {taken[0].lease.sample_id}


def test_a_player_that_lost_its_sample_can_neither_send_nor_finish(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(TWO_TURNS, evaluated="model", limit=1)
    (old,) = leases.claim("mine", most=1)
    expire(run)
    (new,) = leases.claim("another", most=1)
    call = new_call(stage, old)
    sends = [writes.Send(each.lease, call, False, writes.Progress()) for each in (old, new)]
    verdicts = [written.value for written in writes.commit(sends)]
    assert verdicts == [writes.Verdict.LOST, writes.Verdict.GO]
    assert ModelCall.objects.count() == 1
    assert stage.again(run).calls == 1


def test_a_reply_that_comes_to_a_player_without_its_sample_is_kept_as_late_and_used(
    stage: Stage, server: FakeOpenAI
) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(TWO_TURNS, evaluated="model")
    play()
    run = stage.again(run)
    sample = rewind_to(run, 0, 1)
    first = ModelCall.objects.get(trace=sample.trace, ordinal=0)
    response = first.response
    ModelCall.objects.filter(pk=first.pk).update(state=CallState.SENT, response="")
    expire(run)
    (claimed,) = leases.claim("second", most=1)
    assert stage.again(run).calls_unknown == 1
    stale = leases.Lease(sample.pk, run.pk, first.trace_id, "dead", 1)
    key = CallKey(first.trace_id, 0, 1)
    late = Outcome(key, CallState.RECEIVED, response, input_tokens=10, output_tokens=5)
    writes.commit([writes.Record(stale, late)])
    first.refresh_from_db()
    assert first.state == CallState.LATE
    assert stage.again(run).calls_unknown == 0
    leases.release([claimed.lease])
    server.requests.clear()
    play()
    assert len(server.requests) == 1  # the second call alone
    first.refresh_from_db()
    assert first.state == CallState.KEPT


def test_one_write_that_fails_takes_no_other_with_it(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(TWO_TURNS, evaluated="model")
    first, second, _ = leases.claim("mine", most=3)
    twice = writes.Send(first.lease, new_call(stage, first), False, writes.Progress())
    good = writes.Send(second.lease, new_call(stage, second), False, writes.Progress())
    written = writes.commit([twice, twice, good])
    assert [each.error is None for each in written] == [True, False, True]
    assert stage.again(run).calls == ModelCall.objects.count() == 2


def test_a_sample_that_takes_its_players_down_is_given_up_and_not_for_ever(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(TWO_TURNS, evaluated="model")
    run.samples.filter(position=1).update(claims=leases.MOST_CLAIMS)
    play()
    run = stage.again(run)
    assert (run.state, run.ended) == (RunState.FINISHED, {"completed": 2, "limit": 1})


def test_when_the_request_has_changed_old_replies_are_history_and_not_used(
    stage: Stage, server: FakeOpenAI
) -> None:
    run = played(stage)
    sample = rewind_to(run, 0, 3)
    endpoint = get_endpoint(OPERATOR, stage.project, "model")
    update_endpoint(actor=OPERATOR, endpoint=endpoint, parameters={"temperature": 1})
    server.requests.clear()
    play()
    assert len(server.requests) == 4
    old = ModelCall.objects.filter(trace=sample.trace, superseded=True)
    assert [(call.ordinal, call.attempt) for call in old] == [(0, 1), (1, 1), (2, 1)]
    new = ModelCall.objects.filter(trace=sample.trace, superseded=False)
    assert [(call.ordinal, call.attempt) for call in new] == [(0, 2), (1, 2), (2, 2), (3, 1)]


def test_resuming_a_finished_run_tries_failed_samples_again_and_pays_only_for_them(
    stage: Stage, server: FakeOpenAI
) -> None:
    stage.endpoint("model", "flaky-1")
    run = stage.launch(TWO_TURNS, evaluated="model")
    play()
    assert stage.again(run).ended == {"provider_error": 3}
    resume(actor=OPERATOR, run=run)  # the first call passes now, the second does not
    assert stage.again(run).state == RunState.QUEUED
    play()
    assert stage.again(run).ended == {"provider_error": 3}
    resume(actor=OPERATOR, run=run)
    before = len(server.requests)
    play()
    run = stage.again(run)
    assert (run.state, run.ended, run.samples_done) == (RunState.FINISHED, {"completed": 3}, 3)
    assert (run.samples_scored, run.metrics[0]["value"]) == (3, 1.0)
    assert len(server.requests) - before == 3
    assert run.calls == len(server.requests) == 12
    assert Score.objects.count() == 3


def test_resuming_leaves_alone_what_would_only_fail_again(stage: Stage, server: FakeOpenAI) -> None:
    stage.endpoint("model", "status-413")
    run = stage.launch(TWO_TURNS, evaluated="model")
    play()
    assert stage.again(run).ended == {"context_window": 3}
    with pytest.raises(Conflict, match="ended for good"):
        resume(actor=OPERATOR, run=run)
    assert stage.again(run).state == RunState.FINISHED


def test_an_interrupted_run_goes_on_once_the_reason_is_gone(
    stage: Stage, server: FakeOpenAI
) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(TWO_TURNS, evaluated="model")
    Run.objects.filter(pk=run.pk).update(state=RunState.INTERRUPTED, error="no key")
    play()
    assert server.requests == []
    run = resume(actor=OPERATOR, run=run)
    assert (run.state, run.error) == (RunState.QUEUED, "")
    play()
    assert stage.again(run).state == RunState.FINISHED


def test_a_run_that_is_being_played_cannot_be_resumed(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    run = stage.launch(TWO_TURNS, evaluated="model")
    with pytest.raises(Conflict, match="queued"):
        resume(actor=OPERATOR, run=run)


def new_call(stage: Stage, claimed: leases.Claimed) -> NewCall:
    return NewCall(
        key=CallKey(claimed.lease.trace_id, 0, 1),
        purpose="evaluated",
        model_key="model",
        endpoint_id=get_endpoint(OPERATOR, stage.project, "model").pk,
        path="message_builders[1]",
        fingerprint="0" * 64,
    )


def test_replies_are_stored_as_they_came(stage: Stage) -> None:
    stage.endpoint("model", "echo")
    stage.launch(TWO_TURNS, evaluated="model", limit=1)
    play()
    response = json.loads(ModelCall.objects.filter(ordinal=0).get().response)
    assert response["choices"][0]["message"]["content"].startswith("First: Question 0")
