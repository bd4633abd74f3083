"""A trace as it is read: the turns and what happened between them, and the calls as a waterfall."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from apps.dialogue.message import parse_message
from apps.studio.forms.fields import json_shown
from apps.studio.reading import ShownMessage, show_conversation

LEAST_WIDTH = 0.8
"""Per cent of the waterfall's width that the shortest call is drawn with."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One entry as the page shows it: ``kind`` turn, stop, cap, failure, error or event."""

    kind: str
    message: ShownMessage | None = None
    note: str = ""
    faded: bool = False
    title: str = ""
    text: str = ""
    path: str = ""
    raw: str = ""


@dataclass(frozen=True, slots=True)
class ShownCall:
    """A row of the ledger; ``start`` and ``width`` are per cent of the whole trace's time."""

    call: Any
    model: str
    start: float
    width: float
    response: str


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the calls; ``cost`` and tokens are of the calls that know theirs."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost: Any
    unknown: int


def happenings(entries: Sequence[Any], evaluated: str) -> list[Happening]:
    """The entries of a trace in order. Calls that became a turn are seen in that turn."""
    turns = [entry for entry in entries if entry.kind == "message_event"]
    messages = [parse_message(entry.body["message"]) for entry in turns]
    calls = {entry.position: entry for entry in entries if entry.kind == "model_call_event"}
    positions = [entry.position for entry in turns]
    shown = dict(zip(positions, show_conversation(messages), strict=True))
    found: list[Happening] = []
    for entry in entries:
        if entry.kind == "message_event":
            note = _note(entry, calls, evaluated)
            found.append(Happening("turn", shown[entry.position], note=note, faded=entry.discarded))
        elif (other := _other(entry, evaluated)) is not None and not _repeats(other, found):
            found.append(other)
    return found


def _repeats(other: Happening, found: Sequence[Happening]) -> bool:
    """Whether the end only says again what the failed call just before it said."""
    last = found[-1] if found else None
    return (
        other.kind == "error"
        and last is not None
        and (last.kind, last.text, last.path) == ("failure", other.text, other.path)
    )


def _note(entry: Any, calls: dict[int, Any], evaluated: str) -> str:
    call = calls.get(entry.body.get("model_call", -1))
    if call is None:
        words = "set by the solver"
    else:
        words = f"reply of {_model(call.body.get('model_key'), evaluated)}"
    loops = entry.body.get("loops") or []
    if loops:
        words += f", round {loops[-1] + 1}"
    return f"{words}, discarded" if entry.discarded else words


def _model(key: str | None, evaluated: str) -> str:
    return key or evaluated


def _other(entry: Any, evaluated: str) -> Happening | None:
    body = entry.body
    match entry.kind:
        case "model_call_event":
            return _failed_call(entry, evaluated) if body.get("error") else None
        case "error":
            return Happening(
                "error",
                title=f"The conversation ended here: {_words(body.get('reason'))}",
                text=str(body.get("message", "")),
                path=entry.path,
                faded=entry.discarded,
            )
        case "custom" if body.get("name") == "stop":
            return _stop(entry)
        case "custom" if body.get("name") == "max_iterations":
            title = "The loop reached its last allowed round."
            return Happening("cap", title=title, path=entry.path, faded=entry.discarded)
        case _:
            return Happening(
                "event", title=_words(entry.kind), path=entry.path, raw=json_shown(body)
            )


def _failed_call(entry: Any, evaluated: str) -> Happening:
    error = entry.body["error"]
    response = entry.body.get("response")
    return Happening(
        "failure",
        title=f"No turn from {_model(entry.body.get('model_key'), evaluated)}: "
        f"{_words(error.get('reason'))}",
        text=str(error.get("message", "")),
        path=entry.path,
        faded=entry.discarded,
        raw="" if response is None else json_shown(response),
    )


def _stop(entry: Any) -> Happening:
    data = entry.body.get("data", {})
    title = f"Stopped: the message holds “{data.get('includes', '')}”."
    if data.get("discarded"):
        title += " This round was discarded."
    return Happening("stop", title=title, path=entry.path, faded=entry.discarded)


def _words(word: Any) -> str:
    return str(word).replace("_", " ")


def waterfall(calls: Sequence[Any], evaluated: str) -> list[ShownCall]:
    """Every call with its place in time; a call that was never sent has no width."""
    sent = [call.sent_at for call in calls if call.sent_at is not None]
    ends = [_end(call) for call in calls if call.sent_at is not None]
    first = min(sent, default=None)
    whole = _seconds(first, max(ends)) if first is not None else 0.0
    return [_shown_call(call, evaluated, first, whole) for call in calls]


def _shown_call(call: Any, evaluated: str, first: datetime | None, whole: float) -> ShownCall:
    start = width = 0.0
    if call.sent_at is not None and first is not None:
        scale = 100 / whole if whole > 0 else 0.0
        start = min(_seconds(first, call.sent_at) * scale, 100 - LEAST_WIDTH)
        length = _seconds(call.sent_at, _end(call)) * scale
        width = min(max(length, LEAST_WIDTH), 100 - start)
    return ShownCall(
        call=call,
        model=_model(call.model_key, evaluated),
        start=round(start, 2),
        width=round(width, 2),
        response=call.response,
    )


def _end(call: Any) -> datetime:
    end: datetime = call.received_at or call.sent_at
    return end


def _seconds(start: datetime, end: datetime) -> float:
    return (end - start).total_seconds()


def totals(calls: Sequence[Any]) -> Totals:
    return Totals(
        calls=len(calls),
        input_tokens=sum(call.input_tokens or 0 for call in calls),
        output_tokens=sum(call.output_tokens or 0 for call in calls),
        cost=sum((call.cost for call in calls if call.cost is not None), start=0),
        unknown=sum(1 for call in calls if call.state == "unknown"),
    )
