"""LangSmith's dataset examples: ``{"inputs": {...}, "outputs": {...}, "metadata"}``.

What was asked becomes the conversation, and the reference output its last turn.
"""

from typing import Any

from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import as_tools, read_answered, read_asked, read_placed_turns


def recognises(row: dict[str, Any]) -> bool:
    return (
        isinstance(row.get("inputs"), dict)
        and "run_type" not in row
        and ("outputs" in row or "source_run_id" in row or "dataset_id" in row)
    )


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    asked = read_asked(row.get("inputs"), notes, "inputs")
    outputs = row.get("outputs")
    answered = read_answered(outputs or None, asked.turns, notes, "outputs")
    turns = list(asked.turns)
    kept = {name: value for name, value in row.items() if name not in ("inputs", "outputs")}
    if asked.rest:
        kept["inputs"] = asked.rest
    if answered is None:
        kept["outputs"] = outputs
        notes.append(Note("kept", "outputs", "no answer was found in it; it is an attribute"))
    else:
        turns += answered.turns
        if answered.rest:
            kept["outputs"] = answered.rest
    if tools := asked.tools or as_tools(row.get("tools")):
        kept["tools"] = tools
    return content_of(kept, read_placed_turns(turns, notes), notes)


FORMAT = RowFormat("langsmith_examples", "LangSmith dataset examples", recognises, read)
