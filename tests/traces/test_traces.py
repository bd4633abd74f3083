"""Traces as they are written by groups and read by page."""

import pytest
from django.utils import timezone

from apps.accounts.errors import Forbidden, NotFound
from apps.accounts.permissions import OPERATOR
from apps.providers.actions import create_endpoint
from apps.traces.actions import (
    CallKey,
    Closing,
    NewCall,
    NewEntry,
    NewScore,
    Outcome,
    append_entries,
    close_traces,
    discard_entries,
    forget_plans,
    mark_unknown,
    open_traces,
    plan_calls,
    record_outcomes,
    rewind,
    send_calls,
    settle_calls,
    storable,
    store_scores,
    supersede_calls,
)
from apps.traces.bulk import update_each
from apps.traces.models import CallState, ModelCall, Trace
from apps.traces.queries import get_trace
from tests.cast import Cast

pytestmark = pytest.mark.django_db

MAY_VIEW = {
    "owner", "author", "annotator", "viewer", "read_key", "write_key", "admin_key", "operator"
}  # fmt: skip


@pytest.fixture
def trace(cast: Cast) -> Trace:
    """An empty trace of ``alpha``."""
    return open_traces(cast.project.pk, ["q1"])[0]


def entries(trace: Trace, count: int) -> list[NewEntry]:
    return [
        NewEntry(trace.pk, position, "custom", "p", {"name": position}, False, timezone.now())
        for position in range(count)
    ]


def call(cast: Cast, trace: Trace, ordinal: int = 0, attempt: int = 1) -> NewCall:
    endpoint = cast.project.endpoints.first() or create_endpoint(
        actor=OPERATOR, project=cast.project, key="m", base_url="demo", model="echo"
    )
    key = CallKey(trace.pk, ordinal, attempt)
    return NewCall(key, "evaluated", "m", endpoint.pk, "message_builders[0]", "f" * 64)


def states(trace: Trace) -> list[str]:
    return list(trace.calls.order_by("ordinal", "attempt").values_list("state", flat=True))


def test_entries_come_back_in_order_with_their_key_order_kept(cast: Cast, trace: Trace) -> None:
    body = {"z": 1, "a": {"y": 2, "b": "\x00\ud800"}}
    append_entries([NewEntry(trace.pk, 0, "custom", "p", body, False, timezone.now())])
    (entry,) = get_trace(OPERATOR, cast.project, trace.pk).entries
    assert entry.body == body
    assert list(entry.body) == ["z", "a"]


def test_a_long_trace_is_read_by_page(cast: Cast, trace: Trace) -> None:
    append_entries(entries(trace, 5))
    first = get_trace(OPERATOR, cast.project, trace.pk, limit=2)
    assert ([entry.position for entry in first.entries], first.more) == ([0, 1], True)
    last = get_trace(OPERATOR, cast.project, trace.pk, after=2, limit=2)
    assert ([entry.position for entry in last.entries], last.more) == ([3, 4], False)


def test_dropped_entries_stay_and_are_marked(cast: Cast, trace: Trace) -> None:
    append_entries(entries(trace, 4))
    discard_entries(trace.pk, 1, 2)
    view = get_trace(OPERATOR, cast.project, trace.pk)
    assert [entry.discarded for entry in view.entries] == [False, True, True, False]


def test_a_call_goes_from_planned_to_sent_to_received_to_kept(cast: Cast, trace: Trace) -> None:
    made = call(cast, trace)
    plan_calls([made])
    assert states(trace) == [CallState.PLANNED]
    send_calls([], [made.key])
    assert states(trace) == [CallState.SENT]
    record_outcomes([Outcome(made.key, CallState.RECEIVED, "{}", input_tokens=3)])
    row = trace.calls.get()
    assert (row.state, row.response, row.input_tokens) == (CallState.RECEIVED, "{}", 3)
    settle_calls([made.key], [])
    assert states(trace) == [CallState.KEPT]


def test_a_dropped_reply_is_discarded_and_not_kept(cast: Cast, trace: Trace) -> None:
    calls = [call(cast, trace, ordinal) for ordinal in range(2)]
    send_calls(calls, [])
    settle_calls([each.key for each in calls], [calls[1].key])
    assert states(trace) == [CallState.KEPT, CallState.DISCARDED]


def test_only_calls_that_were_sent_become_unknown(cast: Cast, trace: Trace) -> None:
    calls = [call(cast, trace, ordinal) for ordinal in range(3)]
    plan_calls(calls[:1])
    send_calls(calls[1:], [])
    record_outcomes([Outcome(calls[1].key, CallState.FAILED, reason="timeout")])
    assert mark_unknown([trace.pk]) == 1
    assert states(trace) == [CallState.PLANNED, CallState.FAILED, CallState.UNKNOWN]
    forget_plans([trace.pk])
    assert states(trace) == [CallState.FAILED, CallState.UNKNOWN]


def test_superseding_a_call_leaves_those_before_it_in_use(cast: Cast, trace: Trace) -> None:
    send_calls([call(cast, trace, ordinal) for ordinal in range(3)], [])
    supersede_calls(trace.pk, 1)
    assert list(trace.calls.values_list("superseded", flat=True)) == [False, True, True]


def test_rewinding_keeps_the_ledger_and_forgets_what_was_derived(cast: Cast, trace: Trace) -> None:
    append_entries(entries(trace, 2))
    send_calls([call(cast, trace)], [])
    store_scores([NewScore(trace.pk, "string_equals", {"is_correct": True})])
    close_traces([Closing(trace.pk, "completed", "", "", "done", "Vienna")])
    view = get_trace(OPERATOR, cast.project, trace.pk)
    assert (view.trace.ended, view.trace.answer, len(view.scores)) == ("completed", "Vienna", 1)
    rewind([trace.pk])
    view = get_trace(OPERATOR, cast.project, trace.pk)
    assert (view.trace.ended, view.trace.answer) == ("", None)
    assert (view.entries, view.scores, len(view.calls)) == ([], [], 1)


def test_what_no_database_takes_is_made_visible_in_errors(cast: Cast, trace: Trace) -> None:
    assert storable("a\x00b\ud800c") == "a\ufffdb?c"
    made = call(cast, trace)
    send_calls([made], [])
    record_outcomes([Outcome(made.key, CallState.FAILED, error="bad \x00 \udfff")])
    close_traces([Closing(trace.pk, "provider_error", "", "", "bad \x00", None)])
    assert trace.calls.get().error == "bad \ufffd ?"


def test_one_attempt_has_one_row(cast: Cast, trace: Trace) -> None:
    send_calls([call(cast, trace), call(cast, trace, attempt=2)], [])
    assert ModelCall.objects.count() == 2


def test_updating_rows_that_are_not_there_changes_nothing(cast: Cast, trace: Trace) -> None:
    update_each(Trace, match=("id",), rows=[{"id": trace.pk + 1, "title": "x"}])
    update_each(Trace, match=("id",), rows=[])
    trace.refresh_from_db()
    assert trace.title == "q1"


def test_who_may_read_a_trace(cast: Cast, trace: Trace) -> None:
    for name, actor in cast.actors().items():
        if name in MAY_VIEW:
            assert get_trace(actor, cast.project, trace.pk).trace == trace
        else:
            with pytest.raises((Forbidden, NotFound)):
                get_trace(actor, cast.project, trace.pk)
    with pytest.raises(NotFound):
        get_trace(OPERATOR, cast.other_project, trace.pk)
    with pytest.raises(NotFound):
        get_trace(OPERATOR, cast.project, trace.pk + 1)
