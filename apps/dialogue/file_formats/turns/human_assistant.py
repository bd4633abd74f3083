"""Transcripts as HH-RLHF has them: ``\\n\\nHuman: ...\\n\\nAssistant: ...``.

A turn begins where a paragraph begins with a marker. A marker inside a sentence is text. Turns of
the same speaker may follow one another, and a turn may be empty: both stand in the real files.
"""

import re

from apps.dialogue.blocks import Role
from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.turns.text_turns import text_turn
from apps.dialogue.message import Message

_MARKER = re.compile(r"(?:\A\s*|\n\n)(Human|Assistant):")
_INSIDE = re.compile(r"\b(?:Human|Assistant):")
_BEGINS = re.compile(r"\s*(?:Human|Assistant):")


def is_transcript(text: str) -> bool:
    """Tell whether a text begins with one of the two markers."""
    return _BEGINS.match(text) is not None


def read_transcript(text: object, notes: list[Note], place: str) -> tuple[Message, ...]:
    """Read a transcript, nothing for null; raises ``ImportRefused`` for a text that is none."""
    if text is None:
        return ()
    if not isinstance(text, str):
        raise ImportRefused(f"must be a transcript, not {kind_of(text)}", place=place)
    begins = list(_MARKER.finditer(text))
    lead = text[: begins[0].start()] if begins else text
    if lead.strip():
        raise ImportRefused("does not begin with Human: or Assistant:", place=place)
    messages: list[Message] = []
    for index, found in enumerate(begins):
        end = begins[index + 1].start() if index + 1 < len(begins) else len(text)
        role: Role = "user" if found[1] == "Human" else "assistant"
        said = text[found.end() : end].removeprefix(" ")
        messages.append(text_turn(role, said, notes, f"{place}[{index}]"))
    _note_defects(messages, notes, place)
    return tuple(messages)


def split_prompt(messages: tuple[Message, ...], notes: list[Note]) -> tuple[Message, ...]:
    """Return the messages of a question, its last one split where it is itself a transcript."""
    if not messages or not is_transcript(messages[-1].text):
        return messages
    read: list[Note] = []
    turns = read_transcript(messages[-1].text, read, "prompt")
    if turns and turns[-1].role == "assistant" and not turns[-1].text.strip():
        turns = turns[:-1]  # it only asks for the answer
        read = [note for note in read if note.place != f"prompt[{len(turns)}]"]
    notes += read
    notes.append(Note("converted", "prompt", f"the transcript became turns ({len(turns)})"))
    return (*messages[:-1], *turns)


def _note_defects(messages: list[Message], notes: list[Note], place: str) -> None:
    for index, message in enumerate(messages):
        where = f"{place}[{index}]"
        if index and messages[index - 1].role == message.role:
            fault = f"the {message.role} speaks twice running"
            notes.append(Note("kept", where, fault, "same_role_twice"))
        if not message.text.strip():
            notes.append(Note("kept", where, "the turn is empty", "empty_turn"))
        if _INSIDE.search(message.text):
            fault = "a marker inside a paragraph was left as text"
            notes.append(Note("kept", where, fault, "marker_in_text"))
