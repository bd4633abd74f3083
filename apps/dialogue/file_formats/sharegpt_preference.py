"""Pairs of ShareGPT's kind: ``{"conversations": [turn], "chosen": turn, "rejected": turn}``."""

from dataclasses import replace
from typing import Any

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import (
    pair_candidates,
    pair_columns,
    read_dialogue,
    read_pair,
    text_turn,
    with_tools,
)

_COLUMNS = ("conversations", "conversation")
_ASKING = ("system", "user", "human", "prompter")


def recognises(row: dict[str, Any]) -> bool:
    columns = pair_columns(row)
    if _column(row) is None or columns is None:
        return False
    # Sides that begin with a question hold the conversation themselves.
    return not any(_asks(row[name]) for name in columns)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    column, columns = _column(row), pair_columns(row)
    if column is None or columns is None:
        raise ImportRefused("there are no 'conversations' with 'chosen' and 'rejected'")
    messages = read_dialogue(row[column], notes, place=column)
    used = [column]
    if isinstance(row.get("system"), str | None):
        used.append("system")
        if row.get("system"):
            messages = (text_turn("system", row["system"], notes, "system"), *messages)
    pair = read_pair(row, columns, notes)
    candidates = pair_candidates(pair, notes)
    content = content_of(with_tools(row, notes), messages, notes, used=(*used, *pair.used))
    return replace(content, candidates=candidates)


def _asks(side: object) -> bool:
    first = side[0] if isinstance(side, list) and len(side) > 1 else None
    speaker = first.get("role", first.get("from")) if isinstance(first, dict) else None
    return isinstance(speaker, str) and speaker.lower() in _ASKING


def _column(row: dict[str, Any]) -> str | None:
    return next((name for name in _COLUMNS if isinstance(row.get(name), list) and row[name]), None)


FORMAT = RowFormat(
    "sharegpt_preference", "Preference pairs beside ShareGPT turns", recognises, read
)
