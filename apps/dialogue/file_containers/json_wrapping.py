"""Objects that stand around rows: a list of them under one name, or columns of equal length.

{"data": [{...}, {...}]}                     {"rows": [{"row_idx": 0, "row": {...}}]}
{"messages": [[...], [...]], "id": [1, 2]}   {"id": {"0": 1, "1": 2}, ...}
{"columns": ["id", ...], "data": [[1, ...]]}   {"0": {"messages": [...]}, "1": {...}}
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from apps.dialogue.file_containers.rows import Note, Row

LISTS_OF_ROWS: Final = (
    "data", "rows", "items", "examples", "instances", "records", "samples", "questions", "prompts",
    "tasks", "conversations", "chats", "dataset", "train", "test", "validation", "valid", "dev",
)  # fmt: skip
"""Names under which files keep their rows."""

TURN_KEYS: Final = (
    "role", "from", "speaker", "author", "sender", "type", "human", "user", "assistant", "text",
    "content", "value", "blocks", "parts",
)  # fmt: skip
"""Keys that begin a turn, not a row; a list of such objects is one conversation."""

CONVERSATION_IDS: Final = frozenset((
    "conversation_id", "conv_id", "conversation", "chat_id", "dialogue_id", "dialog_id",
    "thread_id", "session_id", "conversation_hash", "trajectory_id",
))  # fmt: skip
"""Columns that say of which conversation a turn is, where each turn is a row."""

_CONVERSATIONS: Final = frozenset((
    "messages", "conversation", "conversations", "prompt", "chosen", "rejected", "instruction",
    "question", "input", "inputs", "contents", "mapping", "chat", "chat_messages", "turns", "eval",
    "text", "completion", "output", "completions", "body", "request",
))  # fmt: skip
"""Keys of rows: an object that has one of them is a row itself, whatever else it holds."""

_NESTED: Final = (
    ("messages", list), ("conversations", list), ("conversation", list), ("chat_messages", list),
    ("contents", list), ("mapping", dict),
)  # fmt: skip
"""Keys whose value is a conversation, and what it is then."""

_LONGEST_NUMBER: Final = 19
_LISTS = frozenset(LISTS_OF_ROWS)


def unwrapped(row: Row) -> Iterator[Row]:
    """Return the rows an object stands around, or the row itself."""
    value = row.value
    if isinstance(value, list) and value:
        yield from _turns(row)
        return
    if not isinstance(value, dict) or not value:
        yield row
        return
    first = next(iter(value.values()))
    if isinstance(first, list | dict) and (columns := _columns(value)):
        yield from _table(row, columns)
    elif _is_numbered(value):
        yield from _numbered(row)
    elif names := _lists_of_conversations(value) or _lists_of_rows(value):
        yield from _elements(row, names)
    else:
        yield _inner(row)


def _turns(row: Row) -> Iterator[Row]:
    """Return a bare list of turns as the row whose messages they are; turns that say of which
    conversation they are stay rows of their own, and so do objects that are not all turns."""
    value = row.value
    if not all(isinstance(each, dict) and ("role" in each or "from" in each) for each in value):
        if any(isinstance(each, dict) for each in value):
            yield from (replace(row, value=each) for each in value)
        else:
            yield row
    elif any(not CONVERSATION_IDS.isdisjoint(each) for each in value):
        yield from (replace(row, value=each) for each in value)
    else:
        name = "messages" if "role" in value[0] else "conversations"
        note = Note("converted", "", f"a bare list of turns became {name!r}", "bare_list")
        yield replace(row, value={name: value}, notes=(*row.notes, note))


def _lists_of_rows(value: dict[str, Any]) -> list[str]:
    if _LISTS.isdisjoint(value):
        return []
    names = [name for name, each in value.items() if name in _LISTS and _is_rows(name, each)]
    if not names or any(key in _CONVERSATIONS and key not in names for key in value):
        return []
    return names


def _lists_of_conversations(value: dict[str, Any]) -> list[str]:
    """Return the names, whatever they are, of lists whose elements each hold a conversation."""
    if not _CONVERSATIONS.isdisjoint(value):
        return []
    return [
        name
        for name, each in value.items()
        if isinstance(each, list) and each and all(map(_holds_conversation, each))
    ]


def _holds_conversation(value: object) -> bool:
    return isinstance(value, dict) and any(
        isinstance(value.get(name), kind) and value[name] for name, kind in _NESTED
    )


def _is_rows(name: str, value: object) -> bool:
    if not isinstance(value, list) or not value:
        return False
    if not all(isinstance(each, dict) and each for each in value):
        return False
    if name == "conversations":  # mostly a list of turns
        return all(
            not _CONVERSATIONS.isdisjoint(each)
            and (next(iter(each)) not in TURN_KEYS or _holds_conversation(each))
            for each in value
        )
    return all(next(iter(each)) not in TURN_KEYS for each in value)


def _elements(row: Row, names: list[str]) -> Iterator[Row]:
    notes = [
        Note("dropped", "", f"{key!r} stands beside the rows, in none of them", "wrapped")
        for key in row.value
        if key not in names
    ]
    for name in names:
        said = f"the rows are the elements of the list {name!r}"
        notes.append(Note("converted", "", said, "wrapped"))
        for value in row.value[name]:
            yield _inner(replace(row, value=value, notes=(*row.notes, *notes)))
            notes.clear()
            row = replace(row, notes=())


def _inner(row: Row) -> Row:
    """Return the row without what the viewer of Hugging Face puts around it."""
    value = row.value
    if isinstance(value, dict) and "row_idx" in value and isinstance(value.get("row"), dict):
        return replace(row, value=value["row"])
    return row


def _columns(value: dict[str, Any]) -> dict[str, list[Any]] | None:
    """Return the columns of an object that is a table: lists of one length each."""
    split = value.get("columns")
    if isinstance(split, list) and set(value) <= {"columns", "index", "data"}:
        return _of_split(split, value.get("data"))
    if all(isinstance(each, dict) and each for each in value.values()):
        return _of_indexed(value)
    if not all(isinstance(each, list) for each in value.values()):
        return None
    lengths = {len(each) for each in value.values()}
    if len(lengths) != 1 or lengths == {0} or not _is_table(value):
        return None
    return value


def _is_numbered(value: dict[str, Any]) -> bool:
    """Whether rows stand under their numbers, as pandas writes a table by its index."""
    return all(
        _is_number(key) and isinstance(each, dict) and not _CONVERSATIONS.isdisjoint(each)
        for key, each in value.items()
    )


def _is_number(key: str) -> bool:
    return key.isascii() and key.isdigit() and len(key) < _LONGEST_NUMBER


def _numbered(row: Row) -> Iterator[Row]:
    numbers = list(row.value)
    # An index that counts says nothing; any other is kept as Arrow names it.
    counts = numbers == [str(number) for number in range(len(numbers))]
    said = f"{len(numbers)} rows stood under their numbers"
    notes: tuple[Note, ...] = (*row.notes, Note("converted", "", said, "wrapped"))
    for number, value in row.value.items():
        kept = value if counts else {**value, "__index_level_0__": int(number)}
        yield replace(row, value=kept, notes=notes)
        notes = ()


def _is_table(value: dict[str, list[Any]]) -> bool:
    """Whether lists of one length are columns: one holds lists of objects, or all hold texts."""
    if any(_is_nested(each) for each in value.values()):
        return True
    plain = all(
        isinstance(cell, str | int | float | None) for each in value.values() for cell in each
    )
    return plain and len(value) > 1 and not _CONVERSATIONS.isdisjoint(value)


def _is_nested(column: list[Any]) -> bool:
    lists = [cell for cell in column if cell is not None]
    return bool(lists) and all(
        isinstance(cell, list) and all(isinstance(each, dict) for each in cell) for cell in lists
    )


def _of_split(names: list[Any], rows: object) -> dict[str, list[Any]] | None:
    if not isinstance(rows, list) or not all(isinstance(name, str) for name in names):
        return None
    if not rows or not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        return None
    return {name: [row[index] for row in rows] for index, name in enumerate(names)}


def _of_indexed(value: dict[str, dict[str, Any]]) -> dict[str, list[Any]] | None:
    index = list(next(iter(value.values())))
    if not all(key.isascii() and key.isdigit() for key in index):
        return None
    if any(list(each) != index for each in value.values()):
        return None
    return {name: list(each.values()) for name, each in value.items()}


def _table(row: Row, columns: dict[str, list[Any]]) -> Iterator[Row]:
    count = len(next(iter(columns.values())))
    said = f"columns of {count} values became rows"
    notes: tuple[Note, ...] = (*row.notes, Note("converted", "", said, "columnar"))
    for index in range(count):
        value = {name: column[index] for name, column in columns.items()}
        yield replace(row, value=value, notes=notes)
        notes = ()
