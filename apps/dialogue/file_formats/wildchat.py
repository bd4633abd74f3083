"""Logs of arenas: ``{"conversation": [{"role", "content"}], "conversation_id", "turn"}``.

LMSYS-Chat-1M and WildChat, which keeps addresses and headers with every turn and calls the id
``conversation_hash``.
"""

from typing import Any

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import read_turns

_IDS = ("conversation_id", "conversation_hash")
_MARKS = (*_IDS, "turn", "openai_moderation", "detoxify_moderation")


def recognises(row: dict[str, Any]) -> bool:
    turns = row.get("conversation")
    return (
        isinstance(turns, list)
        and any(isinstance(turn, dict) and "role" in turn for turn in turns)
        and any(name in row for name in _MARKS)
    )


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    if not isinstance(row.get("conversation"), list):
        raise ImportRefused("there is no list 'conversation' of turns", place="conversation")
    messages = read_turns(row["conversation"], notes, place="conversation")
    asked = sum(message.role == "user" for message in messages)
    if isinstance(row.get("turn"), int) and row["turn"] != asked:
        fault = f"counts {row['turn']} turns of the user, the conversation has {asked}"
        notes.append(Note("kept", "turn", fault, "turn_count"))
    key = next((row[name] for name in _IDS if isinstance(row.get(name), str) and row[name]), None)
    given = row if key is None or row.get("id") not in (None, "") else {**row, "id": key}
    return content_of(given, messages, notes, used=("conversation",))


FORMAT = RowFormat("wildchat", "LMSYS and WildChat logs", recognises, read)
