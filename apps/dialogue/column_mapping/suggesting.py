"""Proposing a mapping from a few rows: the names of their columns first, then what they hold.

A proposal is a start for a person, never applied unseen. It can read every row it was made from.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from apps.dialogue.column_mapping.spec import ColumnMapping, parse_mapping
from apps.dialogue.errors import ImportRefused

Rows = Sequence[Mapping[str, Any]]
Turns = list[dict[str, str]]

_KEYS: Final = ("id", "key", "task_id", "question_id", "custom_id", "example_id", "uuid", "uid")
_SPOKEN: Final[dict[str, tuple[str, ...]]] = {
    "system": ("system", "system_prompt", "system_message", "developer", "persona"),
    "user": (
        *("user", "question", "prompt", "instruction", "query", "user_message", "user_prompt"),
        *("human", "input", "request", "problem", "message", "text"),
    ),
    "assistant": (
        *("assistant", "response", "completion", "reply", "assistant_message", "bot", "output"),
    ),
}
"""Columns by role, the likeliest first. An answer, target or label is no turn: it is what a scorer
compares with, and stays an attribute."""

_LISTS: Final = ("messages", "conversation", "conversations", "turns", "dialogue", "dialog", "chat")
_SPEAKERS: Final = ("role", "from", "speaker", "author", "sender", "type", "name")
_SAID: Final = ("content", "value", "text", "message", "utterance", "body")
_KNOWN_ROLES: Final = frozenset(
    ("system", "developer", "user", "assistant", "tool", "human", "gpt", "bot", "model", "prompter")
)
_SERVES: Final = re.compile(r"agent|assistant|support|bot|model|\bai\b|gpt|operator|helper", re.I)
_CHOSEN: Final = ("chosen", "preferred", "preferred_output", "better")
_REJECTED: Final = ("rejected", "non_preferred_output", "worse")
_NUMBERED: Final = re.compile(r"(.*?)[ _-]?([0-9]{1,3})")
_UNNAMED_TURNS: Final = frozenset({"turn", "message", "msg", "utterance"})
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_NAMES: Final = frozenset(
    (
        *("and", "else", "if", "in", "is", "not", "or", "true", "false", "none"),
        *("True", "False", "None", "row", "turn", "index", "range", "dict", "self", "loop"),
        *("cycler", "joiner", "namespace", "caller", "varargs", "kwargs", "super"),
    )
)


def suggest(rows: Rows) -> ColumnMapping:
    """Propose a mapping for rows like these; raises ``ImportRefused`` if none holds a text."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    proposed: dict[str, Any] = {}
    if (key := _first(_KEYS, columns)) is not None and _are_keys(_values(key, rows)):
        proposed["key"] = _read(key, rows)
    turns: Turns | str = (
        _list_of_turns(columns, rows) or _numbered(columns, rows) or _by_role(columns, rows)
    )
    turns = turns or _longest_text(columns, rows)
    if not turns:
        raise ImportRefused("no column holds a text that could be a turn", place="conversation")
    proposed["conversation"] = turns
    for verdict, known in (("chosen", _CHOSEN), ("rejected", _REJECTED)):
        column = _first(known, columns)
        if column is not None and all(isinstance(each, str) for each in _values(column, rows)):
            proposed[verdict] = _read(column, rows)
    return parse_mapping(proposed)


def _first(known: Sequence[str], columns: Sequence[str]) -> str | None:
    """Return the first known column there is, whatever its case and spaces."""
    plain = {_plain(column): column for column in reversed(columns)}
    return next((plain[name] for name in known if name in plain), None)


def _plain(column: str) -> str:
    return re.sub(r"[ -]+", "_", column.strip().lower())


def _values(column: str, rows: Rows) -> list[Any]:
    """Return what the rows hold in a column, without nulls and empty texts."""
    return [row[column] for row in rows if row.get(column) not in (None, "")]


def _are_keys(values: Sequence[Any]) -> bool:
    return all(isinstance(each, str | int) and not isinstance(each, bool) for each in values)


def _read(column: str, rows: Rows) -> str:
    """Return the expression that reads a column, also where some rows have none."""
    everywhere = all(column in row for row in rows)
    if everywhere and _NAME.fullmatch(column) and column not in _NOT_NAMES:
        return column
    name = _quoted(column)
    return f"row[{name}]" if everywhere else f"row.get({name})"


def _quoted(text: str) -> str:
    """Write a text as Jinja reads it, and so that nobody takes it for a template."""
    return json.dumps(text, ensure_ascii=False).replace("{", r"\x7b")


def _turn(role: str, column: str, rows: Rows) -> dict[str, str]:
    """Return one turn of a column; it is left out where the column is empty."""
    turn = {"role": role, "content": _read(column, rows)}
    if len(_values(column, rows)) < len(rows):
        turn["when"] = turn["content"]
    return turn


def _by_role(columns: Sequence[str], rows: Rows) -> Turns:
    found = {role: _first(known, columns) for role, known in _SPOKEN.items()}
    if found["user"] is None:
        return []
    return [
        _turn(role, column, rows)
        for role, column in found.items()
        if column is not None and all(isinstance(each, str) for each in _values(column, rows))
    ]


def _longest_text(columns: Sequence[str], rows: Rows) -> Turns:
    lengths = {
        column: sum(map(len, values))
        for column in columns
        if (values := _values(column, rows)) and all(isinstance(each, str) for each in values)
    }
    if not lengths:
        return []
    return [_turn("user", max(lengths, key=lambda column: lengths[column]), rows)]


def _numbered(columns: Sequence[str], rows: Rows) -> Turns:
    """Return turns of columns like user_1, assistant_1, user_2, or turn_1, turn_2."""
    found: list[tuple[int, str, str]] = []
    for column in columns:
        match = _NUMBERED.fullmatch(_plain(column))
        if match and (role := _numbered_role(match[1], int(match[2]))):
            found.append((int(match[2]), role, column))
    if len(found) < 2:
        return []
    ordered = sorted(found, key=lambda each: each[0])
    return [_turn(role, column, rows) for _, role, column in ordered]


def _numbered_role(name: str, number: int) -> str:
    if name in _UNNAMED_TURNS:
        return "user" if number % 2 else "assistant"
    return next((role for role, known in _SPOKEN.items() if name in known), "")


def _list_of_turns(columns: Sequence[str], rows: Rows) -> Turns | str:
    known = [name for name in _LISTS if _first((name,), columns)]
    ordered = [column for name in known if (column := _first((name,), columns))]
    for column in dict.fromkeys([*ordered, *columns]):
        items = list(_items(_values(column, rows)))
        if items and (turns := _of_items(_read(column, rows), items)):
            return turns
    return []


def _items(values: Sequence[Any]) -> Iterator[Any]:
    """Return the items of lists, or of their JSON texts; nothing if one is no list."""
    lists = [_from_json(each) if isinstance(each, str) else each for each in values]
    if all(isinstance(each, list) for each in lists):
        for each in lists:
            yield from each


def _from_json(text: str) -> Any:
    try:
        return json.loads(text) if text.lstrip().startswith("[") else None
    except (ValueError, RecursionError):
        return None


def _of_items(expression: str, items: Sequence[Any]) -> Turns | str:
    if all(isinstance(item, str) for item in items):
        role = '"user" if index % 2 == 0 else "assistant"'
        return [{"each": expression, "role": role, "content": "turn"}]
    if not all(isinstance(item, dict) for item in items):
        return []
    speaker = next((name for name in _SPEAKERS if _all_texts(name, items)), None)
    said = next((name for name in _SAID if all(name in item for item in items)), None)
    if speaker is None or said is None:
        return []
    roles = list(dict.fromkeys(item[speaker] for item in items))
    if (speaker, said) == ("role", "content") and _KNOWN_ROLES.issuperset(roles):
        return expression
    return [
        {
            "each": expression,
            "role": _role_of(f"turn[{_quoted(speaker)}]", roles),
            "content": f"turn[{_quoted(said)}]",
        }
    ]


def _all_texts(name: str, items: Sequence[Mapping[str, Any]]) -> bool:
    return all(isinstance(item.get(name), str) for item in items)


def _role_of(expression: str, roles: Sequence[str]) -> str:
    """Return what makes roles of the speakers of a file: who serves is the assistant."""
    unknown = [role for role in roles if role.lower() not in _KNOWN_ROLES]
    if not unknown:
        return expression
    serving = [role for role in unknown if _SERVES.search(role)] or unknown[1:2]
    pairs = ", ".join(
        f"{_quoted(role)}: {_quoted('assistant' if role in serving else 'user')}"
        for role in unknown
    )
    # The space keeps two braces from being a template.
    return f"{{ {pairs} }}.get({expression}, {expression})"
