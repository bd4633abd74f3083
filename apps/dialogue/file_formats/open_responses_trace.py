"""Traces as LatticeFlow has them: ``{"items": [...], "metadata"?, "events"?}``.

What is written is read by ``latticeflow.core.dtypes.Trace``, which has no place for reasoning.
"""

from dataclasses import replace
from typing import Any

from apps.dialogue.blocks.json_values import json_copy
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import (
    Loss,
    Note,
    RowFormat,
    TaskContent,
    check_written,
    content_of,
)
from apps.dialogue.file_formats.turns import read_response_items, write_trace

_ITEMS = frozenset({"message", "function_call", "function_call_output", "reasoning"})
_OWN = "turnwright"


def recognises(row: dict[str, Any]) -> bool:
    return _is_trace(row) or _is_trace(row.get("trace"))


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    if not _is_trace(row) and isinstance(row.get("trace"), dict):
        # What a solver gives: the trace beside other columns.
        row = {**{key: value for key, value in row.items() if key != "trace"}, **row["trace"]}
    messages = read_response_items(row.get("items"), notes)
    given = row.get("metadata")
    metadata = given if isinstance(given, dict) else {}
    parts = {key: value for key, value in row.items() if key not in ("items", "FORMAT")}
    if parts.get("events") is None:
        parts.pop("events", None)
    if given is None:
        parts.pop("metadata", None)
    if row.get("id") is None and isinstance(metadata.get("trace_id"), str):
        parts["id"] = metadata["trace_id"]
    extra = metadata.get("extra")
    if metadata.get("source_type") == _OWN and isinstance(extra, dict) and "task" in extra:
        return _read_own(parts, extra["task"], messages, notes)
    if "tags" not in parts and metadata.get("tags"):
        parts["tags"] = metadata["tags"]
    return content_of(parts, messages, notes, used=("items",))


def write(task: TaskContent, losses: list[Loss]) -> list[dict[str, Any]]:
    """Write a trace of items; attributes and tools stand in ``metadata.extra.task``."""
    if task.candidates:
        count = len(task.candidates)
        losses.append(Loss("candidates", f"a trace has no place for candidates ({count})"))
    around: dict[str, Any] = {"attributes": json_copy(task.attributes)}
    if task.tools:
        around["tools"] = json_copy(task.tools)
    metadata: dict[str, Any] = {"source_type": _OWN, "extra": {"task": around}}
    if task.key is not None:
        metadata["trace_id"] = task.key
    if task.tags:
        metadata["tags"] = list(task.tags)
    row = {"FORMAT": "open_responses", **write_trace(task.messages, losses, metadata)}
    check_written(task, row, read, losses)
    return [row]


def _read_own(parts: dict[str, Any], task: Any, messages: Any, notes: list[Note]) -> TaskContent:
    """Read what this format wrote: the attributes as they were."""
    if not isinstance(task, dict) or not isinstance(task.get("attributes"), dict):
        raise ImportRefused("must be an object with attributes", place="metadata.extra.task")
    kept = {key: value for key, value in parts.items() if key not in ("metadata", "tags")}
    row = {**task["attributes"], **({"tools": task["tools"]} if task.get("tools") else {})}
    content = content_of({**row, **kept}, messages, notes)
    tags = parts["metadata"].get("tags")
    return replace(content, tags=tuple(tags)) if isinstance(tags, list) else content


def _is_trace(value: object) -> bool:
    items = value.get("items") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(items, list) or not items:
        return False
    first = items[0]
    return isinstance(first, dict) and (value.get("FORMAT") == "open_responses" or _is_item(first))


def _is_item(item: dict[str, Any]) -> bool:
    kind = item.get("type")
    return isinstance(kind, str) and kind in _ITEMS


FORMAT = RowFormat(
    "open_responses_trace", "LatticeFlow traces (Open Responses)", recognises, read, write
)
