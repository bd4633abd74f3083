"""Langfuse's observations: ``{"traceId", "type": "GENERATION", "input", "output"}``.

A generation is a call of a model. One whose conversation a later generation of its trace goes on
with is a part of that one; spans and events say nothing of their own. A list of traces has the
input and output of each.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from apps.dialogue.errors import DialogueError
from apps.dialogue.file_formats.base import Note, Row, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import (
    Recorded,
    as_tools,
    decoded,
    fingerprint,
    read_answered,
    read_asked,
    read_placed_turns,
)
from apps.dialogue.provider_formats.base import leftovers

_TYPES = (
    "GENERATION", "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR",
    "EMBEDDING", "GUARDRAIL",
)  # fmt: skip

_OF_A_TRACE = ("sessionId", "session_id", "htmlPath", "bookmarked", "totalCost", "total_cost")


def recognises(row: dict[str, Any]) -> bool:
    if row.get("type") in _TYPES and ("traceId" in row or "trace_id" in row):
        return True
    # A trace without its observations still has what was asked and answered.
    listed = all(key in row for key in ("timestamp", "input", "output"))
    return _is_trace(row) or (listed and any(key in row for key in _OF_A_TRACE))


def expand(row: Row) -> Iterator[Row]:
    """Make of a whole trace its observations."""
    if not _is_trace(row.value):
        yield row
        return
    trace = leftovers(row.value, {"observations", "id"})
    beside = {"traceId": row.value.get("id"), **({"trace": trace} if trace else {})}
    for index, each in enumerate(row.value["observations"]):
        note = Note("converted", f"observations[{index}]", "an observation of the trace")
        value = {**beside, **each} if isinstance(each, dict) else each
        if not isinstance(value, dict):
            fault = "an observation must be an object"
            yield replace(row, value=None, fault=fault, fault_code="bad_row")
        else:
            yield replace(row, value=value, notes=(*row.notes, note))


def group(row: dict[str, Any]) -> str:
    trace = row.get("traceId", row.get("trace_id"))
    return trace if isinstance(trace, str) and trace else fingerprint(row)


def join(rows: Sequence[Row]) -> Iterator[Row]:
    """Take the generations of a trace that no later one goes on with."""
    calls = [row for row in rows if row.value.get("type") == "GENERATION"]
    if not calls:
        calls = [row for row in rows if _asks(row.value) is not None][:1]
    ordered = sorted(calls, key=lambda row: str(row.value.get("startTime") or ""))
    said = [_said(row.value) for row in ordered]
    kept = [
        row
        for index, row in enumerate(ordered)
        if not any(_goes_on(said[index], later) for later in said[index + 1 :])
    ]
    left = [row for row in rows if not any(row is each for each in kept)]
    if not kept:
        yield replace(
            rows[0],
            fault=f"the trace holds no call of a model, but {_listed(rows)}",
            fault_code="skipped_spans",
        )
        return
    for number, row in enumerate(kept):
        notes = row.notes
        if left and number == 0:
            reason = f"{len(left)} other observations of the trace left out: {_listed(left)}"
            notes = (*notes, Note("dropped", "", reason, "skipped_spans"))
        yield replace(row, notes=notes)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    asked = read_asked(row.get("input"), notes, "input")
    output = row.get("output")
    answered = read_answered(output or None, asked.turns, notes, "output")
    kept = {name: value for name, value in row.items() if name not in ("input", "output")}
    if asked.rest:
        kept["input"] = asked.rest
    if answered is None or answered.rest:
        kept["output"] = output if answered is None else answered.rest
    tools = asked.tools or _offered(row)
    if tools:
        kept["tools"] = tools
    turns = [*asked.turns, *(answered.turns if answered else ())]
    return content_of(kept, read_placed_turns(turns, notes), notes)


def _asks(row: dict[str, Any]) -> Recorded | None:
    try:
        return read_asked(row.get("input"), [], "input")
    except DialogueError:
        return None


def _said(row: dict[str, Any]) -> list[str]:
    """Return the turns of a generation as texts that can be compared."""
    asked = _asks(row)
    if asked is None:
        return []
    answered = read_answered(row.get("output") or None, asked.turns, [], "output")
    turns = [*asked.turns, *(answered.turns if answered else ())]
    return [json.dumps(turn.wire, sort_keys=True, default=str) for turn in turns]


def _goes_on(said: list[str], later: list[str]) -> bool:
    """Tell whether a later generation was asked all that was said before.

    The answer may have been written anew on the way (ids, nulls), so it is not compared.
    """
    asked = said[:-1]
    return bool(asked) and len(later) > len(said) and later[: len(asked)] == asked


def _offered(row: dict[str, Any]) -> list[Any] | None:
    parameters = decoded(row.get("modelParameters"))
    metadata = decoded(row.get("metadata"))
    for holder in (parameters, metadata):
        if isinstance(holder, dict) and (tools := as_tools(holder.get("tools"))):
            return tools
    return None


def _is_trace(row: dict[str, Any]) -> bool:
    observations = row.get("observations")
    return isinstance(observations, list) and any(
        isinstance(each, dict) and each.get("type") in _TYPES for each in observations
    )


def _listed(rows: Sequence[Row]) -> str:
    named = ", ".join(
        f"{row.value.get('type')} {row.value.get('name') or ''}".strip() for row in rows[:10]
    )
    return named + (f" and {len(rows) - 10} more" if len(rows) > 10 else "")


FORMAT = RowFormat(
    "langfuse_observations",
    "Langfuse observations",
    recognises,
    read,
    expand=expand,
    group=group,
    join=join,
)
