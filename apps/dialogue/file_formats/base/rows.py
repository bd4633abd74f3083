"""What one row of a file becomes, and the ledger of what happened to it on the way."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

from apps.dialogue.blocks.json_values import checked_attributes, kind_of, text_fault
from apps.dialogue.candidates import Candidate
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import Note, Row
from apps.dialogue.message import Message

MOST_NAMED = 30
"""Attributes of a row that the ledger names; those of a row with more are counted."""

KEY_COLUMNS = ("id", "key", "task_id", "question_id")
"""Where a row may carry the key of its task, the first one that can be a key wins."""

TAKEN_NAMES = ("id", "conversation")
"""What a task is served with of its own; a column of that name becomes another attribute."""

UNREAD_TOOLS = "tools_unread"
"""The attribute that holds tools nobody can read; the conversation beside them is read."""


@dataclass(frozen=True, slots=True)
class TaskContent:
    """What a row holds: the key is None where the file gives none."""

    key: str | None
    messages: tuple[Message, ...]
    attributes: dict[str, Any]
    tools: list[Any] | None
    tags: tuple[str, ...]
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadRow:
    """A row as read: ``line`` counts from 1 in ``file``, the member of an archive (mostly empty).

    A refused row has no task and a ``refused`` note. ``roles`` is the sequence of roles, a letter
    each: s u a, t for a tool's result, ? for a role that was refused.
    """

    line: int
    format: str | None
    task: TaskContent | None
    notes: tuple[Note, ...]
    roles: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class Loss:
    """What a format that is written cannot carry, and where (``messages[2].blocks[0]``)."""

    place: str
    message: str


@dataclass(frozen=True, slots=True)
class RowFormat:
    """A shape of rows people bring, and take where it has ``write``.

    ``recognises`` answers from the keys alone. ``read`` returns the task of a row and appends to
    the notes; it raises a ``DialogueError`` for a row that cannot become a task.

    ``expand`` makes of a row that holds several conversations one row each. Where a conversation is
    spread over several rows, ``group`` names the conversation a row belongs to and ``join`` makes
    rows of one conversation each of all the rows that have one name, in the order of the file.

    ``write`` returns the rows of a task (a preference format has one for each pair) without what
    the format cannot carry, and appends that to the losses.
    """

    name: str
    title: str
    recognises: Callable[[dict[str, Any]], bool]
    read: Callable[[dict[str, Any], list[Note]], TaskContent]
    write: Callable[[TaskContent, list[Loss]], list[dict[str, Any]]] | None = None
    expand: Callable[[Row], Iterable[Row]] | None = None
    group: Callable[[dict[str, Any]], str] | None = None
    join: Callable[[Sequence[Row]], Iterable[Row]] | None = None


def role_letters(messages: Sequence[Message]) -> str:
    """Return a letter for each turn: s u a, and t for each result of a tool."""
    letters = ""
    for message in messages:
        if message.role != "user":
            letters += message.role[0]
            continue
        if len(message.blocks) == 1:
            letters += "t" if message.blocks[0].type == "tool_result" else "u"
            continue
        said = "".join("t" if block.type == "tool_result" else "u" for block in message.blocks)
        letters += re.sub("u+", "u", said) or "u"
    return letters


def content_of(
    row: dict[str, Any],
    messages: Sequence[Message],
    notes: list[Note],
    *,
    used: Collection[str] = (),
    may_be_empty: bool = False,
) -> TaskContent:
    """Return the task of a row: its key, tags and tools, and every other key as an attribute.

    ``used`` are the keys that became the conversation and are no attributes. Raises
    ``ImportRefused`` or ``InvalidAttributes``, and for no message unless it ``may_be_empty``.
    """
    if not messages and not may_be_empty:
        raise ImportRefused(
            "the conversation is empty", place=next(iter(used), ""), code="empty_conversation"
        )
    key = _key(row, notes)
    tools = _tools(row)
    if tools:
        notes.append(Note("kept", "tools", f"kept with the task ({len(tools)})"))
    tags = _tags(row)
    gone = {*used, *(["tools"] if tools else []), *(["tags"] if tags else [])}
    checked = checked_attributes(_attributes(row, gone, notes), "")
    if checked:
        notes.append(Note("kept", "", f"attributes {_listed(checked)}", "attributes"))
    return TaskContent(key, tuple(messages), checked, tools, tags)


def _listed(names: Collection[str]) -> str:
    shown = [name if name.isprintable() else ascii(name) for name in islice(names, MOST_NAMED)]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def joined(names: Sequence[str]) -> str:
    """Return names as a sentence has them: a, b or c."""
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name for an attribute: the given one, or with the first number that is free."""
    numbered = (f"{name}_{number}" for number in count(2))
    return name if name not in taken else next(each for each in numbered if each not in taken)


def with_key(row: dict[str, Any], key: object, notes: list[Note]) -> dict[str, Any]:
    """Return a row whose key is another than its ``id``, which becomes another attribute."""
    if row.get("id") in (None, "", key):
        return {**row, "id": key}
    return {**_renamed(row, "id", notes), "id": key}


def _renamed(row: dict[str, Any], name: str, notes: list[Note]) -> dict[str, Any]:
    other = free_name(f"{name}_column", row)
    reason = f"a task has its own {name}: the column is the attribute {other}"
    notes.append(Note("converted", name, reason, "name_taken"))
    return {(other if each == name else each): value for each, value in row.items()}


def _attributes(row: dict[str, Any], gone: Collection[str], notes: list[Note]) -> dict[str, Any]:
    """Return what is left of a row, under other names where a task has its own."""
    kept = {name: value for name, value in row.items() if name not in gone}
    if kept.get("id") in (None, "") or _as_key(kept["id"]) is not None:
        kept.pop("id", None)
    for name in TAKEN_NAMES:
        if name in kept:
            kept = _renamed(kept, name, notes)
    if not isinstance(kept.get("tools"), list) or not kept["tools"]:
        return kept
    other = free_name(UNREAD_TOOLS, kept)
    reason = f"a tool must be an object: the list is the attribute {other}"
    notes.append(Note("kept", "tools", reason, "bad_tools"))
    return {(other if name == "tools" else name): value for name, value in kept.items()}


def _key(row: dict[str, Any], notes: list[Note]) -> str | None:
    for column in KEY_COLUMNS:
        value = row.get(column)
        text = None if value in (None, "") else _as_key(value)
        if text is None:
            continue
        if text is not value:
            reason = f"{kind_of(value)} became the text {text!r}"
            notes.append(Note("converted", column, reason, "id_not_string"))
        return text
    return None


def _as_key(value: object) -> str | None:
    """Return the key that a value is, None for what can be none: a list, an object."""
    if isinstance(value, dict) and set(value) == {"$oid"} and isinstance(value["$oid"], str):
        value = value["$oid"]  # as MongoDB exports its ids
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    return value if isinstance(value, str) and not text_fault(value) else None


def _tools(row: dict[str, Any]) -> list[Any] | None:
    tools = row.get("tools")
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        return None
    copied: list[Any] = checked_attributes({"tools": tools}, "")["tools"]
    return copied or None


def _tags(row: dict[str, Any]) -> tuple[str, ...]:
    tags = row.get("tags")
    if isinstance(tags, list) and all(isinstance(tag, str) and tag for tag in tags):
        checked: list[str] = checked_attributes({"tags": tags}, "")["tags"]
        return tuple(dict.fromkeys(checked))
    return ()
