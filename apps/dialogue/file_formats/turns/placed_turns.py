"""Turns that a format makes of its own shape, each with the place it was made of.

They are read like every list of turns; what is noted or refused names the place in the file.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.dialogue.blocks import Block, ToolResultBlock
from apps.dialogue.blocks.json_values import json_copy
from apps.dialogue.errors import DialogueError, ImportRefused
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.turns.chat_turns import read_turns
from apps.dialogue.message import Message, make_message
from apps.dialogue.provider_formats.base import leftovers

_TURNS = "turns"
_PLACE = re.compile(rf"{_TURNS}\[(\d+)\](?:\.(?:content|tool_calls)(?:\[\d+\])?(?:\.text)?)?")


@dataclass(frozen=True, slots=True)
class PlacedTurn:
    """A turn like those of Chat Completions, and the place of the file it was made of.

    ``is_error`` in the turn of a tool says that its result is one.
    """

    place: str
    wire: dict[str, Any]


def read_placed_turns(turns: Sequence[PlacedTurn], notes: list[Note]) -> tuple[Message, ...]:
    """Read turns; raises ``ImportRefused`` or ``InvalidMessage`` naming the place of a turn."""
    if not turns:
        raise ImportRefused("the conversation is empty", code="empty_conversation")
    places = [turn.place for turn in turns]
    taken: list[Note] = []
    try:
        messages = read_turns([turn.wire for turn in turns], taken, place=_TURNS)
    except ImportRefused as error:
        raise ImportRefused(
            error.message, place=_named(error.place, places), roles=error.roles, code=error.code
        ) from None
    except DialogueError as error:
        raise type(error)(error.message, place=_named(error.place, places)) from None
    finally:
        notes += [replace(note, place=_named(note.place, places)) for note in taken]
    return tuple([_with_errors(message) for message in messages])


def plain_turns(value: object) -> list[dict[str, Any]] | None:
    """Return a list of objects with a role, or its JSON text, as turns; None for anything else."""
    turns = decoded(value)
    if not isinstance(turns, list) or not turns:
        return None
    said = all(isinstance(turn, dict) and isinstance(turn.get("role"), str) for turn in turns)
    return list(turns) if said else None


def placed(turns: Sequence[dict[str, Any]], place: str) -> list[PlacedTurn]:
    """Return turns that stand in a list at ``place``."""
    return [PlacedTurn(f"{place}[{index}]", turn) for index, turn in enumerate(turns)]


def text_part(text: str, detail: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a part of a turn's content that is a text; ``detail`` stays with its block."""
    return {**leftovers(detail or {}, {"type", "text"}), "type": "text", "text": text}


def reasoning_part(text: str, detail: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a part that is the assistant's reasoning, ``signature`` among its detail."""
    return {**leftovers(detail or {}, {"type", "text"}), "type": "reasoning", "text": text}


def call_part(
    name: str, arguments: object, *, call_id: str | None, detail: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return a part that is a call, with its ``arguments`` as an object or as JSON text."""
    known = {"id", "type", "index", "name", "function", "arguments", "args", "parameters", "input"}
    call = {"id": call_id, "name": name, "arguments": arguments}
    return {"type": "tool_call", "value": {**leftovers(detail or {}, known), **call}}


def result_turn(
    content: object,
    *,
    call_id: str | None,
    name: str | None = None,
    is_error: bool = False,
    detail: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the turn of a tool that answers a call."""
    known = {"role", "content", "tool_call_id", "is_error"}
    wire = {"role": "tool", "content": content}
    # A key that is there and null would say that the file fills its keys with null.
    wire |= {k: v for k, v in (("tool_call_id", call_id), ("name", name)) if v is not None}
    return {**leftovers(detail or {}, known), **wire, **({"is_error": True} if is_error else {})}


def decoded(text: object) -> object:
    """Return what a JSON text holds; anything else, and what JSON cannot carry, as it is."""
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[", '"')):
        return text
    try:
        return json_copy(json.loads(text))
    except (ValueError, RecursionError):  # NotJson is a ValueError
        return text


def _named(place: str, places: Sequence[str]) -> str:
    found = _PLACE.match(place)
    return places[int(found[1])] + place[found.end() :] if found else ""


def _with_errors(message: Message) -> Message:
    """Return a message whose results say by ``is_error``, not in detail, that they are errors."""
    if not any(_says_error(block) for block in message.blocks):
        return message
    blocks = [_lifted(block) if _says_error(block) else block for block in message.blocks]
    return make_message(message.role, blocks, message.detail)


def _says_error(block: Block) -> bool:
    return isinstance(block, ToolResultBlock) and (block.detail or {}).get("is_error") is True


def _lifted(block: Block) -> Block:
    detail = {key: each for key, each in (block.detail or {}).items() if key != "is_error"}
    return block.model_copy(update={"is_error": True, "detail": detail or None})
