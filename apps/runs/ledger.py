"""The evaluated, simulated and judging models of one conversation, seen through the ledger.

Every call is written down before it goes out. A reply that is in the ledger already is used again
if the request is the same, so a resumed conversation pays for nothing twice.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from apps.dialogue.completeness import CompleteReply, Usage, usage_of
from apps.dialogue.errors import ConversionRefused, IncompleteReply, ModelCallFailed
from apps.dialogue.pairing import Problem
from apps.dialogue.solver.language_model import ModelRequest
from apps.providers.client import Caller
from apps.providers.retrying import wait_before_retry
from apps.providers.targets import Prepared, Target, complete, cost_of, prepare
from apps.runs.leases import Claimed, RecordedCall
from apps.runs.writer import Writer
from apps.runs.writes import Plan, Progress, Record, Send, Verdict
from apps.traces.actions import REUSABLE, CallKey, NewCall, Outcome, supersede_calls
from apps.traces.models import CallState

_INCOMPLETE = frozenset(
    {"length", "content_filter", "refusal", "empty", "unexpected_tool_call", "incomplete"}
)


class Halted(Exception):
    """The player may not go on with this sample; its class says why."""


class CancelledByRun(Halted):
    """The run is being cancelled."""


class LeaseLost(Halted):
    """Somebody else plays the sample now."""


class PlayerStopping(Halted):
    """This process is being shut down; the sample is for another one."""


@dataclass
class Desk:
    """What all conversations of a player share."""

    writer: Writer
    caller: Caller
    is_stopping: Callable[[], bool]
    slots: dict[int, asyncio.Semaphore] = field(default_factory=dict)
    exchanges: set["asyncio.Task[CompleteReply]"] = field(default_factory=set)

    def slot(self, target: Target) -> asyncio.Semaphore | None:
        """The turns at an endpoint that takes a limited number of requests at once."""
        most = target.max_concurrent_requests
        if most is None:
            return None
        return self.slots.setdefault(target.endpoint_id, asyncio.Semaphore(most))


class LedgerModel:
    """Implements `LanguageModel` for one claimed sample."""

    def __init__(
        self,
        claimed: Claimed,
        targets: Mapping[str | None, Target],
        desk: Desk,
        take_progress: Callable[[], Progress],
        rehearse: Callable[[], Awaitable[Sequence[Problem]]],
    ) -> None:
        self.used: dict[int, CallKey] = {}
        self._rehearse = rehearse
        self._lease = claimed.lease
        self._targets = targets
        self._desk = desk
        self._take_progress = take_progress
        self._recorded: dict[int, list[RecordedCall]] = {}
        for call in claimed.recorded:
            self._recorded.setdefault(call.ordinal, []).append(call)

    async def reply(self, request: ModelRequest) -> CompleteReply:
        """The complete reply to a request, from the ledger or from the endpoint."""
        if request.ordinal == 0 and request.model_key is not None and not self._recorded:
            await self._refuse_early()
        target = self._targets[request.model_key]
        prepared = prepare(target, request.messages)
        failures = 0
        if rows := self._recorded.get(request.ordinal):
            again = self._again(rows, prepared, target)
            if isinstance(again, CompleteReply):
                return again
            failures = again
            await self._leave_behind(request.ordinal, prepared)
        return await self._ask(request, target, prepared, failures)

    async def _refuse_early(self) -> None:
        """No other model is paid for a sample that the evaluated one would be refused."""
        for problem in await self._rehearse():
            if problem.severity == "error":
                raise ConversionRefused(problem.message, place=problem.place)

    def _again(
        self, rows: Sequence[RecordedCall], prepared: Prepared, target: Target
    ) -> CompleteReply | int:
        """The recorded reply, or how many attempts have failed so far; raises a final failure."""
        same = [
            row for row in rows if row.fingerprint == prepared.fingerprint and not row.superseded
        ]
        for row in same:
            if row.state in REUSABLE:
                self._use(row.ordinal, row.attempt)
                return complete(target, json.loads(row.response))
        failed = [row for row in same if row.state == CallState.FAILED]
        if failed:
            failure = _failure_of(failed[-1])
            if isinstance(failure, IncompleteReply):
                raise failure
            attempts, most = len(failed), target.max_retries
            if wait_before_retry(failure, attempts=attempts, max_retries=most) is None:
                raise failure
        return len(failed)

    async def _leave_behind(self, ordinal: int, prepared: Prepared) -> None:
        """If the request is not the recorded one any more, neither are those after it."""
        others = [
            row
            for row in self._recorded[ordinal]
            if row.fingerprint != prepared.fingerprint and not row.superseded
        ]
        if not others:
            return
        await self._desk.writer.call(supersede_calls, self._lease.trace_id, ordinal)
        for later, rows in self._recorded.items():
            if later >= ordinal:
                self._recorded[later] = [replace(row, superseded=True) for row in rows]

    async def _ask(
        self, request: ModelRequest, target: Target, prepared: Prepared, failures: int
    ) -> CompleteReply:
        attempt = max((row.attempt for row in self._recorded.get(request.ordinal, ())), default=0)
        while True:
            attempt += 1
            call = self._new_call(request, attempt, target, prepared)
            try:
                reply = await self._attempt(call, target, prepared)
            except ModelCallFailed as failure:
                failures += 1
                wait = wait_before_retry(failure, attempts=failures, max_retries=target.max_retries)
                if wait is None:
                    raise
                await asyncio.sleep(wait)
            else:
                self._use(request.ordinal, attempt)
                return reply

    def _new_call(
        self, request: ModelRequest, attempt: int, target: Target, prepared: Prepared
    ) -> NewCall:
        return NewCall(
            key=CallKey(self._lease.trace_id, request.ordinal, attempt),
            purpose=request.purpose,
            model_key=request.model_key or target.key,
            endpoint_id=target.endpoint_id,
            path=request.path,
            fingerprint=prepared.fingerprint,
        )

    def _use(self, ordinal: int, attempt: int) -> None:
        self.used[ordinal] = CallKey(self._lease.trace_id, ordinal, attempt)

    async def _attempt(self, call: NewCall, target: Target, prepared: Prepared) -> CompleteReply:
        """Wait for a turn, then exchange; once it is sent, its answer is waited for by itself.

        Cancelling the conversation does not cancel the exchange: an answer that was paid for is
        recorded, late.
        """
        if self._desk.is_stopping():
            raise PlayerStopping
        slot = self._desk.slot(target)
        was_planned = False
        if slot is not None:
            if slot.locked():
                _check(await self._desk.writer.post(Plan(self._lease, call)))
                was_planned = True
            await slot.acquire()
        exchange = asyncio.create_task(self._exchange(call, was_planned, target, prepared, slot))
        self._desk.exchanges.add(exchange)
        exchange.add_done_callback(self._desk.exchanges.discard)
        try:
            return await asyncio.shield(exchange)
        except asyncio.CancelledError:
            exchange.add_done_callback(_nobody_waits)
            raise

    async def _exchange(
        self,
        call: NewCall,
        was_planned: bool,
        target: Target,
        prepared: Prepared,
        slot: asyncio.Semaphore | None,
    ) -> CompleteReply:
        try:
            if self._desk.is_stopping():
                raise PlayerStopping
            send = Send(self._lease, call, was_planned, self._take_progress())
            _check(await self._desk.writer.post(send))
            return await self._settled(call, target, prepared)
        finally:
            if slot is not None:
                slot.release()

    async def _settled(self, call: NewCall, target: Target, prepared: Prepared) -> CompleteReply:
        """Post the request and hand in what came of it."""
        latency = None
        response: Any = None
        try:
            raw = await self._desk.caller.post(target, prepared)
            latency, response = raw.latency_ms, raw.response
            reply = complete(target, response)
        except (ModelCallFailed, IncompleteReply) as error:
            if response is None:
                response = error.response
            outcome = _outcome(call.key, target, response, latency, error)
            self._desk.writer.post(Record(self._lease, outcome)).add_done_callback(_check_written)
            raise
        outcome = _outcome(call.key, target, response, latency, None)
        self._desk.writer.post(Record(self._lease, outcome)).add_done_callback(_check_written)
        return reply


def _check(verdict: Verdict) -> None:
    match verdict:
        case Verdict.CANCELLED:
            raise CancelledByRun
        case Verdict.LOST:
            raise LeaseLost
        case Verdict.GO:
            pass


def _nobody_waits(exchange: "asyncio.Task[CompleteReply]") -> None:
    """The outcome is in the ledger; the conversation that wanted it is gone."""
    if not exchange.cancelled():
        exchange.exception()


def _check_written(written: "asyncio.Future[Any]") -> None:
    """Not having stored a paid reply is a fault of this process: let the loop's handler log it."""
    if not written.cancelled() and (error := written.exception()) is not None:
        written.get_loop().call_exception_handler(
            {"message": "A model call's outcome could not be written", "exception": error}
        )


def _failure_of(row: RecordedCall) -> IncompleteReply | ModelCallFailed:
    response = json.loads(row.response) if row.response else None
    if row.reason in _INCOMPLETE:
        return IncompleteReply(row.reason, row.error, response=response)
    return ModelCallFailed(row.reason, row.error, response=response)


def _outcome(
    key: CallKey,
    target: Target,
    response: Any,
    latency: float | None,
    error: ModelCallFailed | IncompleteReply | None,
) -> Outcome:
    usage: Usage | None = usage_of(response) if isinstance(response, Mapping) else None
    return Outcome(
        key=key,
        state=CallState.RECEIVED if error is None else CallState.FAILED,
        response="" if response is None else json.dumps(response, separators=(",", ":")),
        reason="" if error is None else error.reason,
        error="" if error is None else error.message,
        input_tokens=usage.input_tokens if usage else None,
        cached_tokens=usage.cached_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        cost=cost_of(target, usage),
        latency_ms=latency,
    )
