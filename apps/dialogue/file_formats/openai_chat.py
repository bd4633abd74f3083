"""Chat Completions and fine-tuning rows: ``{"messages": [{"role", "content"}], "tools"?}``."""

import json
from typing import Any

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.message import Message
from apps.dialogue.provider_formats import import_openai


def recognises(row: dict[str, Any]) -> bool:
    return "messages" in row


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    messages = import_openai(row.get("messages"))
    _note_legacy(row["messages"], notes)
    _note_details(messages, notes)
    return content_of(_with_tools(row, notes), messages, notes, used=("messages",))


def _note_legacy(wires: list[dict[str, Any]], notes: list[Note]) -> None:
    for index, wire in enumerate(wires):
        if wire.get("function_call") is not None:
            fault = "the call had no id: one was made that ties it to its result"
            notes.append(
                Note("invented", f"messages[{index}].function_call", fault, "legacy_function_call")
            )
        if wire.get("role") == "developer":
            reason = "developer became system; the role is kept in detail"
            notes.append(Note("converted", f"messages[{index}].role", reason, "developer_role"))


def _note_details(messages: tuple[Message, ...], notes: list[Note]) -> None:
    for index, message in enumerate(messages):
        kept = [key for key in message.detail or {} if key != "role"]
        if kept:
            names = ", ".join(kept)
            notes.append(Note("kept", f"messages[{index}].detail", f"{names} kept in detail"))


def _with_tools(row: dict[str, Any], notes: list[Note]) -> dict[str, Any]:
    """Return the row with its tools as a list: from JSON text, or from legacy ``functions``."""
    tools, functions = row.get("tools"), row.get("functions")
    if isinstance(tools, str) and tools.strip():
        try:
            tools = json.loads(tools)
        except (ValueError, RecursionError) as error:
            raise ImportRefused(f"is not valid JSON: {error}", place="tools") from None
        if not isinstance(tools, list):
            raise ImportRefused("must be a list of tools", place="tools")
        notes.append(Note("converted", "tools", "JSON text became a list", "stringified_tools"))
        return {**row, "tools": tools}
    if isinstance(functions, list) and functions and not tools:
        notes.append(Note("converted", "functions", "the functions became tools"))
        made = [{"type": "function", "function": function} for function in functions]
        return {**{key: value for key, value in row.items() if key != "functions"}, "tools": made}
    return row


FORMAT = RowFormat("openai_chat", "OpenAI chat and fine-tuning", recognises, read)
