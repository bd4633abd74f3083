"""Tables with one row a turn: a column of roles, one of texts, and mostly one of conversations.

Rows of one conversation may stand anywhere in the file. Columns that are the same in all of them
belong to the conversation, others to their turns.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, Row, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.base.reading import TURNS_TABLE, with_lines
from apps.dialogue.file_formats.base.table_values import (
    CONTENT_COLUMNS,
    CONVERSATION_COLUMNS,
    ROLE_COLUMNS,
)
from apps.dialogue.file_formats.turns import read_turns
from apps.dialogue.file_formats.turns.speaker_names import roles_of_names
from apps.dialogue.file_formats.turns.turn_roles import speaker_of

ID_COLUMNS: Final = (
    "conversation_id", "conversation", "conv_id", "chat_id", "dialogue_id", "dialog_id",
    "thread_id", "session_id", "conversation_hash", "trajectory_id", "task_id",
)  # fmt: skip
"""Columns that say of which conversation a turn is; ``id`` does so only where it is repeated."""

ORDER_COLUMNS: Final = (
    "turn", "turn_id", "turn_index", "turn_number", "turn_no", "index", "idx", "position", "order",
    "step", "seq", "sequence", "message_index", "message_number", "msg_index",
)  # fmt: skip
_MOMENTS: Final = ("timestamp", "created_at", "createdat", "time", "date", "datetime")
_OF_TURNS: Final = frozenset((
    *ORDER_COLUMNS, *_MOMENTS, "tool_calls", "tool_call_id", "function_call", "name", "weight",
    "message_id", "parent_id", "refusal",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Columns:
    """The names, as the file writes them, of the columns that matter (empty: there is none)."""

    role: str
    content: str
    conversation: str
    order: str


def recognises(row: dict[str, Any]) -> bool:
    names = {name.lower() for name in row}
    if not (names & set(ROLE_COLUMNS) and names & set(CONTENT_COLUMNS)):
        return False
    return names.isdisjoint(CONVERSATION_COLUMNS - {"conversation"})


def group(row: dict[str, Any]) -> str:
    column = _columns(row).conversation
    return str(row.get(column, "")) if column else ""


def join(rows: Sequence[Row]) -> Iterator[Row]:
    """Make a row of each conversation: all rows are one, unless their ``id`` says otherwise."""
    for each in _by_id(rows):
        row = _joined(each)
        yield row if len(each) == len(rows) else with_lines(row, each)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    messages = read_turns(row.get("messages"), notes)
    return content_of(row, messages, notes, used=("messages",))


def _columns(row: dict[str, Any]) -> _Columns:
    names = {name.lower(): name for name in reversed(row)}

    def first(wanted: Sequence[str]) -> str:
        return next((names[each] for each in wanted if each in names), "")

    role, content = first(ROLE_COLUMNS), first(CONTENT_COLUMNS)
    if not role or not content:
        missing = "role" if not role else "content"
        raise ImportRefused(
            f"a row for each turn needs a column of roles ({', '.join(ROLE_COLUMNS)}) and one of "
            f"texts ({', '.join(CONTENT_COLUMNS)}); the columns are {', '.join(row)}",
            place=missing,
            code="needs_column_mapping",
        )
    return _Columns(role, content, first(ID_COLUMNS), first((*ORDER_COLUMNS, *_MOMENTS)))


def _by_id(rows: Sequence[Row]) -> list[list[Row]]:
    """Part rows that have no column of conversations by ``id``, if it is the same in some."""
    names = {name.lower(): name for name in rows[0].value}
    column = names.get("id", "")
    if _columns(rows[0].value).conversation or not column:
        return [list(rows)]
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(str(row.value.get(column, "")), []).append(row)
    return [list(rows)] if len(found) == len(rows) else list(found.values())


def _joined(rows: Sequence[Row]) -> Row:
    columns = _columns(rows[0].value)
    notes: list[Note] = [note for row in rows for note in row.notes]
    ordered = _in_order(rows, columns, notes)
    shared = _shared(rows, columns)
    roles = _roles(ordered, columns, notes)
    turns = []
    for row in ordered:
        said = str(row.value.get(columns.role, ""))
        turn: dict[str, Any] = {"role": roles.get(said, said)}
        turn["content"] = row.value.get(columns.content, "")
        left = {columns.role, columns.content, columns.conversation, *shared}
        turn |= {name: each for name, each in row.value.items() if name not in left}
        if said in roles:
            turn["speaker"] = said
        turns.append(turn)
    value: dict[str, Any] = {**shared, "messages": turns}
    key = rows[0].value.get(columns.conversation) if columns.conversation else None
    if key not in (None, ""):
        value = {"id": key, **value}
    return Row(rows[0].line, value, notes=tuple(notes), file=rows[0].file)


def _in_order(rows: Sequence[Row], columns: _Columns, notes: list[Note]) -> list[Row]:
    """Sort rows by the column that counts the turns, or dates them, if it does so in all rows."""
    if not columns.order:
        return list(rows)
    try:
        places = _places([row.value.get(columns.order, "") for row in rows])
        ordered = [
            row for _, row in sorted(zip(places, rows, strict=True), key=lambda each: each[0])
        ]
    except (TypeError, ValueError, OverflowError):
        said = (
            f"the column {columns.order!r} is no number or time in every row: "
            "the rows keep their order"
        )
        notes.append(Note("kept", columns.order, said, "unordered"))
        return list(rows)
    if ordered != list(rows):
        said = f"the turns were put into the order of the column {columns.order!r}"
        notes.append(Note("converted", columns.order, said, "reordered"))
    return ordered


def _places(values: Sequence[Any]) -> list[Any]:
    """Return numbers, or else times, to sort by; raises ``ValueError`` and ``TypeError``."""
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return [datetime.fromisoformat(value) for value in values]
    if any(math.isnan(number) for number in numbers):
        raise ValueError("not a number")
    return numbers


def _shared(rows: Sequence[Row], columns: _Columns) -> dict[str, Any]:
    """Return the columns that are the same in all rows: they belong to the conversation."""
    own = {columns.role, columns.content, columns.conversation}
    first = rows[0].value
    return {
        name: value
        for name, value in first.items()
        if name not in own
        and name.lower() not in _OF_TURNS
        and all(name in row.value and row.value[name] == value for row in rows)
    }


def _roles(rows: Sequence[Row], columns: _Columns, notes: list[Note]) -> dict[str, str]:
    """Return the roles of speakers who are named, where the column has names and not roles."""
    if columns.role.lower() == "role":
        return {}
    names = [str(row.value.get(columns.role, "")) for row in rows]
    unknown = [name for name in names if speaker_of({"from": name}) is None]
    if not unknown:
        return {}
    roles = roles_of_names(name for name in names if name.strip())
    guessed = {name: role for name, role in roles.items() if speaker_of({"from": name}) is None}
    listed = ", ".join(f"{name!r} as {role}" for name, role in guessed.items())
    said = f"speakers were read by name: {listed}"
    notes.append(Note("converted", columns.role, said, "speaker_names"))
    return dict[str, str](guessed)


FORMAT = RowFormat(
    TURNS_TABLE, "Tables with one row a turn", recognises, read, group=group, join=join
)
