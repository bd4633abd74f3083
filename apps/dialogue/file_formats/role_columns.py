"""Rows with a column for each speaker: ``{"system"?, "user", "assistant"}``, ``user_1, bot_1``.

Also ``prompt_1, response_1`` and their like; a lone prompt and its response are Alpaca's kin.
"""

import re
from dataclasses import dataclass
from typing import Any, Final

from apps.dialogue.blocks import Role
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import text_turn
from apps.dialogue.message import Message

_ROLES: Final[dict[str, Role]] = {
    "system": "system", "system_prompt": "system",
    "user": "user", "human": "user", "prompt": "user", "question": "user", "query": "user",
    "assistant": "assistant", "bot": "assistant", "ai": "assistant", "gpt": "assistant",
    "chatgpt": "assistant", "model": "assistant", "response": "assistant", "answer": "assistant",
}  # fmt: skip
_NUMBERED_ONLY: Final = frozenset({"model", "answer"})
"""Names that alone say too little: which model it was, or what a grader expects."""

_NAME: Final = re.compile(
    rf"(?:turn[_ -]?(?P<before>\d{{1,4}})[_ -])?(?P<name>{'|'.join(_ROLES)})"
    r"(?:[_ -]?(?P<n>\d{1,4}))?",
    re.IGNORECASE,
)
_ORDER: Final[tuple[Role, ...]] = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True, order=True)
class _Column:
    """A column that is a turn, in the order of the turns."""

    turn: int
    rank: int
    name: str

    @property
    def role(self) -> Role:
        return _ORDER[self.rank]


def recognises(row: dict[str, Any]) -> bool:
    columns = _columns(row)
    asked = [column for column in columns if column.role == "user"]
    answered = [column for column in columns if column.role == "assistant"]
    distinct = len({(column.turn, column.rank) for column in columns}) == len(columns)
    return bool(asked and answered) and distinct


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    columns = _columns(row)
    messages: list[Message] = []
    for column in columns:
        value = row[column.name]
        if value is not None and value != "":
            messages.append(text_turn(column.role, value, notes, column.name))
    if not messages:
        raise ImportRefused("no column of a speaker says anything", code="empty_conversation")
    listed = ", ".join(f"{column.name!r} as {column.role}" for column in columns)
    notes.append(Note("converted", "", f"the columns became turns: {listed}", "role_columns"))
    return content_of(row, messages, notes, used=[column.name for column in columns])


def _columns(row: dict[str, Any]) -> list[_Column]:
    found = []
    for name, value in row.items():
        if not isinstance(value, str | None):
            continue
        told = _NAME.fullmatch(name.strip())
        if told is None:
            continue
        word, number = told["name"].lower(), told["before"] or told["n"]
        if number is None and word in _NUMBERED_ONLY:
            continue
        role = _ROLES[word]
        turn = -1 if role == "system" and number is None else int(number or 0)
        found.append(_Column(turn, _ORDER.index(role), name))
    return sorted(found)


FORMAT = RowFormat("role_columns", "A column for each speaker", recognises, read)
