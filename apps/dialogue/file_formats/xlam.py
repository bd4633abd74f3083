"""Calls for a query, as xLAM and APIGen have them: ``{"query", "answers", "tools"}``.

``answers`` are the calls, ``[{"name", "arguments"}]``; they and the tools are lists or JSON text.
"""

from typing import Any

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import (
    PlacedTurn,
    calls_of_tools,
    decoded,
    read_placed_turns,
    with_tools,
)


def recognises(row: dict[str, Any]) -> bool:
    calls = decoded(row.get("answers"))
    return (
        isinstance(row.get("query"), str)
        and isinstance(calls, list)
        and all(isinstance(each, dict) and "name" in each for each in calls)
        and (bool(calls) or bool(row.get("tools")))
    )


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    calls = decoded(row.get("answers"))
    if not isinstance(calls, list):
        fault = f"must be a list of calls, not {kind_of(calls)}"
        raise ImportRefused(fault, place="answers")
    if isinstance(row.get("answers"), str):
        notes.append(Note("converted", "answers", "the JSON text was read", "stringified_json"))
    turns = [PlacedTurn("query", {"role": "user", "content": row.get("query")})]
    if calls:
        wire = {"role": "assistant", "content": None, "tool_calls": calls_of_tools(calls)}
        turns.append(PlacedTurn("answers", wire))
    else:
        notes.append(Note("kept", "answers", "there is no call: no tool fits", "empty_turn"))
    messages = read_placed_turns(turns, notes)
    return content_of(with_tools(row, notes), messages, notes, used=("query", "answers"))


FORMAT = RowFormat("xlam", "Calls for a query (xLAM, APIGen)", recognises, read)
