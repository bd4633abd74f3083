"""Writing traces and the ledger of calls, many rows at a time.

Who plays conversations writes here on behalf of an action that asked for the right (a launch, for
a run), so nothing here asks again; no surface calls it. Every function runs inside the caller's
transaction, together with the counters that go with the rows.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.utils import timezone

from apps.traces.bulk import update_each
from apps.traces.models import CallState, ModelCall, Score, Trace, TraceEntry

REUSABLE = (CallState.RECEIVED, CallState.KEPT, CallState.DISCARDED, CallState.LATE)
"""States of a call whose reply is here, complete, and need not be paid for again."""


@dataclass(frozen=True, slots=True)
class CallKey:
    """Which row of the ledger: one attempt at one call of one conversation."""

    trace_id: int
    ordinal: int
    attempt: int


@dataclass(frozen=True, slots=True)
class NewCall:
    """A call about to be made."""

    key: CallKey
    purpose: str
    model_key: str
    endpoint_id: int
    path: str
    fingerprint: str
    planned_at: datetime = field(default_factory=timezone.now)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call that was sent. ``response`` is JSON text, empty if there is none."""

    key: CallKey
    state: CallState
    response: str = ""
    reason: str = ""
    error: str = ""
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    cost: Decimal | None = None
    latency_ms: float | None = None
    received_at: datetime = field(default_factory=timezone.now)


@dataclass(frozen=True, slots=True)
class NewEntry:
    trace_id: int
    position: int
    kind: str
    path: str
    body: dict[str, Any]
    discarded: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class NewScore:
    """What one scorer said: values, or a reason for having none."""

    trace_id: int
    scorer: str
    values: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    unscored_reason: str = ""
    unscored_message: str = ""


@dataclass(frozen=True, slots=True)
class Closing:
    """How a conversation ended; see the words in `dialogue.solver.ending`."""

    trace_id: int
    ended: str
    path: str
    model: str
    message: str
    answer: str | None


def open_traces(project_id: int, titles: Sequence[str], *, source: str = "run") -> list[Trace]:
    """One new trace a title, in their order."""
    return Trace.objects.bulk_create(
        [Trace(project_id=project_id, title=title[:300], source=source) for title in titles]
    )


def plan_calls(calls: Iterable[NewCall]) -> None:
    """Write down calls that wait for their turn at an endpoint."""
    _insert_calls(calls, CallState.PLANNED, None)


def send_calls(calls: Iterable[NewCall], planned: Iterable[CallKey]) -> None:
    """Write down, before they go out, calls that were and were not ``planned`` before."""
    now = timezone.now()
    _insert_calls(calls, CallState.SENT, now)
    update_each(
        ModelCall,
        match=("trace_id", "ordinal", "attempt"),
        rows=[{**_key(key), "state": CallState.SENT, "sent_at": now} for key in planned],
    )


def _insert_calls(calls: Iterable[NewCall], state: CallState, sent_at: datetime | None) -> None:
    ModelCall.objects.bulk_create(
        [
            ModelCall(
                trace_id=call.key.trace_id,
                ordinal=call.key.ordinal,
                attempt=call.key.attempt,
                state=state,
                purpose=call.purpose,
                model_key=call.model_key[:200],
                endpoint_id=call.endpoint_id,
                path=call.path[:300],
                fingerprint=call.fingerprint,
                planned_at=call.planned_at,
                sent_at=sent_at,
            )
            for call in calls
        ]
    )


def record_outcomes(outcomes: Sequence[Outcome]) -> None:
    """Write down what came back, or did not."""
    update_each(
        ModelCall,
        match=("trace_id", "ordinal", "attempt"),
        rows=[
            {
                **_key(outcome.key),
                "state": outcome.state,
                "response": outcome.response,
                "reason": outcome.reason,
                "error": storable(outcome.error),
                "input_tokens": outcome.input_tokens,
                "cached_tokens": outcome.cached_tokens,
                "output_tokens": outcome.output_tokens,
                "cost": outcome.cost,
                "latency_ms": outcome.latency_ms,
                "received_at": outcome.received_at,
            }
            for outcome in outcomes
        ],
    )


def storable(text: str) -> str:
    """Text from outside (an error of a provider) with what no database takes made visible."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")


def _key(key: CallKey) -> dict[str, int]:
    return asdict(key)


def settle_calls(kept: Iterable[CallKey], dropped: Iterable[CallKey]) -> None:
    """When conversations end: replies that stand are kept, those that were dropped discarded."""
    states = {
        **dict.fromkeys(kept, CallState.KEPT),
        **dict.fromkeys(dropped, CallState.DISCARDED),
    }
    update_each(
        ModelCall,
        match=("trace_id", "ordinal", "attempt"),
        rows=[{**_key(key), "state": state} for key, state in states.items()],
    )


def forget_plans(trace_ids: Sequence[int]) -> None:
    """Take back calls that were planned and never went out."""
    ModelCall.objects.filter(trace_id__in=trace_ids, state=CallState.PLANNED).delete()


def mark_unknown(trace_ids: Sequence[int]) -> int:
    """Calls of players that are gone: sent, and nobody will hear the answer. Gives their number."""
    return ModelCall.objects.filter(trace_id__in=trace_ids, state=CallState.SENT).update(
        state=CallState.UNKNOWN,
        error="Its player stopped before the answer came; the call may have been charged.",
    )


def supersede_calls(trace_id: int, ordinal: int) -> None:
    """The request at ``ordinal`` is another one now: its replies and the later ones are history."""
    ModelCall.objects.filter(trace_id=trace_id, ordinal__gte=ordinal).update(superseded=True)


def supersede_failures(trace_ids: Sequence[int]) -> None:
    """Their owner wants failed calls to be made again; replies that are here stay in use."""
    ModelCall.objects.filter(
        trace_id__in=trace_ids, state__in=(CallState.FAILED, CallState.UNKNOWN)
    ).update(superseded=True)


def append_entries(entries: Iterable[NewEntry]) -> None:
    """Store events of conversations as they happen."""
    TraceEntry.objects.bulk_create(
        [
            TraceEntry(
                trace_id=entry.trace_id,
                position=entry.position,
                kind=entry.kind,
                path=entry.path[:300],
                body=json.dumps(entry.body, separators=(",", ":")),
                discarded=entry.discarded,
                at=entry.at,
            )
            for entry in entries
        ]
    )


def discard_entries(trace_id: int, first: int, last: int) -> None:
    """Mark the entries from ``first`` to ``last`` as dropped from the conversation."""
    TraceEntry.objects.filter(trace_id=trace_id, position__gte=first, position__lte=last).update(
        discarded=True
    )


def rewind(trace_ids: Sequence[int]) -> None:
    """Forget how far conversations were told, so that they can be told again from the ledger.

    Only what is derived goes: entries, endings and scores. The ledger stays.
    """
    TraceEntry.objects.filter(trace_id__in=trace_ids).delete()
    Score.objects.filter(trace_id__in=trace_ids).delete()
    Trace.objects.filter(pk__in=trace_ids).update(
        ended="", ended_path="", ended_model="", ended_message="", answer=None, finished_at=None
    )


def close_traces(closings: Sequence[Closing]) -> None:
    """Write down how conversations ended."""
    now = timezone.now()
    update_each(
        Trace,
        match=("id",),
        rows=[
            {
                "id": closing.trace_id,
                "ended": closing.ended,
                "ended_path": closing.path[:300],
                "ended_model": closing.model[:200],
                "ended_message": storable(closing.message),
                "answer": closing.answer,
                "finished_at": now,
            }
            for closing in closings
        ],
    )


def store_scores(scores: Iterable[NewScore]) -> None:
    Score.objects.bulk_create([Score(**_columns(score)) for score in scores])


def _columns(score: NewScore) -> Mapping[str, Any]:
    return {
        "trace_id": score.trace_id,
        "scorer": score.scorer[:100],
        "values": score.values,
        "metadata": score.metadata,
        "unscored_reason": score.unscored_reason[:64],
        "unscored_message": storable(score.unscored_message),
    }
