"""Argilla's records: ``{"fields": {...}, "suggestions", "responses", "metadata", "vectors"}``.

A chat field holds the conversation; else text fields hold the prompt and perhaps an answer.
Flattened records have the fields at the top, beside ``question.suggestion`` and the like.
"""

from dataclasses import replace
from typing import Any, Final

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import (
    Pair,
    PlacedTurn,
    pair_candidates,
    pair_columns,
    placed,
    plain_turns,
    read_pair,
    read_placed_turns,
    split_pair,
)
from apps.dialogue.message import Message

_RECORD: Final = ("suggestions", "responses", "vectors", "_server_id", "external_id", "inserted_at")
_FLAT: Final = (".suggestion", ".suggestion.score", ".suggestion.agent", ".responses")
_SYSTEM: Final = ("system", "system_prompt")
_ASKED: Final = ("prompt", "instruction", "question", "input", "query", "text", "user")
_ANSWERED: Final = ("response", "completion", "answer", "output", "generation", "assistant")


def recognises(row: dict[str, Any]) -> bool:
    if isinstance(row.get("fields"), dict):
        return any(key in row for key in _RECORD)
    return _is_flat(row)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    fields = row.get("fields")
    is_flat = not isinstance(fields, dict)
    data = row if is_flat else fields
    if not isinstance(data, dict):
        raise ImportRefused("must be an object", place="fields", code="bad_row")
    place = "" if is_flat else "fields."
    columns = pair_columns(data)
    pair = read_pair(data, columns, notes) if columns else None
    used: list[str] = list(pair.used) if pair else []
    messages, pair = _prompt(data, pair, notes, place, used)
    rest = {name: value for name, value in data.items() if name not in used}
    kept = rest if is_flat else {**row, "fields": rest}
    if not is_flat and not rest:
        del kept["fields"]
    candidates = pair_candidates(pair, notes) if pair else ()
    return replace(content_of(kept, messages, notes), candidates=candidates)


def _prompt(
    data: dict[str, Any], pair: Pair | None, notes: list[Note], place: str, used: list[str]
) -> tuple[tuple[Message, ...], Pair | None]:
    """Return the conversation; where nothing else tells it, it is what both sides begin with."""
    others = {name: value for name, value in data.items() if name not in used}
    if pair and not any(plain_turns(value) or _is_text(value) for value in others.values()):
        return split_pair(pair)
    return read_placed_turns(_turns(others, notes, place, used), notes), pair


def _turns(
    data: dict[str, Any], notes: list[Note], place: str, used: list[str]
) -> list[PlacedTurn]:
    chat = next((name for name, value in data.items() if plain_turns(value)), None)
    if chat is None:
        return _text_turns(data, notes, place, used)
    used.append(chat)
    said = placed(plain_turns(data[chat]) or (), f"{place}{chat}")
    return [*_said(data, _SYSTEM, "system", place, used), *said]


def _text_turns(
    data: dict[str, Any], notes: list[Note], place: str, used: list[str]
) -> list[PlacedTurn]:
    """Take text fields for what was said, by their names."""
    turns = _said(data, _SYSTEM, "system", place, used)
    asked = _said(data, _ASKED, "user", place, used)
    if not asked:
        texts = [name for name, value in data.items() if _is_text(value) and name not in used]
        names = [name for name in texts if name not in _ANSWERED]
        if len(names) == 1:
            asked = _said(data, names, "user", place, used)
    if not asked:
        raise ImportRefused(
            f"no field tells a question: there are {', '.join(map(str, data))}",
            place=place.rstrip("."),
            code="needs_column_mapping",
        )
    answered = _said(data, _ANSWERED, "assistant", place, used)
    for turn in (*asked, *answered):
        reason = "the field was taken for what is said; a mapping can say otherwise"
        notes.append(Note("converted", turn.place, reason, "needs_column_mapping"))
    return [*turns, *asked, *answered]


def _said(
    data: dict[str, Any], columns: Any, role: str, place: str, used: list[str]
) -> list[PlacedTurn]:
    column = next((name for name in columns if _is_text(data.get(name))), None)
    if column is None:
        return []
    used.append(column)
    return [PlacedTurn(f"{place}{column}", {"role": role, "content": data[column]})]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_flat(row: dict[str, Any]) -> bool:
    return any(name.endswith(_FLAT) for name in row) and ("status" in row or "_server_id" in row)


FORMAT = RowFormat("argilla_records", "Argilla records", recognises, read)
