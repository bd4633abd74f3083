"""MT-Bench answers: ``{"question_id", "answer_id", "model_id", "choices": [{"index", "turns"}]}``.

They are answers alone. What was asked stands in the question file, with the same ``question_id``.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, Row, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import text_turn


def recognises(row: dict[str, Any]) -> bool:
    return "question_id" in row and _is_list_of_choices(row.get("choices"))


def expand(row: Row) -> Iterator[Row]:
    """Give a row for each choice: several were sampled for one question."""
    choices = row.value.get("choices")
    if not isinstance(choices, list) or len(choices) < 2:
        yield row
        return
    note = Note("converted", "choices", f"{len(choices)} choices became as many rows", "choices")
    for index, choice in enumerate(choices):
        value = {**row.value, "choices": [choice], "id": _key(row.value, index)}
        yield replace(row, value=value, notes=(*row.notes, note) if index == 0 else row.notes)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    choices: Any = row.get("choices")
    if not _is_list_of_choices(choices) or len(choices) != 1:
        raise ImportRefused("must be a list of one choice with turns", place="choices")
    choice = choices[0]
    turns = choice["turns"]
    if not isinstance(turns, list):
        raise ImportRefused(
            f"must be a list of texts, not {kind_of(turns)}", place="choices[0].turns"
        )
    messages = [
        text_turn("assistant", turn, notes, f"choices[0].turns[{index}]")
        for index, turn in enumerate(turns)
    ]
    fault = "these are answers alone: what was asked stands in the question file"
    notes.append(Note("kept", "choices", fault, "needs_question_file"))
    rest = {f"choice_{key}": value for key, value in choice.items() if key != "turns"}
    given = {**row, **rest} if row.get("id") else {**row, **rest, "id": _key(row, 0)}
    return content_of(given, messages, notes, used=("choices",))


def _is_list_of_choices(choices: Any) -> bool:
    return (
        isinstance(choices, list)
        and bool(choices)
        and all(isinstance(choice, dict) and "turns" in choice for choice in choices)
    )


def _key(row: dict[str, Any], index: int) -> Any:
    """Return the id of the answer: models answer the same questions."""
    key = row.get("answer_id")
    if not isinstance(key, str) or not key:
        key = "-".join(
            str(row[name])
            for name in ("question_id", "model_id")
            if isinstance(row.get(name), str | int)
        )
    return f"{key}-{index}" if index else key


FORMAT = RowFormat("mt_bench_answer", "MT-Bench answers", recognises, read, expand=expand)
