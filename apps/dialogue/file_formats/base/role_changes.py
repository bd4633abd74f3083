"""Roles that a person changed in the preview of an import, applied to what was read."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from apps.dialogue.blocks import Block, ToolCallBlock, ToolResultBlock
from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import DialogueError, ImportRefused
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.base.rows import ReadRow, TaskContent, role_letters
from apps.dialogue.message import Message, make_message, parse_block

ROLES: Final = ("system", "user", "assistant", "tool")

MOST_CHANGES: Final = 10_000
LONGEST_SPEAKER: Final = 200
LONGEST_TURN: Final = 1_000
"""Characters: a turn may be named with the path of its file in an archive."""

_TURN: Final = re.compile(r"(?:#|(?:.+:)?)(?:0|[1-9][0-9]{0,11}):(?:0|[1-9][0-9]{0,11})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class RoleChanges:
    """The role of each named speaker, and of single turns, which win.

    ``speakers`` are names as in the file, and apply where ``detail.speaker`` of a message says so.
    ``turns`` are ``line:index`` (``file:line:index`` in an archive) or ``#row:index``; the index
    counts the messages as they were read, and rows are counted from 0 as they come out. Only the
    row tells conversations apart that begin on the same line.
    """

    speakers: Mapping[str, str] = field(default_factory=dict)
    turns: Mapping[str, str] = field(default_factory=dict)


def parse_role_changes(value: object) -> RoleChanges:
    """Read ``{"speakers": {name: role}, "turns": {"3:0": role}}``; raises ``ImportRefused``."""
    if value is None:
        return RoleChanges()
    if not isinstance(value, Mapping):
        raise ImportRefused(f"must be an object, not {kind_of(value)}", place="roles")
    parts: dict[str, dict[str, str]] = {"speakers": {}, "turns": {}}
    for name, given in value.items():
        if name not in parts:
            raise ImportRefused("there are only speakers and turns", place=f"roles.{name}"[:100])
        if not isinstance(given, Mapping):
            raise ImportRefused(f"must be an object, not {kind_of(given)}", place=f"roles.{name}")
        if len(given) + sum(map(len, parts.values())) > MOST_CHANGES:
            fault = f"there may be {MOST_CHANGES} corrections of roles"
            raise ImportRefused(fault, place=f"roles.{name}")
        for key, role in given.items():
            _check_change(name, str(key), role)
            parts[name][str(key)] = role
    return RoleChanges(parts["speakers"], parts["turns"])


def _check_change(kind: str, key: str, role: object) -> None:
    place = f"roles.{kind}.{key if len(key) <= 60 else f'{key[:57]}...'}"
    if role not in ROLES:
        raise ImportRefused(f"must be one of {', '.join(ROLES)}", place=place)
    longest = LONGEST_SPEAKER if kind == "speakers" else LONGEST_TURN
    if len(key) > longest:
        raise ImportRefused(f"the name has more than {longest} characters", place=place)
    if kind == "turns" and not _TURN.fullmatch(key):
        fault = "a turn is line:index, file:line:index or #row:index, in whole numbers"
        raise ImportRefused(fault, place=place)


def with_changed_roles(row: ReadRow, changes: RoleChanges, number: int = 0) -> ReadRow:
    """Return the row of that number with the roles as a person wants them.

    A change that cannot be is refused.
    """
    if row.task is None:
        return row
    wanted = [
        _wanted(row, number, index, each, changes) for index, each in enumerate(row.task.messages)
    ]
    if not any(wanted):
        return row
    try:
        messages = _changed(row.task.messages, wanted)
    except DialogueError as error:
        note = Note("refused", error.place, error.message, "role_change")
        return replace(row, task=None, notes=(*row.notes, note))
    notes = [
        Note("converted", f"messages[{index}]", f"made {role} by hand", "role_change")
        for index, role in enumerate(wanted)
        if role
    ]
    task: TaskContent = replace(row.task, messages=messages)
    return replace(row, task=task, notes=(*row.notes, *notes), roles=role_letters(messages))


def _wanted(row: ReadRow, number: int, index: int, message: Message, changes: RoleChanges) -> str:
    place = f"{row.line}:{index}"
    role = changes.turns.get(f"#{number}:{index}")
    role = role or (changes.turns.get(f"{row.file}:{place}") if row.file else None)
    role = role or changes.turns.get(place)
    if role is None and message.detail:
        speaker = message.detail.get("speaker")
        role = changes.speakers.get(speaker) if isinstance(speaker, str) else None
    return "" if role is None or role == _role_of(message) else role


def _role_of(message: Message) -> str:
    results = [block for block in message.blocks if isinstance(block, ToolResultBlock)]
    return "tool" if results and len(results) == len(message.blocks) else message.role


def _changed(messages: Sequence[Message], wanted: Sequence[str]) -> tuple[Message, ...]:
    made: list[Message] = []
    open_calls: list[str] = []
    for index, (message, role) in enumerate(zip(messages, wanted, strict=True)):
        place = f"messages[{index}]"
        if role:
            message = _made(message, role, open_calls, place)  # noqa: PLW2901 - the changed one
        calls = [block.id for block in message.blocks if isinstance(block, ToolCallBlock)]
        answered = [b.tool_call_id for b in message.blocks if isinstance(b, ToolResultBlock)]
        if message.role == "assistant":
            open_calls = calls
        else:
            open_calls = [each for each in open_calls if each not in answered]
        made.append(message)
    return tuple(made)


def _made(message: Message, role: str, open_calls: Sequence[str], place: str) -> Message:
    detail: dict[str, Any] | None = message.detail
    blocks: list[Block] = []
    for block in message.blocks:
        blocks += block.blocks if isinstance(block, ToolResultBlock) else (block,)
    match role:
        case "tool":
            call_id = open_calls[0] if open_calls else f"call_of_{place}"
            wire = {"type": "tool_result", "tool_call_id": call_id, "blocks": blocks}
            return make_message("user", [parse_block(wire, place)], detail, place=place)
        case "system" | "user" | "assistant":
            return make_message(role, blocks, detail, place=place)
        case _:
            raise ImportRefused(f"must be one of {', '.join(ROLES)}", place=place)
