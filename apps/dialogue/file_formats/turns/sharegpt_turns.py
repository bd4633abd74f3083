"""Turns of ShareGPT and its kin: from and value, calls in texts, questions with answers."""

from collections.abc import Iterator
from typing import Any

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.turns.chat_turns import read_turns
from apps.dialogue.file_formats.turns.placed_turns import PlacedTurn, read_placed_turns
from apps.dialogue.file_formats.turns.tagged_calls import (
    CALL_TAGS,
    RESULT_TAGS,
    calls_of_tools,
    tagged,
    written_calls,
)
from apps.dialogue.message import Message

_ASKED_KEYS = ("human", "user", "input", "instruction", "prompt", "question")
_ANSWERED_KEYS = ("assistant", "gpt", "bot", "output", "response", "answer")
_SPEAKER_KEYS = ("speaker", "sender")
_CALLING = ("gpt", "assistant", "model", "chatgpt", "bot")
_RESULTS = ("tool", "observation", "user", "human")
"""Who says the texts in which Hermes' data has calls, and their results."""


def read_dialogue(
    turns: object, notes: list[Note], *, place: str = "conversations"
) -> tuple[Message, ...]:
    """Read a list of turns with from and value, role and content, or a question and its answer.

    Calls and results that stand in the text of a turn between tags become blocks. Raises
    ``ImportRefused`` or ``InvalidMessage`` naming the place inside ``place``.
    """
    if not isinstance(turns, list) or not any(_is_odd(turn) for turn in turns):
        return read_turns(turns, notes, place=place)
    placed: list[PlacedTurn] = []
    for index, turn in enumerate(turns):
        where = f"{place}[{index}]"
        if not isinstance(turn, dict):
            raise ImportRefused("a turn must be an object", place=where, code="bad_turn")
        found = _tagged_turns(turn)
        if found:
            reason = "calls or results that stood in the text became blocks"
            notes.append(Note("converted", where, reason, "tool_text"))
        placed += [PlacedTurn(where, wire) for wire in found or _usual(turn)]
    return read_placed_turns(placed, notes)


def is_turn_pair(turn: object) -> bool:
    """Tell whether an object holds a question and its answer (Firefly, XTuner)."""
    return (
        isinstance(turn, dict)
        and not any(key in turn for key in ("from", "role", "value", "content"))
        and any(key in turn for key in _ASKED_KEYS)
        and any(key in turn for key in _ANSWERED_KEYS)
    )


def _is_odd(turn: object) -> bool:
    return is_turn_pair(turn) or _speaker_key(turn) is not None or bool(_tagged_turns(turn))


def _speaker_key(turn: object) -> str | None:
    if not isinstance(turn, dict) or turn.get("role") is not None or turn.get("from") is not None:
        return None
    return next((key for key in _SPEAKER_KEYS if isinstance(turn.get(key), str)), None)


def _tagged_turns(turn: object) -> list[dict[str, Any]]:
    """Return the turns of one with from and value whose text holds calls or nothing but results."""
    value = turn.get("value") if isinstance(turn, dict) else None
    speaker = turn.get("from") if isinstance(turn, dict) else None
    if not isinstance(turn, dict) or not isinstance(value, str) or not isinstance(speaker, str):
        return []
    rest = {name: each for name, each in turn.items() if name not in ("from", "value")}
    if speaker.lower() in _CALLING and CALL_TAGS[0] in value:
        found = tagged(value, CALL_TAGS)
        calls = written_calls(found.inside)
        said = {**rest, "from": speaker, "value": found.outside.strip()}
        return [{**said, "tool_calls": calls_of_tools(calls)}] if calls else []
    if speaker.lower() in _RESULTS and RESULT_TAGS[0] in value:
        found = tagged(value, RESULT_TAGS)
        if not found.outside.strip():
            return [{**rest, "from": "tool", "value": text} for text in found.inside]
    return []


def _usual(turn: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the turns of an object; what is not known goes with the answer of a pair."""
    if not is_turn_pair(turn):
        key = _speaker_key(turn)
        rest = {name: value for name, value in turn.items() if name != key}
        yield {**rest, "from": turn[key]} if key else turn
        return
    asked = next(key for key in _ASKED_KEYS if key in turn)
    answered = next(key for key in _ANSWERED_KEYS if key in turn)
    if turn.get("system"):
        yield {"role": "system", "content": turn["system"]}
    yield {"role": "user", "content": turn[asked]}
    rest = {key: value for key, value in turn.items() if key not in (asked, answered, "system")}
    yield {**rest, "role": "assistant", "content": turn[answered]}
