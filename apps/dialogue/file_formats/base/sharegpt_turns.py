"""Turns of ShareGPT and its kin, and the tools that stand beside them."""

from collections.abc import Iterator
from typing import Any

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.base.chat_turns import read_turns
from apps.dialogue.file_formats.base.placed_turns import PlacedTurn, read_placed_turns
from apps.dialogue.file_formats.base.tool_lists import with_tools
from apps.dialogue.message import Message

_ASKED_KEYS = ("human", "user", "input", "instruction", "prompt", "question")
_ANSWERED_KEYS = ("assistant", "gpt", "bot", "output", "response", "answer")
_SPEAKER_KEYS = ("speaker", "sender")


def read_dialogue(
    turns: object, notes: list[Note], *, place: str = "conversations"
) -> tuple[Message, ...]:
    """Read a list of turns with from and value, role and content, or a question and its answer.

    Raises ``ImportRefused`` or ``InvalidMessage`` naming the place inside ``place``.
    """
    if not isinstance(turns, list) or not any(_is_odd(turn) for turn in turns):
        return read_turns(turns, notes, place=place)
    placed: list[PlacedTurn] = []
    for index, turn in enumerate(turns):
        where = f"{place}[{index}]"
        if not isinstance(turn, dict):
            raise ImportRefused("a turn must be an object", place=where, code="bad_turn")
        placed += [PlacedTurn(where, wire) for wire in _usual(turn)]
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
    return is_turn_pair(turn) or _speaker_key(turn) is not None


def _speaker_key(turn: object) -> str | None:
    if not isinstance(turn, dict) or turn.get("role") is not None or turn.get("from") is not None:
        return None
    return next((key for key in _SPEAKER_KEYS if isinstance(turn.get(key), str)), None)


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


def tools_beside(row: dict[str, Any], notes: list[Note]) -> dict[str, Any]:
    """Return a row with its tools as a list: ShareGPT has them as JSON text, often an empty one.

    Raises ``ImportRefused`` for text that is no JSON list.
    """
    if "tools" not in row and "functions" not in row:
        return row
    read = with_tools(row, notes)
    if read.get("tools") not in (None, "", []):
        return read
    return {key: value for key, value in read.items() if key != "tools"}
