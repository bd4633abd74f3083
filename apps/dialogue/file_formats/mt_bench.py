"""MT-Bench questions: ``{"question_id", "category", "turns": [text], "reference"?: [text]}``.

User turns that follow one another are right here: a model answers between them.
"""

from typing import Any

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.message import parse_message


def recognises(row: dict[str, Any]) -> bool:
    return "question_id" in row and isinstance(row.get("turns"), list)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    turns = row.get("turns")
    if not isinstance(turns, list):
        raise ImportRefused(f"must be a list of texts, not {kind_of(turns)}", place="turns")
    messages = []
    for index, text in enumerate(turns):
        wire = {"role": "user", "blocks": [{"type": "text", "text": text}]}
        messages.append(parse_message(wire, f"turns[{index}]"))
    if not messages:
        fault = "the conversation is empty"
        raise ImportRefused(fault, place="turns", code="empty_conversation")
    notes.append(Note("converted", "turns", f"became user messages ({len(messages)})"))
    return content_of(row, messages, notes)


FORMAT = RowFormat("mt_bench", "MT-Bench questions", recognises, read)
