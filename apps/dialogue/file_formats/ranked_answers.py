"""Several answers to one prompt, ranked: ``{"prompt", "answers": [{"answer", "model", "rank"}]}``.

Nectar has them so, its prompt a transcript. Each answer becomes a candidate with all that is known
of it; none is chosen or rejected, for a rank alone does not say where good ends.
"""

from dataclasses import replace
from typing import Any, Final

from apps.dialogue.blocks.json_values import NotJson, json_object, kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Candidate, Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import (
    Question,
    question_column,
    read_answer,
    read_question,
    split_prompt,
    text_turn,
)

_LISTS: Final = ("answers", "responses")
_TEXTS: Final = ("answer", "response", "text", "content")
_ASKED: Final = ("prompt", "question", "instruction", "query")


def recognises(row: dict[str, Any]) -> bool:
    return _column(row) is not None and (
        _has_turns(row) or question_column(row, _ASKED) is not None
    )


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    column = _column(row)
    if column is None:
        raise ImportRefused("there is no list of answers", place="answers")
    if _has_turns(row):
        question = Question(read_answer(row["prompt"], notes, "prompt"), ("prompt",))
    else:
        question = read_question(row, notes, _ASKED)
    messages = split_prompt(question.messages, notes)
    candidates = tuple(
        _candidate(each, f"{column}[{index}]", notes) for index, each in enumerate(row[column])
    )
    notes.append(Note("converted", column, f"became candidates ({len(candidates)})"))
    content = content_of(row, messages, notes, used=(*question.used, column))
    return replace(content, candidates=candidates)


def _column(row: dict[str, Any]) -> str | None:
    return next((name for name in _LISTS if _are_answers(row.get(name))), None)


def _are_answers(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(each, dict) and _text_key(each) is not None for each in value)
        and any("rank" in each or "model" in each or "score" in each for each in value)
    )


def _text_key(answer: dict[str, Any]) -> str | None:
    return next((key for key in _TEXTS if isinstance(answer.get(key), str)), None)


def _has_turns(row: dict[str, Any]) -> bool:
    return isinstance(row.get("prompt"), list) and bool(row["prompt"])


def _candidate(answer: object, place: str, notes: list[Note]) -> Candidate:
    key = _text_key(answer) if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or key is None:
        raise ImportRefused(f"must be an answer with a text, not {kind_of(answer)}", place=place)
    message = text_turn("assistant", answer[key], notes, f"{place}.{key}")
    if not message.text.strip():
        notes.append(Note("kept", f"{place}.{key}", "the answer is empty", "empty_turn"))
    model = answer["model"] if isinstance(answer.get("model"), str) else ""
    gone = (key, "model") if model else (key,)
    try:
        detail = json_object({name: value for name, value in answer.items() if name not in gone})
    except NotJson as error:
        raise ImportRefused(error.message, place=f"{place}{error.path}") from None
    return Candidate((message,), "", model, detail)


FORMAT = RowFormat("nectar", "Ranked answers to a prompt (Nectar)", recognises, read)
