"""Battles of two models: ``{"model_a", "model_b", "winner", "conversation_a", "conversation_b"}``.

Chatbot Arena and MT-Bench's human judgements; also the table of the LMSYS competition, where
``prompt``, ``response_a`` and ``response_b`` hold JSON lists of turns. A tie prefers neither, and
where both were called bad both are rejected.
"""

import json
from dataclasses import replace
from typing import Any

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.candidates import Verdict
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import cleaned
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import Pair, Side, pair_candidates, read_turns, split_pair
from apps.dialogue.message import Message

_VERDICTS: dict[str, tuple[Verdict, Verdict]] = {
    "model_a": ("chosen", "rejected"),
    "model_b": ("rejected", "chosen"),
    "tie": ("", ""),
    "tie (bothbad)": ("rejected", "rejected"),
    "both_bad": ("rejected", "rejected"),
    "bothbad": ("rejected", "rejected"),
}
_COLUMNS = ("winner_model_a", "winner_model_b", "winner_tie")
_RESPONSES = ("prompt", "response_a", "response_b")


def recognises(row: dict[str, Any]) -> bool:
    if isinstance(row.get("conversation_a"), list) or isinstance(row.get("conversation_b"), list):
        return True
    return all(name in row for name in _RESPONSES) and ("model_a" in row or "winner" in row)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    winner = _winner(row)
    verdicts = _VERDICTS.get(winner, ("", ""))
    if winner not in _VERDICTS:
        fault = f"{winner[:60]!r} names no winner: neither answer is preferred"
        notes.append(Note("kept", "winner", fault, "unknown_winner"))
    names, conversations = _conversations(row, notes)
    sides = [
        Side(names[i], verdicts[i], said, _model(row, "ab"[i]), {"battle": "ab"[i]})
        for i, said in enumerate(conversations)
    ]
    for side in sides:
        side.detail["winner"] = winner
    prompt, pair = split_pair(Pair(sides[0], sides[1], (*names, "winner", *_COLUMNS)))
    candidates = pair_candidates(pair, notes)
    models = [name for name in ("model_a", "model_b") if isinstance(row.get(name), str)]
    used = (*pair.used, *models, *(["prompt"] if names[0] == "response_a" else []))
    content = content_of(_with_key(row, notes), prompt, notes, used=used)
    return replace(content, candidates=candidates)


def _winner(row: dict[str, Any]) -> str:
    if isinstance(row.get("winner"), str):
        return str(row["winner"]).strip().lower()
    won = next((name for name in _COLUMNS if row.get(name) in (1, "1", 1.0, True)), "")
    return won.removeprefix("winner_")


def _model(row: dict[str, Any], letter: str) -> str:
    model = row.get(f"model_{letter}")
    return model if isinstance(model, str) else ""


def _conversations(
    row: dict[str, Any], notes: list[Note]
) -> tuple[tuple[str, str], list[tuple[Message, ...]]]:
    if "conversation_a" in row or "conversation_b" in row:
        names = ("conversation_a", "conversation_b")
        return names, [_read_side(row.get(name), notes, name) for name in names]
    asked = _texts(row, "prompt", notes)
    names = ("response_a", "response_b")
    read = []
    for name in names:
        answers = _texts(row, name, notes)
        if len(answers) > len(asked):
            raise ImportRefused("has more answers than there are prompts", place=name)
        turns: list[dict[str, Any]] = []
        for index, question in enumerate(asked):
            turns.append({"role": "user", "content": question})
            if index < len(answers):
                turns.append({"role": "assistant", "content": answers[index]})
        read.append(read_turns(turns, notes, place=name))
    return names, read


def _read_side(turns: object, notes: list[Note], name: str) -> tuple[Message, ...]:
    return () if turns in (None, []) else read_turns(turns, notes, place=name)


def _texts(row: dict[str, Any], name: str, notes: list[Note]) -> list[Any]:
    """Return the turns of a column: a list, the JSON text of one, or one text."""
    value = row.get(name)
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            # The text was clean, what its escapes stand for need not be.
            read, changes = cleaned(json.loads(value))
        except (ValueError, RecursionError):
            return [value]
        notes += [replace(note, place=f"{name}{note.place}") for note in changes]
        notes.append(Note("converted", name, "JSON text became a list", "stringified_json"))
        value = read
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise ImportRefused(f"must be a list of texts, not {kind_of(value)}", place=name)
    return value


def _with_key(row: dict[str, Any], notes: list[Note]) -> dict[str, Any]:
    """Give a vote a key of its own: many votes are about the question with one number."""
    number = row.get("question_id")
    if row.get("id") not in (None, "") or not isinstance(number, int):
        return row
    parts = [number, *(row.get(name) for name in ("model_a", "model_b", "judge", "turn"))]
    key = "-".join(str(part) for part in parts if isinstance(part, str | int))
    notes.append(Note("invented", "id", "the key was made of question, models and judge"))
    return {**row, "id": key}


FORMAT = RowFormat("arena_battle", "Arena battles", recognises, read)
