"""The calls of an assistant's turn, in the shapes files have them."""

import json
from dataclasses import dataclass, field, replace
from typing import Any

from apps.dialogue.blocks import Block
from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import Note, cleaned
from apps.dialogue.file_formats.turns.call_arguments import read_call_arguments
from apps.dialogue.file_formats.turns.call_ids import CallIds
from apps.dialogue.message import parse_block
from apps.dialogue.provider_formats.base import leftovers


@dataclass(slots=True)
class Calls:
    """The calls of a turn; ``unread`` are those that have no block, as they were."""

    blocks: list[Block] = field(default_factory=list)
    unread: list[Any] = field(default_factory=list)


class CallReader:
    """Reads calls; ids that are missing come from ``ids``, and ``notes`` says so."""

    def __init__(self, ids: CallIds, notes: list[Note], *, null_filled: bool) -> None:
        self._ids = ids
        self._notes = notes
        self._null_filled = null_filled

    def read(self, wire: dict[str, Any], place: str) -> Calls:
        """Read ``tool_calls`` and the ``function_call`` of old."""
        calls = Calls()
        for index, each in enumerate(self._listed(wire.get("tool_calls"), f"{place}.tool_calls")):
            self._read_one(each, calls, f"{place}.tool_calls[{index}]")
        if wire.get("function_call") is not None:
            where = f"{place}.function_call"
            function = self._decoded(wire["function_call"], where)
            reason = "the call had no id: one was made that ties it to its result"
            self._notes.append(Note("invented", where, reason, "legacy_function_call"))
            calls.blocks.append(self._block({}, _object(function, where), where))
        return calls

    def from_part(self, value: object, place: str) -> Block:
        """Read the call of a part: ``{"name", "arguments"}``, as JSON text or as an object."""
        call = _object(self._decoded(value, place), place)
        return self._noted(call, self._function(call, place), place)

    def from_text(self, content: object, place: str) -> list[Block]:
        """Read a turn whose text is a call or a list of calls; nothing where it is neither."""
        value = content
        if isinstance(content, str):
            try:
                value = json.loads(content)
            except (ValueError, RecursionError):
                value = None
        each: list[Any] = value if isinstance(value, list) else [value]
        if not all(isinstance(call, dict) and _named(call) for call in each) or not each:
            reason = "the turn is called a call, but its text is none; it stays a text"
            self._notes.append(Note("kept", place, reason, "unreadable_call"))
            return []
        return [self.from_part(call, place) for call in each]

    def _read_one(self, value: object, calls: Calls, place: str) -> None:
        call = _object(self._decoded(value, place), place)
        kind = call.get("type")
        if kind not in (None, "", "function", "tool_call"):
            reason = f"a call of the type {kind!r} has no block; it is kept in detail.unread_parts"
            self._notes.append(Note("kept", place, reason, "unsupported_block"))
            calls.unread.append(call)
            return
        if not isinstance(call.get("function"), dict):
            reason = "name and arguments stood in the call itself, not under function"
            self._notes.append(Note("converted", place, reason, "flat_tool_calls"))
        calls.blocks.append(self._noted(call, self._function(call, place), place))

    def _function(self, call: dict[str, Any], place: str) -> dict[str, Any]:
        """Return ``{"name", "arguments"}`` of a call in any of its shapes."""
        function = call.get("function")
        if isinstance(function, dict):
            return function
        if isinstance(function, str):
            return {"name": function, **{k: v for k, v in call.items() if k != "function"}}
        return call

    def _noted(self, call: dict[str, Any], function: dict[str, Any], place: str) -> Block:
        if not call.get("id") and call.get("id") != 0:
            self._notes.append(
                Note("invented", place, "the call had no id: one was made", "ids_invented")
            )
        return self._block(call, function, place)

    def _block(self, call: dict[str, Any], function: dict[str, Any], place: str) -> Block:
        name = function.get("name")
        if not isinstance(name, str) or not name:
            fault = f"the call names no tool: its name is {kind_of(name)}"
            raise ImportRefused(fault, place=place, code="bad_call")
        call_id = self._ids.call(call.get("id"), name).value
        key = next((k for k in _ARGUMENTS if function.get(k) is not None), "arguments")
        arguments = read_call_arguments(
            function.get(key), call_id, self._notes, place, null_filled=self._null_filled
        )
        detail = leftovers(call, {"id", "type", "index", "function", "name", key})
        detail |= leftovers(function, {"id", "type", "index", "function", "name", key})
        wire = {
            "type": "tool_call",
            "id": call_id,
            "name": name,
            "input": arguments.input,
            "detail": {**detail, **arguments.kept} or None,
        }
        return parse_block(wire, place)

    def _listed(self, value: object, place: str) -> list[Any]:
        value = self._decoded(value, place)
        if value is None:
            return []
        if isinstance(value, dict):
            self._notes.append(
                Note("converted", place, "a call in place of a list", "content_coerced")
            )
            return [value]
        if not isinstance(value, list | tuple):
            raise ImportRefused(
                f"must be a list of calls, not {kind_of(value)}", place=place, code="bad_call"
            )
        return list(value)

    def _decoded(self, value: object, place: str) -> object:
        """Return what a JSON text holds, anything else as it is."""
        if not isinstance(value, str):
            return value
        if not value.strip():
            return None
        try:
            decoded, changes = cleaned(json.loads(value))
        except (ValueError, RecursionError) as error:
            fault = f"is a text, but not JSON: {error}"
            raise ImportRefused(fault, place=place, code="bad_call") from None
        self._notes.append(Note("converted", place, "JSON text was read", "stringified_json"))
        self._notes += [replace(each, place=place) for each in changes]
        return decoded


_ARGUMENTS = ("arguments", "args", "parameters", "input")


def _named(call: dict[str, Any]) -> bool:
    function = call.get("function")
    name = function.get("name") if isinstance(function, dict) else call.get("name") or function
    return isinstance(name, str) and bool(name)


def _object(value: object, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ImportRefused(
            f"a call must be an object, not {kind_of(value)}", place=place, code="bad_call"
        )
    return value
