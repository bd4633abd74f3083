"""Lists of tools in the shapes that files have them, read and written."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from apps.dialogue.blocks.json_values import json_copy, kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import Note, cleaned
from apps.dialogue.file_formats.base.rows import UNREAD_TOOLS, Loss, free_name

_SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema")


def with_tools(row: dict[str, Any], notes: list[Note]) -> dict[str, Any]:
    """Return the row with its tools as a list of objects, without the key where there are none.

    They may be JSON text, whole or in the schema of their parameters, a lone object, or the
    ``functions`` of old. What cannot be read is no reason to refuse a conversation: it is kept as
    it is under another name, with a note (``bad_tools``).
    """
    read: list[Note] = []
    try:
        found = _with_tools(row, read)
    except ImportRefused as error:
        return _with_unread(row, error, notes)
    notes += read
    return found


def _with_unread(row: dict[str, Any], error: ImportRefused, notes: list[Note]) -> dict[str, Any]:
    if error.place.startswith("functions"):
        name, kept = "functions", row
    else:
        name = free_name(UNREAD_TOOLS, row)
        kept = {(name if key == "tools" else key): value for key, value in row.items()}
    reason = f"{error.message}; the tools are kept unread, as the attribute {name}"
    notes.append(Note("kept", error.place, reason, "bad_tools"))
    return kept


def _with_tools(row: dict[str, Any], notes: list[Note]) -> dict[str, Any]:
    tools = row.get("tools")
    functions = row.get("functions")
    if isinstance(functions, str) and functions.lstrip().startswith("["):
        functions = _from_json(functions, "functions", notes)
    if tools in (None, "", []) and isinstance(functions, list) and functions:
        reason = "the functions became tools"
        notes.append(Note("converted", "functions", reason, "legacy_function_call"))
        made = [
            {"type": "function", "function": _tool(each, f"functions[{index}]", notes)}
            for index, each in enumerate(functions)
        ]
        rest = {key: value for key, value in row.items() if key not in ("functions", "tools")}
        return {**rest, "tools": made}
    if isinstance(tools, str):
        tools = _from_json(tools, "tools", notes) if tools.strip() else []
    if tools in (None, []):
        return {key: value for key, value in row.items() if key != "tools"}
    if isinstance(tools, dict) and ("function" in tools or "name" in tools):
        tools = [tools]
    if not isinstance(tools, list):
        fault = f"must be a list of tools, not {kind_of(tools)}"
        raise ImportRefused(fault, place="tools", code="bad_tools")
    read = [_tool(tool, f"tools[{index}]", notes) for index, tool in enumerate(tools)]
    return {**row, "tools": read}


def write_openai_tools(tools: Sequence[Any] | None, losses: list[Loss]) -> list[dict[str, Any]]:
    """Return tools as ``{"type": "function", "function": {...}}``, whatever shape they came in."""
    written = []
    for index, tool in enumerate(tools or ()):
        if isinstance(tool, dict) and isinstance(tool.get("function"), dict):
            written.append(json_copy(tool))
        elif function := _function(tool):
            written.append({"type": "function", "function": function})
        else:
            losses.append(Loss(f"tools[{index}]", _NO_FUNCTION))
    return written


def write_anthropic_tools(tools: Sequence[Any] | None, losses: list[Loss]) -> list[dict[str, Any]]:
    """Return tools as ``{"name", "description", "input_schema"}``; server tools as they are."""
    written = []
    for index, tool in enumerate(tools or ()):
        if isinstance(tool, dict) and ("input_schema" in tool or _is_server_tool(tool)):
            written.append(json_copy(tool))
        elif function := _function(tool):
            schema = function.pop("parameters", None) or {"type": "object", "properties": {}}
            written.append({**function, "input_schema": schema})
        else:
            losses.append(Loss(f"tools[{index}]", _NO_FUNCTION))
    return written


_NO_FUNCTION = "is no function with a name; this format has functions alone"


def _function(tool: object) -> dict[str, Any] | None:
    """Return a fresh ``{"name", "description", "parameters"}`` of a tool in any known shape."""
    if not isinstance(tool, dict):
        return None
    function = tool.get("function")
    given = function if isinstance(function, dict) else tool
    if tool.get("type") not in (None, "function", "custom") or not isinstance(
        given.get("name"), str
    ):
        return None
    schema = next((given[key] for key in _SCHEMA_KEYS if isinstance(given.get(key), dict)), None)
    kept = {key: given[key] for key in ("name", "description", "strict") if given.get(key)}
    copied: dict[str, Any] = json_copy(kept if schema is None else {**kept, "parameters": schema})
    return copied


def _is_server_tool(tool: dict[str, Any]) -> bool:
    return isinstance(tool.get("type"), str) and tool["type"] not in ("function", "custom")


def _tool(tool: object, place: str, notes: list[Note]) -> dict[str, Any]:
    if isinstance(tool, str) and tool.lstrip().startswith("{"):
        tool = _from_json(tool, place, notes)
    if not isinstance(tool, dict):
        fault = f"a tool must be an object, not {kind_of(tool)}"
        raise ImportRefused(fault, place=place, code="bad_tools")
    function = tool.get("function")
    if isinstance(function, dict):
        return {**tool, "function": _parsed(function, f"{place}.function", notes)}
    return _parsed(tool, place, notes)


def _parsed(function: dict[str, Any], place: str, notes: list[Note]) -> dict[str, Any]:
    """Return a function with the schema of its parameters as an object, not as JSON text."""
    for key in _SCHEMA_KEYS:
        schema = function.get(key)
        if isinstance(schema, str) and schema.lstrip().startswith("{"):
            return {**function, key: _from_json(schema, f"{place}.{key}", notes)}
    return function


def _from_json(text: str, place: str, notes: list[Note]) -> Any:
    try:
        value, changes = cleaned(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise ImportRefused(f"is not valid JSON: {error}", place=place, code="bad_tools") from None
    notes.append(Note("converted", place, "JSON text was read", "stringified_tools"))
    notes += [replace(each, place=place) for each in changes]
    return value
