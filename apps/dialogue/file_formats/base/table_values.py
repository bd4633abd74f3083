"""Cells of a table as the values they are written for: JSON, or a list as Python prints it."""

import ast
import json
import re
import warnings
from dataclasses import replace
from typing import Any, Final

from apps.dialogue.file_containers import Note, Row, cleaned

ROLE_COLUMNS: Final = ("role", "from", "speaker", "sender")
CONTENT_COLUMNS: Final = ("content", "text", "value", "message", "utterance", "body")
CONVERSATION_COLUMNS: Final = frozenset({
    "messages", "conversation", "conversations", "chosen", "rejected", "prompt", "completion"
})  # fmt: skip
"""Columns that may hold a list of turns; where they hold its JSON as a text, it is read."""

_KEPT_EMPTY = frozenset((*ROLE_COLUMNS, *CONTENT_COLUMNS))
_LONGEST_LITERAL = 1 << 20
# Arrays of objects are printed without commas; inside a text Python writes a line feed as \n.
_PRINTED_ARRAY = re.compile(r"\}\s*\n\s*\{")


def with_table_values(row: Row) -> Row:
    """Return a row of texts with the JSON in its cells read; an empty cell is no value."""
    notes: list[Note] = []
    value: dict[str, Any] = {}
    for name, cell in row.value.items():
        if cell == "" and name.lower() not in _KEPT_EMPTY:
            continue
        value[name] = _value(name, cell, notes) if isinstance(cell, str) else cell
    return replace(row, value=value, notes=(*row.notes, *notes))


def with_conversations(row: Row) -> Row:
    """Return a row with the conversations read that it holds as the text of a JSON list.

    Beside a conversation that is a list already, a text stays a text.
    """
    if isinstance(row.value.get("conversation"), list):
        return row
    read: dict[str, Any] = {}
    notes: list[Note] = []
    for name in CONVERSATION_COLUMNS & row.value.keys():
        cell = row.value[name]
        if isinstance(cell, str) and cell.lstrip().startswith(("[{", "[ {", "[\n")):
            read[name] = _value(name, cell, notes)
    if not notes:
        return row
    return replace(row, value={**row.value, **read}, notes=(*row.notes, *notes))


def _value(name: str, cell: str, notes: list[Note]) -> Any:
    stripped = cell.strip()
    if name.lower() == "label" and stripped.lower() in ("true", "false"):
        notes.append(Note("converted", name, "the word became true or false", "json_in_cell"))
        return stripped.lower() == "true"
    if stripped[:1] not in ("[", "{"):
        return cell
    try:
        value = json.loads(stripped)
        code, said = "json_in_cell", "the JSON in the cell was read"
    except (ValueError, RecursionError):
        try:
            value = _literal(stripped)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            return cell
        code, said = "python_repr_in_cell", "the list in the cell is written as Python does; read"
    try:
        value, changes = cleaned(value)
    except RecursionError:
        return cell
    notes.append(Note("converted", name, said, code))
    notes.extend(replace(each, place=f"{name}{_joint(each.place)}") for each in changes)
    return value


def _joint(place: str) -> str:
    return place if not place or place.startswith("[") else f".{place}"


def _literal(text: str) -> Any:
    """Read a literal of Python that is plain data; raises what parsing raises."""
    if len(text) > _LONGEST_LITERAL:
        raise ValueError("longer than a literal that is read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # of numbers like 1or
            return _plain(ast.literal_eval(text))
    except SyntaxError:
        if not _PRINTED_ARRAY.search(text):
            raise
        return _plain(ast.literal_eval(_PRINTED_ARRAY.sub("}, {", text)))


def _plain(value: object) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list() | tuple():
            return [_plain(each) for each in value]
        case dict() if all(isinstance(key, str) for key in value):
            return {key: _plain(each) for key, each in value.items()}
        case _:
            raise ValueError("not plain data")
