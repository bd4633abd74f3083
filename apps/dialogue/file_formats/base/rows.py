"""What one row of a file becomes, and the ledger of what happened to it on the way."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from apps.dialogue.blocks.json_values import checked_attributes, kind_of, text_fault
from apps.dialogue.errors import ImportRefused
from apps.dialogue.message import Message

NoteKind = Literal["kept", "converted", "invented", "dropped", "refused"]

MOST_NAMED = 30
"""Attributes of a row that the ledger names; those of a row with more are counted."""

KEY_COLUMNS = ("id", "key", "task_id", "question_id")
"""Where a row may carry the key of its task, the first one that is not null wins."""


@dataclass(frozen=True, slots=True)
class Note:
    """One line of the ledger: what happened at a place of the row (empty: to the row).

    ``code`` names the event for programs, like ``duplicate_keys``.
    """

    kind: NoteKind
    place: str
    message: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class TaskContent:
    """What a row holds: the key is None where the file gives none."""

    key: str | None
    messages: tuple[Message, ...]
    attributes: dict[str, Any]
    tools: list[Any] | None
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadRow:
    """A row as read: ``line`` counts from 1; a refused row has no task and a ``refused`` note."""

    line: int
    format: str | None
    task: TaskContent | None
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class RowFormat:
    """A shape of rows people bring.

    ``recognises`` answers from the keys alone. ``read`` returns the task and appends to the notes;
    it raises a ``DialogueError`` for a row that cannot become a task.
    """

    name: str
    title: str
    recognises: Callable[[dict[str, Any]], bool]
    read: Callable[[dict[str, Any], list[Note]], TaskContent]


def content_of(
    row: dict[str, Any],
    messages: Sequence[Message],
    notes: list[Note],
    *,
    used: Collection[str] = (),
) -> TaskContent:
    """Return the task of a row: its key, tags and tools, and every other key as an attribute.

    ``used`` are the keys that became the conversation and are no attributes. Raises
    ``ImportRefused`` or ``InvalidAttributes``.
    """
    if not messages:
        raise ImportRefused("the conversation is empty", place=next(iter(used), ""))
    key = _key(row, notes)
    tools = _tools(row, notes)
    tags = _tags(row)
    gone = {"id", *used, *(["tools"] if tools else []), *(["tags"] if tags else [])}
    attributes = {name: value for name, value in row.items() if name not in gone}
    if "conversation" in attributes:
        raise ImportRefused(
            "the name is taken: a task's conversation is served under it", place="conversation"
        )
    checked = checked_attributes(attributes, "")
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


def _key(row: dict[str, Any], notes: list[Note]) -> str | None:
    column = next((name for name in KEY_COLUMNS if row.get(name) not in (None, "")), None)
    if column is None:
        return None
    value = row[column]
    if isinstance(value, str):
        if fault := text_fault(value):
            raise ImportRefused(fault, place=column)
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ImportRefused(f"a key must be a text, not {kind_of(value)}", place=column)
    notes.append(Note("converted", column, f"the number {value} became a text", "id_not_string"))
    return str(value)


def _tools(row: dict[str, Any], notes: list[Note]) -> list[Any] | None:
    tools = row.get("tools")
    if not isinstance(tools, list) or not tools:
        return None
    if not all(isinstance(tool, dict) for tool in tools):
        raise ImportRefused("a tool must be an object", place="tools")
    notes.append(Note("kept", "tools", f"kept with the task ({len(tools)})"))
    copied: list[Any] = checked_attributes({"tools": tools}, "")["tools"]
    return copied


def _tags(row: dict[str, Any]) -> tuple[str, ...]:
    tags = row.get("tags")
    if isinstance(tags, list) and all(isinstance(tag, str) and tag for tag in tags):
        checked: list[str] = checked_attributes({"tags": tags}, "")["tags"]
        return tuple(dict.fromkeys(checked))
    return ()
