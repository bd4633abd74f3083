"""LangSmith's runs: ``{"run_id", "trace_id", "parent_run_id", "run_type", "inputs", "outputs"}``.

The runs of a trace are one conversation: the last call of a model has all that was said.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from apps.dialogue.file_formats.base import Note, Row, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import (
    as_tools,
    fingerprint,
    read_answered,
    read_asked,
    read_placed_turns,
)

_MODELS = ("llm", "chat_model")


def recognises(row: dict[str, Any]) -> bool:
    return isinstance(row.get("run_type"), str) and ("inputs" in row or "outputs" in row)


def group(row: dict[str, Any]) -> str:
    """Return the trace of a run; a run without one is a trace of its own."""
    for key in ("trace_id", "run_id", "id"):
        if isinstance(row.get(key), str) and row[key]:
            return str(row[key])
    return fingerprint(row)


def join(rows: Sequence[Row]) -> Iterator[Row]:
    """Take the last call of a model in a trace, or its first run where no model was called."""
    asked = [row for row in rows if row.value.get("run_type") in _MODELS]
    chosen = max(asked, key=_began) if asked else _root(rows)
    left = [row for row in rows if row is not chosen]
    notes = chosen.notes
    if left:
        kinds = ", ".join(f"{row.value.get('run_type')} on line {row.line}" for row in left[:10])
        more = f" and {len(left) - 10} more" if len(left) > 10 else ""
        reason = f"{len(left)} other runs of the trace left out: {kinds}{more}"
        notes = (*notes, Note("dropped", "", reason, "skipped_spans"))
    yield replace(chosen, notes=notes)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    asked = read_asked(row.get("inputs"), notes, "inputs")
    outputs = row.get("outputs")
    answered = read_answered(outputs or None, asked.turns, notes, "outputs")
    kept = {name: value for name, value in row.items() if name not in ("inputs", "outputs")}
    kept["id"] = row.get("run_id") or row.get("id")
    if asked.rest:
        kept["inputs"] = asked.rest
    if answered is None or answered.rest:
        kept["outputs"] = outputs if answered is None else answered.rest
    if row.get("error"):
        notes.append(Note("kept", "error", "the run failed; its error is an attribute", "failed"))
    tools = asked.tools or _offered(row)
    if tools:
        kept["tools"] = tools
    turns = [*asked.turns, *(answered.turns if answered else ())]
    return content_of(kept, read_placed_turns(turns, notes), notes)


def _began(row: Row) -> tuple[str, int]:
    """Order runs by when they began, by their line where they do not tell."""
    for key in ("dotted_order", "start_time"):
        if isinstance(row.value.get(key), str):
            return row.value[key].rpartition(".")[2] if key == "dotted_order" else row.value[key], 0
    return "", row.line


def _root(rows: Sequence[Row]) -> Row:
    return next((row for row in rows if not row.value.get("parent_run_id")), rows[0])


def _offered(row: dict[str, Any]) -> list[Any] | None:
    extra = row.get("extra")
    parameters = extra.get("invocation_params") if isinstance(extra, dict) else None
    if not isinstance(parameters, dict):
        return None
    return as_tools(parameters.get("tools")) or as_tools(parameters.get("functions"))


FORMAT = RowFormat("langsmith_runs", "LangSmith runs", recognises, read, group=group, join=join)
