"""Conversations written out with a model's template: ``{"text": "<|im_start|>user..."}``.

ChatML, Llama 2 and Mistral, Llama 3 and 4, Gemma, Zephyr and Phi, and the ``### Human:`` of
Guanaco. Calls and results that stand in the text as Hermes and Llama write them become blocks.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import (
    CALL_TAGS,
    RESULT_TAGS,
    PlacedTurn,
    Tagged,
    calls_of_tools,
    read_placed_turns,
    tagged,
    written_calls,
)

_COLUMNS: Final = ("text", "formatted_text", "formatted_chat", "chat_template_text")
_PYTHON_TAG: Final = "<|python_tag|>"


@dataclass(frozen=True, slots=True)
class _Said:
    """A turn as the template has it; ``ended`` where the template's end of a turn follows."""

    role: str
    text: str
    ended: bool = True


@dataclass(frozen=True, slots=True)
class _Template:
    """A template: what it is told by, and how its text is split; ``stray`` takes what is left."""

    name: str
    marker: re.Pattern[str]
    split: Callable[[str, list[str]], Iterator[_Said]]


def _marked(
    turn: str, end: str, *, lead: str = "\n"
) -> Callable[[str, list[str]], Iterator[_Said]]:
    """Return a splitter for templates that write ``turn`` with a role, the text, and ``end``."""
    start, stop = re.compile(turn), re.compile(end)

    def split(text: str, stray: list[str]) -> Iterator[_Said]:
        begun = list(start.finditer(text))
        limits = [*(each.start() for each in begun), len(text)][1:]
        at = 0
        for found, limit in zip(begun, limits, strict=True):
            stray.append(text[at : found.start()])
            ended = stop.search(text, found.end(), limit)
            said = text[found.end() : ended.start() if ended else limit]
            yield _Said(found[1], said.removeprefix(lead), ended is not None)
            at = ended.end() if ended else limit
        stray.append(text[at:])

    return split


_INST: Final = re.compile(r"\[INST\](.*?)(?:\[/INST\]|\Z)(.*?)(?=\[INST\]|\Z)", re.DOTALL)
_SYS: Final = re.compile(r"\A\s*<<SYS>>\n?(.*?)\n?<</SYS>>\s*", re.DOTALL)


def _instructions(text: str, stray: list[str]) -> Iterator[_Said]:
    """Split ``<s>[INST] <<SYS>>...<</SYS>> question [/INST] answer </s>``."""
    first = text.find("[INST]")
    stray.append(text[:first])
    for found in _INST.finditer(text):
        asked = found[1]
        if system := _SYS.match(asked):
            yield _Said("system", system[1])
            asked = asked[system.end() :]
        yield _Said("user", asked.strip(" "))
        answer, ended, rest = found[2].partition("</s>")
        if ended:
            stray.append(rest)
        answer = answer.strip().removesuffix("<s>").rstrip()
        if answer:
            yield _Said("assistant", answer)


def _headings(text: str, stray: list[str]) -> Iterator[_Said]:
    """Split ``### Human: ... ### Assistant: ...``."""
    pieces = re.split(r"### (Human|Assistant|System): ?", text)
    stray.append(pieces[0])
    for role, said in zip(pieces[1::2], pieces[2::2], strict=True):
        yield _Said(role, said.rstrip(), ended=bool(said.strip()))


_TEMPLATES: Final = (
    _Template(
        "ChatML",
        re.compile(r"<\|im_start\|>"),
        _marked(r"<\|im_start\|>([^\n<]*)", r"<\|im_end\|>"),
    ),
    _Template(
        "Llama 3",
        re.compile(r"<\|start_header_id\|>"),
        _marked(
            r"<\|start_header_id\|>([^<]*)<\|end_header_id\|>", r"<\|eot_id\|>|<\|eom_id\|>",
            lead="\n\n",
        ),
    ),
    _Template(
        "Llama 4",
        re.compile(r"<\|header_start\|>"),
        _marked(r"<\|header_start\|>([^<]*)<\|header_end\|>", r"<\|eot\|>|<\|eom\|>", lead="\n\n"),
    ),
    _Template(
        "Gemma",
        re.compile(r"<start_of_turn>"),
        _marked(r"<start_of_turn>([^\n<]*)", r"<end_of_turn>"),
    ),
    _Template("Llama 2", re.compile(r"\[INST\]"), _instructions),
    _Template(
        "Zephyr or Phi",
        re.compile(r"<\|(?:system|user|assistant)\|>"),
        _marked(r"<\|(system|user|assistant|tool|observation)\|>", r"<\|end\|>|</s>|<\|eot\|>"),
    ),
    _Template("Guanaco", re.compile(r"\A\s*### (?:Human|System): ?"), _headings),
)  # fmt: skip
_AROUND: Final = re.compile(r"<\|(?:begin_of_text|end_of_text|endoftext)\|>|</?s>|<bos>|<eos>|\s+")


def recognises(row: dict[str, Any]) -> bool:
    return _column(row) is not None


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    column = _column(row)
    if column is None:
        names = ", ".join(template.name for template in _TEMPLATES)
        raise ImportRefused(f"no text is written with a template that is known: {names}")
    text = row[column]
    template = next(each for each in _TEMPLATES if each.marker.search(text))
    stray: list[str] = []
    said = list(template.split(text, stray))
    _note_stray(stray, column, notes)
    if said and not said[-1].ended and not said[-1].text.strip():
        # The template asks the model to go on; nothing was said there yet.
        said.pop()
    turns = _turns(said, column, notes)
    notes.append(
        Note("converted", column, f"split by the template of {template.name} ({len(said)} turns)")
    )
    return content_of(row, read_placed_turns(turns, notes), notes, used=(column,))


def _column(row: dict[str, Any]) -> str | None:
    for column in _COLUMNS:
        text = row.get(column)
        if isinstance(text, str) and any(each.marker.search(text) for each in _TEMPLATES):
            return column
    return None


def _note_stray(stray: list[str], column: str, notes: list[Note]) -> None:
    outside = [piece for piece in (_AROUND.sub(" ", each).strip() for each in stray) if piece]
    if outside:
        shown = outside[0] if len(outside[0]) <= 60 else f"{outside[0][:57]}..."
        reason = f"text outside of the turns was left out: {shown!r}"
        notes.append(Note("dropped", column, reason, "stray_text"))


def _turns(said: list[_Said], column: str, notes: list[Note]) -> list[PlacedTurn]:
    turns: list[PlacedTurn] = []
    made = 0
    for index, each in enumerate(said):
        place = f"{column}, turn {index + 1}"
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
