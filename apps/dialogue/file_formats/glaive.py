"""Glaive's conversations with functions: ``{"system": "SYSTEM: ...", "chat": "USER: ..."}``.

A chat is one text of ``USER:``, ``ASSISTANT:`` and ``FUNCTION RESPONSE:`` on lines of their own;
``<functioncall>`` begins a call, whose arguments are JSON in single quotes. Version 1 has all of it
as ``sample``.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from apps.dialogue.blocks.json_values import NotJson, json_copy
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import (
    PlacedTurn,
    calls_of_tools,
    decoded,
    read_placed_turns,
    with_tools,
)

_COLUMNS: Final = ("chat", "sample")
_TURN: Final = re.compile(r"(?:\A|\n)[ \t]*(SYSTEM|USER|ASSISTANT|FUNCTION RESPONSE):[ \t]?")
_CALL: Final = "<functioncall>"
_END: Final = "<|endoftext|>"
_QUOTED: Final = re.compile(
    r"""\s*\{\s*"name"\s*:\s*"(?P<name>[^"]+)"\s*,\s*"arguments"\s*:\s*'(?P<arguments>.*)'\s*\}\s*""",
    re.DOTALL,
)
_SYSTEM: Final = re.compile(r"\s*SYSTEM:[ \t]?")
_ROLES: Final = {
    "SYSTEM": "system",
    "USER": "user",
    "ASSISTANT": "assistant",
    "FUNCTION RESPONSE": "tool",
}


def recognises(row: dict[str, Any]) -> bool:
    return _column(row) is not None


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    column = _column(row)
    if column is None:
        raise ImportRefused("there is no chat with USER: and ASSISTANT:", place="chat")
    turns: list[PlacedTurn] = []
    used = [column]
    if isinstance(row.get("system"), str):
        used.append("system")
        text = _SYSTEM.sub("", row["system"], count=1).strip()
        turns += [PlacedTurn("system", {"role": "system", "content": text})] if text else []
    turns += _turns(row[column], column, notes)
    system = next((turn.wire["content"] for turn in turns if turn.wire["role"] == "system"), "")
    tools = _tools(system)
    if tools and row.get("tools") in (None, "", []):
        reason = f"the functions in the text are the task's tools as well ({len(tools)})"
        notes.append(Note("converted", "system", reason, "tools_in_text"))
        row = {**row, "tools": tools}
    return content_of(with_tools(row, notes), read_placed_turns(turns, notes), notes, used=used)


def _column(row: dict[str, Any]) -> str | None:
    return next((name for name in _COLUMNS if _is_chat(row.get(name), row.get("system"))), None)


def _is_chat(text: object, system: object) -> bool:
    if not isinstance(text, str) or not _TURN.match(text.lstrip()):
        return False
    beside = isinstance(system, str) and _SYSTEM.match(system) is not None
    return beside or _CALL in text or _END in text


def _turns(text: str, column: str, notes: list[Note]) -> Iterator[PlacedTurn]:
    _, *rest = _TURN.split("\n" + text.lstrip())
    made = 0
    for index, (name, passage) in enumerate(zip(rest[::2], rest[1::2], strict=True)):
        place = f"{column}, turn {index + 1}"
        said = passage.replace(_END, "").strip()
        before, mark, written = said.partition(_CALL)
        call = _call(written) if mark and name == "ASSISTANT" else None
        if call:
            made += 1
            wire = {"content": before.strip(), "tool_calls": calls_of_tools([call])}
            yield PlacedTurn(place, {"role": "assistant", **wire})
            continue
        if mark:
            reason = "the call is no JSON and stays text"
            notes.append(Note("kept", place, reason, "tool_text"))
        yield PlacedTurn(place, {"role": _ROLES[name], "content": said})
    if made:
        reason = f"calls that stood in the text became calls of tools ({made})"
        notes.append(Note("converted", column, reason, "tool_text"))


def _call(text: str) -> dict[str, Any] | None:
    """Return the call a text is, None where it is none."""
    call = decoded(text.strip())
    if isinstance(call, dict):
        name, arguments = call.get("name"), decoded(call.get("arguments", {}))
    elif quoted := _QUOTED.fullmatch(text):
        name = quoted["name"]
        arguments = decoded(quoted["arguments"])
        if not isinstance(arguments, dict):  # an apostrophe in it may be escaped
            arguments = decoded(quoted["arguments"].replace("\\'", "'"))
    else:
        return None
    if not isinstance(name, str) or not name or not isinstance(arguments, dict):
        return None
    return {"name": name, "arguments": arguments}


def _tools(text: str) -> list[dict[str, Any]]:
    """Return the functions a system text ends with, JSON objects one after another."""
    start = re.search(r"(?:^|\n|-)\s*(?=\{)", text)
    at = start.end() if start else len(text)
    found: list[dict[str, Any]] = []
    while at < len(text):
        try:
            value, end = json.JSONDecoder().raw_decode(text, at)
            function = json_copy(value)
        except (ValueError, RecursionError, NotJson):
            return []
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            return []
        found.append({"type": "function", "function": function})
        at = end + len(text[end:]) - len(text[end:].lstrip())
    return found


FORMAT = RowFormat("glaive", "Glaive's chats with functions", recognises, read)
