"""Prompt and completion: ``{"prompt", "completion"}`` as texts, or as TRL has them, as messages.

Old fine-tuning wanted marks at the end of both texts; they are taken off and kept in detail.
"""

from collections.abc import Sequence
from typing import Any, Final

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import read_turns, with_tools
from apps.dialogue.message import Message

_SEPARATORS: Final = ("###", "===", "---", "$$$", "->", "=>", "→")
_STOPS: Final = ("###", "$$$", "<|endoftext|>", "[END]", " END", "\nEND", " STOP", "\nSTOP")


def recognises(row: dict[str, Any]) -> bool:
    return isinstance(row.get("prompt"), str | list) and isinstance(
        row.get("completion"), str | list | dict
    )


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    prompt, completion = row.get("prompt"), row.get("completion")
    if isinstance(prompt, str) and isinstance(completion, str):
        turns = _from_texts(prompt, completion, notes)
        messages = read_turns(turns, [], place="prompt")
    else:
        messages = _read_side(prompt, "user", notes, "prompt")
        messages += _read_side(completion, "assistant", notes, "completion")
    return content_of(with_tools(row, notes), messages, notes, used=("prompt", "completion"))


def _from_texts(prompt: str, completion: str, notes: list[Note]) -> list[dict[str, Any]]:
    separator, stop = _mark(prompt, _SEPARATORS), _mark(completion, _STOPS)
    asked: dict[str, Any] = {"role": "user", "content": prompt}
    said: dict[str, Any] = {"role": "assistant", "content": completion}
    if not separator and not stop:
        return [asked, said]
    taken = []
    if separator:
        asked = {**asked, "content": prompt[: -len(separator)], "separator": separator}
        taken.append(f"{separator!r} at the end of the prompt")
    text = completion
    if stop:
        said["stop"], text = stop, completion[: -len(stop)]
        taken.append(f"{stop!r} at the end of the completion")
    if text.startswith(" "):
        said["leading"], text = text[: len(text) - len(text.lstrip(" "))], text.lstrip(" ")
        taken.append("the space before the completion")
    reason = f"{', '.join(taken)}: taken off and kept in detail"
    notes.append(Note("converted", "", reason, "stop_markers"))
    return [asked, {**said, "content": text}]


def _mark(text: str, marks: Sequence[str]) -> str:
    """Return the mark at the end of a text with the white space around it, or nothing."""
    end = text.rstrip()
    mark = next((mark for mark in marks if end.endswith(mark)), None)
    said = end[: -len(mark)].rstrip() if mark else ""
    return text[len(said) :] if said else ""


def _read_side(value: object, role: str, notes: list[Note], place: str) -> tuple[Message, ...]:
    if isinstance(value, dict):
        value = [value]
    if isinstance(value, str):
        return read_turns([{"role": role, "content": value}], notes, place=place)
    if not isinstance(value, list):
        fault = f"must be a text or a list of messages, not {kind_of(value)}"
        raise ImportRefused(fault, place=place)
    return read_turns(value, notes, place=place)


FORMAT = RowFormat("prompt_completion", "Prompt and completion", recognises, read)
