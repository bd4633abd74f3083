"""Rows with their conversation in columns of text: a question or instruction, an answer."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.dialogue.blocks import Role
from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import Note
from apps.dialogue.message import Message, parse_message

QUESTION_COLUMNS = ("prompt", "question", "instruction", "input", "query")
"""Where what was asked may stand beside its answers; the first that is not blank wins."""

CONTEXT_COLUMNS = ("input", "context")
"""What an instruction is about (Alpaca, Dolly); it stands behind the instruction."""

SYSTEM_COLUMNS = ("system", "system_prompt")


@dataclass(frozen=True, slots=True)
class Question:
    """The messages before the answer, and the columns they were made of."""

    messages: tuple[Message, ...]
    used: tuple[str, ...]


def text_turn(
    role: Role,
    value: object,
    notes: list[Note],
    place: str,
    *,
    detail: dict[str, Any] | None = None,
) -> Message:
    """Return a message of one text; a number or truth value becomes its JSON text, with a note.

    Raises ``ImportRefused`` naming ``place`` for anything else.
    """
    if isinstance(value, bool | int | float):
        notes.append(Note("converted", place, f"{kind_of(value)} became a text", "content_coerced"))
        value = json.dumps(value)
    if not isinstance(value, str):
        raise ImportRefused(f"must be a text, not {kind_of(value)}", place=place)
    wire = {"role": role, "blocks": [{"type": "text", "text": value}], "detail": detail or None}
    return parse_message(wire, place)


def is_said(value: object) -> bool:
    """Tell whether a column says anything: a text that is not blank, or a number."""
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, int | float) and not isinstance(value, bool)


def question_column(row: dict[str, Any], columns: Sequence[str] = QUESTION_COLUMNS) -> str | None:
    """Return the first of the columns that says something."""
    return next((name for name in columns if is_said(row.get(name))), None)


def read_question(
    row: dict[str, Any], notes: list[Note], columns: Sequence[str] = QUESTION_COLUMNS
) -> Question:
    """Read the system text, the earlier turns (``history``) and the question of a row.

    An instruction and what it is about are joined by a line feed, the way LLaMA-Factory does; both
    stay apart in the message's ``detail``. Raises ``ImportRefused`` or ``InvalidMessage``.
    """
    messages: list[Message] = []
    used: list[str] = []
    system = question_column(row, SYSTEM_COLUMNS)
    if system:
        messages.append(text_turn("system", row[system], notes, system))
    used += [name for name in SYSTEM_COLUMNS if name == system or row.get(name) in (None, "")]
    history = row.get("history")
    if isinstance(history, list) or history in (None, ""):
        used.append("history")
        messages += _earlier_turns(history or [], notes)
    column = question_column(row, columns)
    if column is not None:
        message, context = _asked(row, column, notes)
        messages.append(message)
        used += [column, *context]
    return Question(tuple(messages), tuple(name for name in used if name in row))


def _asked(row: dict[str, Any], column: str, notes: list[Note]) -> tuple[Message, Sequence[str]]:
    if column.lower() != "instruction":
        return text_turn("user", row[column], notes, column), ()
    empty = [name for name in CONTEXT_COLUMNS if row.get(name) in (None, "")]
    context = question_column(row, CONTEXT_COLUMNS)
    if context is None:
        return text_turn("user", row[column], notes, column), empty
    first = text_turn("user", row[column], notes, column).text
    second = text_turn("user", row[context], notes, context).text
    notes.append(Note("converted", context, f"stands behind the {column}, after a line feed"))
    detail = {column: first, context: second}
    joined = text_turn("user", f"{first}\n{second}", notes, column, detail=detail)
    return joined, [context, *empty]


def _earlier_turns(history: list[Any], notes: list[Note]) -> list[Message]:
    messages = []
    for index, pair in enumerate(history):
        place = f"history[{index}]"
        if not isinstance(pair, list) or len(pair) != 2:
            raise ImportRefused("must be a list of a question and its answer", place=place)
        messages.append(text_turn("user", pair[0], notes, f"{place}[0]"))
        messages.append(text_turn("assistant", pair[1], notes, f"{place}[1]"))
    return messages
