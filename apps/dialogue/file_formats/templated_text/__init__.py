"""Conversations written out with a model's template: ``{"text": "<|im_start|>user..."}``.

ChatML, Llama 2 to 4, Mistral, DeepSeek, Gemma, Zephyr and Phi, and the words of Guanaco (``###
Human:``) and Vicuna (``USER: ... ASSISTANT:``). Calls and results that stand in the text as Hermes,
Llama, Mistral and DeepSeek write them become blocks.
"""

import re
from typing import Any, Final

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.templated_text.said import TOOLS, Said
from apps.dialogue.file_formats.templated_text.templates import TEMPLATES
from apps.dialogue.file_formats.turns import (
    CALL_TAGS,
    RESULT_TAGS,
    PlacedTurn,
    Tagged,
    calls_of_tools,
    read_placed_turns,
    tagged,
    with_tools,
    written_calls,
)

_COLUMNS: Final = ("text", "formatted_text", "formatted_chat", "chat_template_text")
_PYTHON_TAG: Final = "<|python_tag|>"


_AROUND: Final = re.compile(r"<\|(?:begin_of_text|end_of_text|endoftext)\|>|</?s>|<bos>|<eos>|\s+")


def recognises(row: dict[str, Any]) -> bool:
    return _column(row) is not None


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    column = _column(row)
    if column is None:
        names = ", ".join(template.name for template in TEMPLATES)
        raise ImportRefused(f"no text is written with a template that is known: {names}")
    text = row[column]
    template = next(each for each in TEMPLATES if each.marker.search(text))
    stray: list[str] = []
    said = list(template.split(text, stray))
    _note_stray(stray, column, notes)
    if said and not said[-1].ended and not said[-1].text.strip():
        # The template asks the model to go on; nothing was said there yet.
        said.pop()
    listed = [each.text for each in said if each.role == TOOLS]
    if listed and row.get("tools") in (None, "", []):
        row = with_tools({**row, "tools": listed[-1]}, notes)
    said = [each for each in said if each.role != TOOLS]
    turns = _turns(said, column, notes)
    notes.append(
        Note("converted", column, f"split by the template of {template.name} ({len(said)} turns)")
    )
    return content_of(row, read_placed_turns(turns, notes), notes, used=(column,))


def _column(row: dict[str, Any]) -> str | None:
    for column in _COLUMNS:
        text = row.get(column)
        if isinstance(text, str) and any(each.marker.search(text) for each in TEMPLATES):
            return column
    return None


def _note_stray(stray: list[str], column: str, notes: list[Note]) -> None:
    outside = [piece for piece in (_AROUND.sub(" ", each).strip() for each in stray) if piece]
    if outside:
        shown = outside[0] if len(outside[0]) <= 60 else f"{outside[0][:57]}..."
        reason = f"text outside of the turns was left out: {shown!r}"
        notes.append(Note("dropped", column, reason, "stray_text"))


def _turns(said: list[Said], column: str, notes: list[Note]) -> list[PlacedTurn]:
    turns: list[PlacedTurn] = []
    made = 0
    for index, each in enumerate(said):
        place = f"{column}, turn {index + 1}"
        if each.wire:
            made += len(each.wire.get("tool_calls", ()))
            turns.append(PlacedTurn(place, {"role": each.role, "content": each.text, **each.wire}))
            continue
        role, named = _named(each.role.strip())
        calls = _calls(each.text) if role.lower() in _ANSWERING else []
        answers = (
            tagged(each.text, RESULT_TAGS) if role.lower() in _ASKING else Tagged([], each.text)
        )
        if calls:
            made += len(calls)
            turns.append(PlacedTurn(place, {**_calling(each.text, calls), **named}))
        elif answers.inside and not answers.outside.strip():
            turns += [
                PlacedTurn(place, {"role": "tool", "content": text}) for text in answers.inside
            ]
        else:
            role = _WORDS.get(role.lower(), role)
            turns.append(PlacedTurn(place, {"role": role, "content": each.text, **named}))
    if made:
        reason = f"calls that stood in the text became calls of tools ({made})"
        notes.append(Note("converted", column, reason, "tool_text"))
    return turns


def _named(role: str) -> tuple[str, dict[str, str]]:
    """Part ``user name=ann``, as ChatML writes the name of a speaker."""
    role, _, name = role.partition(" name=")
    return role, {"name": name.strip()} if name.strip() else {}


_WORDS: Final = {
    "human": "user",
    "assistant": "assistant",
    "system": "system",
    "model": "assistant",
    "ipython": "tool",
    "user": "user",
}
"""The words of templates for who speaks, in any case."""

_ANSWERING: Final = ("assistant", "model", "gpt")
_ASKING: Final = ("user", "tool", "ipython", "observation")


def _calls(text: str) -> list[dict[str, Any]]:
    """Return the calls in a turn of the assistant; none where one of them cannot be read."""
    if text.lstrip().startswith(_PYTHON_TAG):
        return written_calls([text.lstrip().removeprefix(_PYTHON_TAG)])
    return written_calls(tagged(text, CALL_TAGS).inside)


def _calling(text: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    is_python = text.lstrip().startswith(_PYTHON_TAG)
    rest = "" if is_python else tagged(text, CALL_TAGS).outside.strip()
    return {"role": "assistant", "content": rest, "tool_calls": calls_of_tools(calls)}


FORMAT = RowFormat("templated_text", "Text with a chat template", recognises, read)
