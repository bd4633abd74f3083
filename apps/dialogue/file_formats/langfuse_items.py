"""Langfuse's dataset items: ``{"input", "expectedOutput", "metadata", "status"}``.

What was asked becomes the conversation, and the expected output its last turn.
"""

from typing import Any

from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import (
    as_tools,
    decoded,
    read_answered,
    read_asked,
    read_placed_turns,
)

_EXPECTED = ("expectedOutput", "expected_output")


def recognises(row: dict[str, Any]) -> bool:
    if "input" not in row or not any(key in row for key in _EXPECTED):
        return False
    # DeepEval's goldens have input and expected_output too; Langfuse's API writes camel case.
    return "expectedOutput" in row or "datasetId" in row or "dataset_id" in row or "status" in row


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    column = next((key for key in _EXPECTED if key in row), _EXPECTED[0])
    asked = read_asked(row.get("input"), notes, "input")
    answered = read_answered(row.get(column), asked.turns, notes, column)
    kept = {name: value for name, value in row.items() if name not in ("input", column)}
    if asked.rest:
        kept["input"] = asked.rest
    if answered is None or answered.rest:
        kept[column] = row[column] if answered is None else answered.rest
    metadata = decoded(kept.get("metadata"))
    if isinstance(metadata, dict) and metadata is not kept.get("metadata"):
        notes.append(Note("converted", "metadata", "the JSON text was read", "stringified_json"))
        kept["metadata"] = metadata
    if row.get("status") == "ARCHIVED":
        reason = "the item is archived in Langfuse; the status is an attribute"
        notes.append(Note("kept", "status", reason, "archived"))
    if tools := asked.tools or as_tools(row.get("tools")):
        kept["tools"] = tools
    turns = [*asked.turns, *(answered.turns if answered else ())]
    return content_of(kept, read_placed_turns(turns, notes), notes)


FORMAT = RowFormat("langfuse_items", "Langfuse dataset items", recognises, read)
