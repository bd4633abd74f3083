"""OpenAI evals: ``{"input": text or messages, "ideal"}`` and ``{"item": {...}, "sample"?}``.

The keys of an ``item`` are free. It is read where it holds a conversation under a known key;
otherwise a person says which of its columns are the conversation.
"""

from typing import Any

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import read_turns
from apps.dialogue.message import Message

_CONVERSATIONS = ("messages", "input", "conversation", "conversations")


def recognises(row: dict[str, Any]) -> bool:
    return ("ideal" in row and "input" in row) or _is_item(row)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    if _is_item(row):
        return _read_item(row, notes)
    messages = _read_input(row.get("input"), notes, "input")
    return content_of(row, messages, notes, used=("input",))


def _is_item(row: dict[str, Any]) -> bool:
    return isinstance(row.get("item"), dict) and set(row) <= {"item", "sample", "id"}


def _read_input(value: object, notes: list[Note], place: str) -> tuple[Message, ...]:
    if isinstance(value, str):
        return read_turns([{"role": "user", "content": value}], notes, place=place)
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        fault = "a list of bare texts became one user's turn each"
        notes.append(Note("converted", place, fault, "content_coerced"))
        value = [{"role": "user", "content": each} for each in value]
    if value is not None and not isinstance(value, list):
        fault = f"must be a text or a list of messages, not {kind_of(value)}"
        raise ImportRefused(fault, place=place)
    return read_turns(value, notes, place=place)


def _read_item(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    item: dict[str, Any] = row["item"]
    column = next((name for name in _CONVERSATIONS if _holds_turns(item.get(name))), None)
    if column is None and "ideal" in item and isinstance(item.get("input"), str):
        column = "input"
    if column is None:
        names = ", ".join(name if name.isprintable() else ascii(name) for name in item)[:400]
        fault = (
            f"the columns of an item are free: say which are the conversation ({names or 'none'})"
        )
        raise ImportRefused(fault, place="item", code="needs_column_mapping")
    messages = _read_input(item[column], notes, f"item.{column}")
    parts = {**item, **{key: value for key, value in row.items() if key != "item"}}
    return content_of(parts, messages, notes, used=(column,))


def _holds_turns(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(turn, dict) and ("role" in turn or "from" in turn) for turn in value)
    )


FORMAT = RowFormat("openai_evals", "OpenAI evals", recognises, read)
