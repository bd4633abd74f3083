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
    is_said,
    pair_candidates,
    pair_columns,
    question_column,
    read_pair,
    read_question,
    split_prompt,
    text_turn,
)
from apps.dialogue.message import Message

_LISTS = ("answers", "responses", "completions", "candidates", "choices", "options")


def recognises(row: dict[str, Any]) -> bool:
    columns = pair_columns(row)
    if columns is None:
        return False
    answers = [row[name] for name in columns]
    if all(isinstance(each, str | None) for each in answers):
        return True
    # Numbers answer a question, unless they point into a list of answers.
    plain = all(each is None or is_said(each) or isinstance(each, str) for each in answers)
    return plain and question_column(row) is not None and not any(row.get(n) for n in _LISTS)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    columns = pair_columns(row)
    if columns is None:
        raise ImportRefused("there are no texts 'chosen' and 'rejected'", place="chosen")
    pair = read_pair(row, columns, notes)
    question = read_question(row, notes)
    messages = split_prompt(question.messages, notes)
    if question_column(row) is None:
        prompt, pair = _implicit_prompt(pair, notes)
        messages += (prompt,)
    candidates = pair_candidates(pair, notes)
    content = content_of(row, messages, notes, used=(*question.used, *pair.used))
    return replace(content, candidates=candidates)


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
