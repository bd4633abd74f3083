"""Pasted text in which speakers take turns: ``User: hi``, ``## Assistant``, ``[09:14] Priya: ...``.

A call of a tool is ``[tool_call name] {"argument": ...}`` up to the end of a line in a turn of the
assistant, and ``Tool:`` begins its result. Everything else is kept as it stands, but for blank
lines around turns.
"""

import json
import re
import textwrap
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from apps.dialogue.blocks import Block, TextBlock, ToolCallBlock, ToolResultBlock
from apps.dialogue.blocks.json_values import NotJson, json_object, kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns.speaker_marks import (
    Mark,
    begins_with_mark,
    find_marks,
    parts_between,
)
from apps.dialogue.file_formats.turns.speaker_names import (
    LETTERS,
    SpokenRole,
    known_role,
    roles_of_names,
)
from apps.dialogue.message import Message, make_message

_COLUMNS = ("text", "conversation", "transcript", "dialogue", "dialog", "chat")
_TOOL_CALL = re.compile(r"\[tool[_ ]call:?\s+([^\s\]]+)\]\s*(?=\{)", re.IGNORECASE)
_MARK_WITHIN = re.compile(r"(?<=[\s>])(?:USER|ASSISTANT|HUMAN|User|Assistant|Human|AI):(?=\s)")
_END_OF_LINE = re.compile(r"[ \t]*(?:\n|$)")
_INLINE_HEADING = re.compile(r"(?<!\n)(?=###\s*(?:Human|Assistant|User|System|AI)\s*:)")


def recognises(row: dict[str, Any]) -> bool:
    return any(_is_transcript(row.get(name)) for name in _COLUMNS)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    column = next((name for name in _COLUMNS if _is_transcript(row.get(name))), "text")
    text = row.get(column)
    if not isinstance(text, str):
        raise ImportRefused(f"must be a text with turns, not {kind_of(text)}", place=column)
    if text.lstrip().startswith("###"):
        text = _INLINE_HEADING.sub("\n", text.lstrip())
    lines = text.split("\n")
    marks = find_marks(lines)
    if not marks.found:
        raise ImportRefused(
            "no speaker was found: begin each turn on a line of its own with User: or Assistant:, "
            "a heading like ## User, or the speaker's name and a colon",
            code="no_speakers",
        )
    _note_marks(marks.found, marks.in_code, notes)
    _note_marks_within(marks.found, notes)
    reading = _Reading(marks.found, notes)
    headings = _headings_of_results(marks.found, lines)
    for mark, below in parts_between(lines, marks.found):
        if mark not in headings:
            reading.turn(mark, below)
    before = "\n".join(lines[: marks.found[0].line]).strip()
    content = {key: value for key, value in row.items() if key != column}
    if before:
        content["preamble"] = before
        said = "the text before the first speaker became an attribute"
        notes.append(Note("converted", "preamble", said, "preamble"))
    return content_of(content, reading.messages, notes)


def _is_transcript(value: object) -> bool:
    return isinstance(value, str) and begins_with_mark(value)


def _note_marks(found: Sequence[Mark], in_code: Sequence[Mark], notes: list[Note]) -> None:
    styles = dict.fromkeys(mark.style for mark in found if known_role(mark.name) != "tool")
    if len(styles) > 1:
        said = f"speakers are marked in several ways: {', '.join(styles)}"
        notes.append(Note("converted", f"line {found[0].line + 1}", said, "mixed_markers"))
    for mark in in_code:
        said = f"{mark.name}: stands in code and begins no turn"
        notes.append(Note("kept", f"line {mark.line + 1}", said, "marker_in_code"))


def _note_marks_within(found: Sequence[Mark], notes: list[Note]) -> None:
    for mark in found:
        if inner := _MARK_WITHIN.search(mark.rest):
            said = f"{inner[0].strip()} stands within the line and begins no turn"
            notes.append(Note("kept", f"line {mark.line + 1}", said, "marker_in_text"))


def _headings_of_results(found: Sequence[Mark], lines: Sequence[str]) -> set[Mark]:
    """Return the marks that say nothing but that the results below come in a user's turn.

    A conversation that is one text (``/prompt``) has ``[user]`` above ``[tool_result]``.
    """
    return {
        mark
        for mark, following in pairwise(found)
        if mark.style == following.style == "bracket"
        and (known_role(mark.name), known_role(following.name)) == ("user", "tool")
        and not mark.rest.strip()
        and not "".join(lines[mark.line + 1 : following.line]).strip()
    }


class _Reading:
    """The messages so far, and the calls that wait for their results."""

    def __init__(self, marks: Sequence[Mark], notes: list[Note]) -> None:
        self._notes = notes
        self._roles = self._speakers(marks)
        self._open: list[str] = []
        self._calls = 0
        self._results = False
        self.messages: list[Message] = []

    def turn(self, mark: Mark, below: list[str]) -> None:
        text = _text(mark, below)
        role = self._roles[mark.name]
        detail: dict[str, Any] = {}
        if known_role(mark.name) is None and mark.style != "letter":
            detail["speaker"] = mark.name
        if mark.time:
            detail["time"] = mark.time
        if mark.label:
            detail["label"] = mark.label
        place = f"line {mark.line + 1}"
        if role == "tool":
            self._result(text, detail, place, failed=mark.failed)
            return
        self._results = False
        blocks: list[Block] = list(_texts(text))
        if role == "assistant":
            blocks = self._said(text, place)
            self._open = [block.id for block in blocks if isinstance(block, ToolCallBlock)]
        self.messages.append(make_message(role, blocks, detail, place=place))

    def _speakers(self, marks: Sequence[Mark]) -> dict[str, SpokenRole]:
        if marks[0].style == "letter":
            return {mark.name: LETTERS[mark.name.lower()] for mark in marks}
        roles = roles_of_names(mark.name for mark in marks)
        guessed = {name: role for name, role in roles.items() if known_role(name) is None}
        if guessed:
            listed = ", ".join(f"{name!r} as {role}" for name, role in guessed.items())
            note = Note("converted", "", f"speakers were read by name: {listed}", "speaker_names")
            self._notes.append(note)
        return roles

    def _said(self, text: str, place: str) -> list[Block]:
        """Part a turn of the assistant into texts and the calls that are written in it."""
        blocks: list[Block] = []
        at = 0
        for found in _TOOL_CALL.finditer(text):
            if found.start() < at:
                continue
            try:
                arguments, end = json.JSONDecoder().raw_decode(text, found.end())
                arguments = json_object(arguments)
                if not _END_OF_LINE.match(text, end):
                    continue  # a call is mentioned within a sentence
            except (ValueError, RecursionError, NotJson) as error:
                said = f"the call of {found[1]} is no JSON and stays text: {error}"
                self._notes.append(Note("kept", place, said, "tool_text"))
                continue
            blocks += _texts(text[at : found.start()])
            blocks.append(ToolCallBlock(id=self._new_id(), name=found[1], input=arguments))
            self._notes.append(Note("converted", place, f"{found[1]}: a real call", "tool_text"))
            at = end
        return [*blocks, *_texts(text[at:])]

    def _result(self, text: str, detail: dict[str, Any], place: str, *, failed: bool) -> None:
        if self._open:
            call_id = self._open.pop(0)
            self._notes.append(Note("converted", place, "became the call's result", "tool_text"))
        else:
            call_id = self._new_id()
            said = "the result answers no call; its id was invented"
            self._notes.append(Note("invented", place, said, "orphan_tool_result"))
        block = ToolResultBlock(
            tool_call_id=call_id,
            blocks=tuple(_texts(text)),
            is_error=failed,
            detail=detail or None,
        )
        held = self.messages.pop() if self._results else None
        blocks = [*(held.blocks if held else ()), block]
        self.messages.append(make_message("user", blocks, place=place))
        self._results = True

    def _new_id(self) -> str:
        self._calls += 1
        return f"call_{self._calls}"


def _text(mark: Mark, below: list[str]) -> str:
    """Return what a turn says: behind the mark and below it, without blank lines around."""
    if mark.style == "time":  # further lines of a message hang below its beginning
        below = textwrap.dedent("\n".join(below)).split("\n")
    lines = [mark.rest, *below]
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    return "\n".join(lines)


def _texts(text: str) -> list[TextBlock]:
    text = text.strip("\n")
    return [TextBlock(text=text)] if text.strip() else []


FORMAT = RowFormat("transcript", "Text with speakers", recognises, read)
