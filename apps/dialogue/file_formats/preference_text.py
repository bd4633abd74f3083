"""Preference pairs of plain texts: ``{"prompt"?, "chosen": text, "rejected": text}``.

The prompt may be called question, instruction (with input) or input, with a system text beside it
(TRL, Intel's and Argilla's pairs, LLaMA-Factory's). Without a prompt it is what both texts begin
with, as TRL has it.
"""

from dataclasses import replace
from typing import Any

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import (
    Pair,
    Side,
    is_transcript,
    pair_candidates,
    pair_columns,
    question_column,
    read_pair,
    read_question,
    read_transcript,
    text_turn,
)
from apps.dialogue.message import Message


def recognises(row: dict[str, Any]) -> bool:
    columns = pair_columns(row)
    return columns is not None and all(isinstance(row[name], str | None) for name in columns)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    columns = pair_columns(row)
    if columns is None:
        raise ImportRefused("there are no texts 'chosen' and 'rejected'", place="chosen")
    pair = read_pair(row, columns, notes)
    question = read_question(row, notes)
    messages = _without_markers(question.messages, notes)
    if question_column(row) is None:
        prompt, pair = _implicit_prompt(pair, notes)
        messages += (prompt,)
    candidates = pair_candidates(pair, notes)
    content = content_of(row, messages, notes, used=(*question.used, *pair.used))
    return replace(content, candidates=candidates)


def _without_markers(messages: tuple[Message, ...], notes: list[Note]) -> tuple[Message, ...]:
    """Split a prompt that is itself a transcript (HH-RLHF with the prompt in front)."""
    if not messages or not is_transcript(messages[-1].text):
        return messages
    turns = read_transcript(messages[-1].text, notes, "prompt")
    if turns and turns[-1].role == "assistant" and not turns[-1].text.strip():
        turns = turns[:-1]
    notes.append(Note("converted", "prompt", f"the transcript became turns ({len(turns)})"))
    return (*messages[:-1], *turns)


def _implicit_prompt(pair: Pair, notes: list[Note]) -> tuple[Message, Pair]:
    """Take the words both answers begin with as the prompt; a word is never cut."""
    chosen, rejected = (
        side.messages[0].text if side.messages else "" for side in (pair.chosen, pair.rejected)
    )
    count = next(
        (i for i, (a, b) in enumerate(zip(chosen, rejected, strict=False)) if a != b),
        min(len(chosen), len(rejected)),
    )
    while count and not chosen[count : count + 1].isspace():
        count -= 1
    if not chosen[:count].strip():
        raise ImportRefused(
            "there is no prompt: the row names none, and the two answers begin differently",
            place=pair.chosen.name,
            code="needs_column_mapping",
        )
    fault = f"both answers begin with the same {count} characters, which became the prompt"
    notes.append(Note("converted", pair.chosen.name, fault, "implicit_prompt"))
    prompt = text_turn("user", chosen[:count], notes, pair.chosen.name)
    sides = [_after(side, count, notes) for side in (pair.chosen, pair.rejected)]
    return prompt, Pair(sides[0], sides[1], pair.used)


def _after(side: Side, count: int, notes: list[Note]) -> Side:
    rest = text_turn("assistant", side.messages[0].text[count:], notes, side.name)
    return replace(side, messages=(rest,))


FORMAT = RowFormat("preference_text", "Preference pairs of texts", recognises, read)
