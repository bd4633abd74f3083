"""Rows that go through a column mapping instead of being recognised."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from apps.dialogue.candidates import Candidate, Verdict
from apps.dialogue.column_mapping import ColumnMapping, MappedRow, apply
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.base.rows import TaskContent, content_of
from apps.dialogue.file_formats.turns.chat_turns import read_turns
from apps.dialogue.message import Message


def read_mapped(mapping: ColumnMapping, row: Mapping[str, Any], notes: list[Note]) -> TaskContent:
    """Read a row by a mapping; raises ``ImportRefused`` naming the place in the mapping."""
    mapped = apply(mapping, row, notes)
    messages = read_turns(mapped.turns, notes, place="conversation") if mapped.turns else ()
    candidates = (*_candidates(mapped, "chosen", notes), *_candidates(mapped, "rejected", notes))
    if not messages:
        messages, candidates = _shared_start(candidates)
    if not messages:
        raise ImportRefused("the mapping gives no turn for this row", place="conversation")
    parts = {"id": mapped.key, "tools": mapped.tools, "tags": mapped.tags}
    given = {name: value for name, value in parts.items() if value is not None}
    content = content_of({**mapped.attributes, **given}, messages, notes)
    return replace(content, candidates=candidates)


def _candidates(mapped: MappedRow, verdict: Verdict, notes: list[Note]) -> list[Candidate]:
    answers = mapped.chosen if verdict == "chosen" else mapped.rejected
    places = [verdict if len(answers) == 1 else f"{verdict}[{i}]" for i in range(len(answers))]
    return [
        Candidate(read_turns(turns, notes, place=place), verdict)
        for turns, place in zip(answers, places, strict=True)
    ]


def _shared_start(
    candidates: tuple[Candidate, ...],
) -> tuple[tuple[Message, ...], tuple[Candidate, ...]]:
    """Part whole conversations into the turns they begin with alike, and what differs."""
    length = 0
    for turns in zip(*(each.messages[:-1] for each in candidates), strict=False):
        if any(turn != turns[0] for turn in turns):
            break
        length += 1
    rest = tuple(replace(each, messages=each.messages[length:]) for each in candidates)
    return candidates[0].messages[:length] if candidates else (), rest
