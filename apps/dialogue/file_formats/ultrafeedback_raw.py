"""UltraFeedback as published: ``{"instruction", "completions": [{"model", "response"}]}``.

Each completion becomes a candidate with everything that is known of it: principle, system prompt,
scores, critique, ratings.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from apps.dialogue.blocks.json_values import NotJson, json_object, kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Candidate, Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import read_question, text_turn


def recognises(row: dict[str, Any]) -> bool:
    return isinstance(row.get("instruction"), str) and isinstance(row.get("completions"), list)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    completions = row.get("completions")
    if not isinstance(completions, list):
        raise ImportRefused(
            f"must be a list of completions, not {kind_of(completions)}", place="completions"
        )
    question = read_question(row, notes, ("instruction",))
    candidates = tuple(
        _candidate(each, f"completions[{index}]", notes) for index, each in enumerate(completions)
    )
    if candidates:
        notes.append(Note("converted", "completions", f"became candidates ({len(candidates)})"))
    content = content_of(row, question.messages, notes, used=(*question.used, "completions"))
    return replace(content, candidates=candidates)


def _candidate(completion: object, place: str, notes: list[Note]) -> Candidate:
    if not isinstance(completion, dict):
        raise ImportRefused(f"must be an object, not {kind_of(completion)}", place=place)
    response = completion.get("response")
    message = text_turn("assistant", response, notes, f"{place}.response")
    if not message.text.strip():
        notes.append(Note("kept", f"{place}.response", "the answer is empty", "empty_turn"))
    model = completion.get("model")
    model = model if isinstance(model, str) else ""
    gone = ("response", "model") if model else ("response",)
    try:
        detail = json_object({key: v for key, v in completion.items() if key not in gone})
    except NotJson as error:
        raise ImportRefused(error.message, place=f"{place}{error.path}") from None
    for where, value in _unrated(detail):
        fault = f"{value!r:.60} is not a number: kept as it is"
        notes.append(Note("kept", f"{place}{where}", fault, "rating_not_number"))
    return Candidate((message,), "", model, detail)


def _unrated(detail: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Give the places of scores and ratings that are no numbers, with what stands there."""
    for key in ("overall_score", "fine-grained_score"):
        if key in detail and not _is_number(detail[key]):
            yield f".{key}", detail[key]
    annotations = detail.get("annotations")
    for name, annotation in annotations.items() if isinstance(annotations, dict) else ():
        for index, each in enumerate(annotation if isinstance(annotation, list) else [annotation]):
            if isinstance(each, dict) and "Rating" in each and not _is_number(each["Rating"]):
                position = f"[{index}]" if isinstance(annotation, list) else ""
                yield f".annotations.{name}{position}.Rating", each["Rating"]


def _is_number(value: object) -> bool:
    if isinstance(value, str):
        try:
            float(value)
        except ValueError:
            return False
        return True
    return isinstance(value, int | float) and not isinstance(value, bool)


FORMAT = RowFormat("ultrafeedback_raw", "UltraFeedback completions", recognises, read)
