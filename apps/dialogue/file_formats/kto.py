"""Answers with a thumb up or down each (KTO): ``{"prompt", "completion", "label": bool}``.

The answer may also end ``messages`` or ``conversations``, or be the output of an instruction; the
label may be called ``kto_tag`` (LLaMA-Factory). A label that is 1 or 0, or the text of a truth
value, is taken for one where the row is nothing but an answer and its label: elsewhere it may be a
class.
"""

from dataclasses import replace
from typing import Any

from apps.dialogue.candidates import Verdict
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Candidate, Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import (
    question_column,
    read_answer,
    read_question,
    split_reply,
    text_turn,
    with_tools,
)
from apps.dialogue.message import Message

_LABELS = ("label", "kto_tag")
_LISTS = ("messages", "conversations", "conversation")
_ANSWERS = ("completion", "response", "output")
_WRITTEN = {"true": True, "false": False, "1": True, "0": False}
_WHOLE = frozenset({
    "prompt", "completion", "messages", "id", "key", "tags", "split", "system", "tools", *_LABELS
})  # fmt: skip


def recognises(row: dict[str, Any]) -> bool:
    return _label(row) is not None and (_list(row) is not None or _answer(row) is not None)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    label, column = _label(row), _list(row)
    if label is None:
        raise ImportRefused("there is no label that is true or false", place="label")
    if column is not None:
        prompt, reply = split_reply(read_answer(row[column], notes, column))
        used: tuple[str, ...] = (column,)
        beside = next((name for name in _ANSWERS if row.get(name) is not None), None)
        if not reply and beside:
            reply, used = read_answer(row[beside], notes, beside), (column, beside)
        if isinstance(row.get("system"), str):
            used = (*used, "system")
            said = [text_turn("system", row["system"], notes, "system")] if row["system"] else []
            prompt = (*said, *prompt)
    else:
        prompt, reply, used = _read_columns(row, notes)
    if not reply:
        fault = "the conversation ends without the answer that is labelled"
        notes.append(Note("kept", column or "completion", fault, "missing_side"))
    verdict: Verdict = "chosen" if _is_good(row[label]) else "rejected"
    if not isinstance(row[label], bool):
        reason = f"{row[label]!r} was taken for {str(_is_good(row[label])).lower()}"
        notes.append(Note("converted", label, reason, "content_coerced"))
    candidates = (Candidate(reply, verdict),) if reply else ()
    used = (*used, label) if reply else used
    content = content_of(with_tools(row, notes), prompt, notes, used=used)
    return replace(content, candidates=candidates)


def _label(row: dict[str, Any]) -> str | None:
    plain = next((name for name in _LABELS if isinstance(row.get(name), bool)), None)
    if plain or not set(row) <= _WHOLE:
        return plain
    return next((name for name in _LABELS if _is_good(row.get(name)) is not None), None)


def _is_good(label: object) -> bool | None:
    """Return the truth value a label is written for, None where it is none."""
    if isinstance(label, bool):
        return label
    if isinstance(label, int | float):
        return bool(label) if label in (0, 1) else None
    return _WRITTEN.get(label.strip().lower()) if isinstance(label, str) else None


def _list(row: dict[str, Any]) -> str | None:
    return next((name for name in _LISTS if isinstance(row.get(name), list) and row[name]), None)


def _answer(row: dict[str, Any]) -> str | None:
    """Return the column of the answer, where something beside it was asked."""
    if not (isinstance(row.get("prompt"), list) or question_column(row)):
        return None
    return next((name for name in _ANSWERS if name in row), None)


def _read_columns(
    row: dict[str, Any], notes: list[Note]
) -> tuple[tuple[Message, ...], tuple[Message, ...], tuple[str, ...]]:
    column = _answer(row)
    if column is None:
        raise ImportRefused("there are no messages and no completion", place="completion")
    reply = read_answer(row[column], notes, column)
    if isinstance(row.get("prompt"), list):
        return read_answer(row["prompt"], notes, "prompt"), reply, ("prompt", column)
    question = read_question(row, notes)
    return question.messages, reply, (*question.used, column)


FORMAT = RowFormat("kto", "Answers labelled good or bad (KTO)", recognises, read)
