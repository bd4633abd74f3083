"""Alpaca and its kin: ``{"instruction", "input"?, "output", "system"?, "history"?}``.

Dolly (context, response), Chinese and upper-case variants, and a question with its answer. Two
outputs are a preference pair, the better one first (LLaMA-Factory of old).
"""

from dataclasses import replace
from typing import Any

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Candidate, Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import is_said, read_question, text_turn, with_tools
from apps.dialogue.message import Message

_INSTRUCTIONS = ("instruction", "INSTRUCTION", "Instruction")
_QUESTIONS = ("query", "question", "input")
"""What the question is called where there is no instruction (MetaMath, OpenOrca, LMFlow)."""

_OUTPUTS = ("output", "response", "RESPONSE", "Response", "OUTPUT", "Output")
_AMBIGUOUS = (
    "read as the assistant's reply, but the row may as well be a question and the answer that a "
    "grader expects: then map the columns, question to a user turn and answer to an attribute "
    "(ground_truth), or choose attribute_rows"
)
_ASIDE = frozenset({"id", "key", "tags", "split", "system", "system_prompt", "history", "tools"})
"""What may stand beside question and answer in a row that is a conversation of the two."""


def recognises(row: dict[str, Any]) -> bool:
    return _columns(row) is not None


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    columns = _columns(row)
    if columns is None:
        raise ImportRefused("there are no 'instruction' and 'output'", place="instruction")
    asked, answered = columns
    if asked != "instruction" or answered != "output":
        fault = f"{asked} and {answered} were read as instruction and output"
        notes.append(Note("converted", asked, fault, "key_variant"))
    if answered == "answer":
        notes.append(Note("converted", answered, _AMBIGUOUS, "ambiguous"))
    blank = asked if is_said(row[asked]) else "input"
    question = read_question(row, notes, (blank,))
    messages = question.messages
    used = (asked, answered, *question.used)
    candidates: tuple[Candidate, ...] = ()
    if isinstance(row[answered], list):
        candidates = _pair(row[answered], answered, notes)
    else:
        messages = (*messages, *_answer(row[answered], answered, notes))
    content = content_of(with_tools(row, notes), messages, notes, used=used)
    return replace(content, candidates=candidates)


def _columns(row: dict[str, Any]) -> tuple[str, str] | None:
    """Return the columns of what was asked and of what was answered."""
    asked = next((name for name in _INSTRUCTIONS if isinstance(row.get(name), str)), None)
    answered = next((name for name in _OUTPUTS if name in row), None)
    if asked and answered:
        return asked, answered
    asked = next((name for name in _QUESTIONS if is_said(row.get(name))), None)
    if asked and answered and isinstance(row[answered], str):
        return asked, answered
    # With more beside them, question and answer are a question and its target.
    texts = isinstance(row.get("question"), str) and isinstance(row.get("answer"), str)
    if texts and set(row) - {"question", "answer"} <= _ASIDE:
        return "question", "answer"
    return None


def _answer(value: object, place: str, notes: list[Note]) -> tuple[Message, ...]:
    if value is None or (isinstance(value, str) and not value.strip()):
        notes.append(Note("kept", place, "there is no answer", "empty_turn"))
        return ()
    return (text_turn("assistant", value, notes, place),)


def _pair(outputs: list[Any], place: str, notes: list[Note]) -> tuple[Candidate, ...]:
    if len(outputs) != 2:
        raise ImportRefused("must be one text, or two of which the first is better", place=place)
    notes.append(Note("converted", place, "the first was taken for the better one", "output_pair"))
    first, second = (
        text_turn("assistant", each, notes, f"{place}[{index}]")
        for index, each in enumerate(outputs)
    )
    return Candidate((first,), "chosen"), Candidate((second,), "rejected")


FORMAT = RowFormat("alpaca", "Alpaca instructions", recognises, read)
