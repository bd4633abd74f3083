"""Items of the Responses API and of Open Responses traces, as files have them.

The strict reader of the provider's format reads each turn; what it has no block for is kept in
``detail.unread_parts`` of its turn.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from apps.dialogue.blocks import Block, ToolResultBlock
from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import DialogueError, ImportRefused
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.turns.call_arguments import read_call_arguments
from apps.dialogue.file_formats.turns.call_ids import CallIds
from apps.dialogue.message import Message, make_message
from apps.dialogue.provider_formats import from_responses
from apps.dialogue.provider_formats.base import leftovers, read_data_url

Role = Literal["system", "user", "assistant"]
_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
_WITH_IDS: Final = frozenset({"message", "function_call", "function_call_output"})
_OURS: Final = frozenset({"reasoning", "function_call"})
"""The items beside messages that are a part of the assistant's turn."""


def read_response_items(
    items: object, notes: list[Note], *, place: str = "items", split_turns: bool = True
) -> tuple[Message, ...]:
    """Read a list of items.

    Neighbouring items of the assistant are one message; with ``split_turns`` a second message item
    without a call before it begins another, as in a recorded conversation. Raises
    ``ImportRefused`` or ``InvalidMessage`` naming the place inside ``place``.
    """
    if not isinstance(items, list | tuple):
        raise ImportRefused(f"must be a list of items, not {kind_of(items)}", place=place)
    wires: list[dict[str, Any]] = []
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            fault = f"an item must be an object, not {kind_of(item)}"
            raise ImportRefused(fault, place=f"{place}[{index}]", code="bad_turn")
        wires.append(item)
    if not wires:
        raise ImportRefused("the conversation is empty", place=place, code="empty_conversation")
    letters = "".join([_letter(item) for item in wires])
    reader = _Reader(wires, notes, place, split_turns=split_turns)
    _note_left_out(wires, notes, place)
    try:
        return reader.read(wires)
    except ImportRefused as error:
        raise ImportRefused(
            error.message, place=error.place, roles=letters, code=error.code
        ) from None


def _note_left_out(wires: Sequence[dict[str, Any]], notes: list[Note], place: str) -> None:
    """Say which fields of items belong to the response they were made in, and are not kept."""
    # Reasoning is sent again with its id, which is kept with it.
    ids = sum(bool(wire.get("id")) for wire in wires if item_type(wire) in _WITH_IDS)
    states = {str(wire.get("status")) for wire in wires} - {"None", "completed"}
    said = [f"the ids of {ids} items"] if ids else []
    said += [f"the status {', '.join(sorted(states))}"] if states else []
    if said:
        reason = f"{' and '.join(said)}: of the response that was, not of the conversation"
        notes.append(Note("dropped", place, reason, "item_ids"))


@dataclass(slots=True)
class _Turn:
    """Items that make one message: as the strict reader takes them, and where they came from."""

    role: Role
    answers: bool = False
    items: list[dict[str, Any]] = field(default_factory=list)
    origins: list[int] = field(default_factory=list)
    unread: list[Any] = field(default_factory=list)
    said: bool = False
    called: bool = False


class _Reader:
    def __init__(
        self, wires: Sequence[dict[str, Any]], notes: list[Note], place: str, *, split_turns: bool
    ) -> None:
        self._notes = notes
        self._place = place
        self._split = split_turns
        self._ids = CallIds([{"tool_call_id": wire.get("call_id")} for wire in wires])
        self._turns: list[_Turn] = []

    def read(self, wires: Sequence[dict[str, Any]]) -> tuple[Message, ...]:
        for index, item in enumerate(wires):
            self._add(item, index)
        return tuple([self._message(turn) for turn in self._turns])

    def _add(self, item: dict[str, Any], index: int) -> None:
        place = f"{self._place}[{index}]"
        kind = item_type(item)
        if kind == "message":
            self._add_message(item, index, place)
        elif kind == "function_call_output":
            turn = self._turn("user", answers=True)
            self._put(turn, self._output(item, place), index)
        elif kind in _OURS:
            turn = self._turn("assistant")
            if kind == "function_call":
                turn.called = True
                self._put(turn, self._call(item, place), index)
            else:
                if item.get("encrypted_content"):
                    reason = "reasoning that only its provider can read is kept as it is"
                    self._note("kept", place, reason, "opaque_reasoning")
                self._put(turn, item, index)
        else:
            reason = (
                f"an item of the type {item.get('type')!r} has no block; "
                "it is kept in detail.unread_parts"
            )
            self._note("kept", place, reason, "unsupported_block")
            self._turn("assistant").unread.append(item)

    def _add_message(self, item: dict[str, Any], index: int, place: str) -> None:
        role = item.get("role")
        known = _ROLES.get(role) if isinstance(role, str) else None
        if known is None:
            fault = f"the role {role!r} is unknown" if role is not None else "there is no role"
            raise ImportRefused(fault, place=place, code="unknown_role")
        if role == "developer":
            reason = "developer became system; the role is kept in detail"
            self._note("converted", f"{place}.role", reason, "developer_role")
        content, unread = self._content(item.get("content"), f"{place}.content")
        if known == "assistant":
            turn = self._assistant_turn(opens=bool(content))
        else:
            turn = _Turn(known)
            self._turns.append(turn)
        turn.unread += unread
        if content:
            self._put(turn, {**item, "content": content}, index)
        elif rest := leftovers(item, {"type", "id", "status", "role", "content"}):
            turn.unread.append(rest)

    def _assistant_turn(self, *, opens: bool) -> _Turn:
        """Return the turn of an assistant's message; reasoning before it belongs to it."""
        turn = self._turn("assistant")
        if self._split and opens and turn.said and not turn.called:
            fresh = _Turn("assistant", said=True)
            while turn.items and turn.items[-1].get("type") == "reasoning":
                fresh.items.insert(0, turn.items.pop())
                fresh.origins.insert(0, turn.origins.pop())
            self._turns.append(fresh)
            return fresh
        turn.said = turn.said or opens
        return turn

    def _turn(self, role: Role, *, answers: bool = False) -> _Turn:
        last = self._turns[-1] if self._turns else None
        if last is None or last.role != role or last.answers != answers:
            last = _Turn(role, answers)
            self._turns.append(last)
            if role == "assistant":
                self._ids.begin_turn()
        return last

    def _put(self, turn: _Turn, item: dict[str, Any], index: int) -> None:
        turn.items.append({**item, "type": item_type(item)})
        turn.origins.append(index)

    def _content(self, content: object, place: str) -> tuple[Any, list[Any]]:
        """Return what the strict reader takes of a content, and the parts it does not take."""
        if isinstance(content, dict):
            content = [content]
        if content is None or isinstance(content, str):
            return content, []
        if not isinstance(content, list):
            self._note("converted", place, f"{kind_of(content)} became a text", "content_coerced")
            return json.dumps(content), []
        taken: list[Any] = []
        unread: list[Any] = []
        for index, part in enumerate(content):
            if isinstance(part, str):
                self._note("converted", f"{place}[{index}]", "a bare text", "content_coerced")
                taken.append({"type": "input_text", "text": part})
            elif code := _part_fault(part):
                reason = "the part has no block; it is kept in detail.unread_parts"
                self._note("kept", f"{place}[{index}]", reason, code)
                unread.append(part)
            else:
                taken.append(part)
        return taken, unread

    def _call(self, item: dict[str, Any], place: str) -> dict[str, Any]:
        name = item.get("name")
        if not isinstance(name, str) or not name:
            fault = f"the call names no tool: its name is {kind_of(name)}"
            raise ImportRefused(fault, place=place, code="bad_call")
        found = self._ids.call(item.get("call_id"), name)
        if found.invented:
            self._note("invented", place, "the call had no call_id: one was made", "ids_invented")
        arguments = read_call_arguments(
            item.get("arguments"), found.value, self._notes, place, null_filled=False
        )
        kept = {"unread_arguments": arguments.kept["arguments"]} if arguments.kept else {}
        return {**item, **kept, "call_id": found.value, "arguments": arguments.input}

    def _output(self, item: dict[str, Any], place: str) -> dict[str, Any]:
        found = self._ids.answer(item.get("call_id"), item.get("name"))
        if found.invented:
            reason = "the output had no call_id" + (
                ": it got that of the call that waits" if found.tied else " and answers no call"
            )
            self._note("invented", place, reason, "ids_invented")
        output = item.get("output")
        unread: list[Any] = []
        if isinstance(output, list):
            output, unread = self._content(output, f"{place}.output")
        elif output is None:
            output = ""
        elif not isinstance(output, str):
            reason = f"{kind_of(output)} became its JSON text"
            self._note("converted", f"{place}.output", reason, "content_coerced")
            output = json.dumps(output, ensure_ascii=False)
        kept = {"unread_parts": unread} if unread else {}
        return {**item, **kept, "call_id": found.value, "output": output}

    def _message(self, turn: _Turn) -> Message:
        if not turn.items:
            return make_message(turn.role, (), _detail({}, turn), place=self._place)
        try:
            (read,) = from_responses(turn.items)
        except DialogueError as error:
            place = self._in_file(error.place, turn)
            if isinstance(error, ImportRefused):
                raise ImportRefused(error.message, place=place, code=error.code) from None
            raise type(error)(error.message, place=place) from None
        blocks = [_lifted(block) for block in read.blocks]
        return make_message(read.role, blocks, _detail(read.detail or {}, turn))

    def _in_file(self, place: str, turn: _Turn) -> str:
        if not place.startswith("items["):
            return place
        number, rest = place.removeprefix("items[").split("]", 1)
        return f"{self._place}[{turn.origins[int(number)]}]{rest}"

    def _note(
        self, kind: Literal["kept", "converted", "invented"], place: str, reason: str, code: str
    ) -> None:
        self._notes.append(Note(kind, place, reason, code))


def item_type(item: dict[str, Any]) -> str:
    """Return an item's type, from its fields where the tag was left out (rule R10)."""
    given = item.get("type")
    if given is not None:
        return given if isinstance(given, str) else ""
    for key, kind in (
        ("role", "message"),
        ("output", "function_call_output"),
        ("arguments", "function_call"),
        ("summary", "reasoning"),
        ("encrypted_content", "reasoning"),
    ):
        if key in item:
            return kind
    return ""


def _letter(item: dict[str, Any]) -> str:
    match item_type(item):
        case "message":
            role = item.get("role")
            known = _ROLES.get(role) if isinstance(role, str) else None
            return known[0] if known else "?"
        case "function_call_output":
            return "t"
        case "function_call":
            return "a"
        case _:
            return ""


def _part_fault(part: object) -> str:
    """Return the code of the note on a part that the strict reader does not take."""
    if not isinstance(part, dict):
        return "unsupported_block"
    kind = part.get("type")
    if kind is None:
        kind = next((key for key in ("text", "image_url", "refusal") if key in part), None)
    if kind in ("text", "input_text", "output_text"):
        return "" if isinstance(part.get("text"), str) else "unsupported_block"
    if kind == "refusal":
        return "" if isinstance(part.get("refusal"), str) else "unsupported_block"
    if kind not in ("image_url", "input_image"):
        return "unsupported_block"
    try:
        read_data_url(part.get("image_url"), "")
    except ImportRefused:
        return "remote_image"
    return ""


def _detail(detail: dict[str, Any], turn: _Turn) -> dict[str, Any]:
    return {**detail, "unread_parts": turn.unread} if turn.unread else detail


def _lifted(block: Block) -> Block:
    """Give a result the ``is_error`` that our own traces carry as a field of the item."""
    if not isinstance(block, ToolResultBlock) or (block.detail or {}).get("is_error") is not True:
        return block
    detail = {key: value for key, value in (block.detail or {}).items() if key != "is_error"}
    return block.model_copy(update={"is_error": True, "detail": detail or None})
