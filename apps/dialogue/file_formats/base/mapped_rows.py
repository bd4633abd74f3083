"""Rows that go through a column mapping instead of being recognised."""

from collections.abc import Mapping
from typing import Any

from apps.dialogue.candidates import Candidate, Verdict
from apps.dialogue.column_mapping import ColumnMapping, MappedRow, apply
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.base.chat_turns import read_turns
from apps.dialogue.file_formats.base.rows import TaskContent, content_of


def read_mapped(mapping: ColumnMapping, row: Mapping[str, Any], notes: list[Note]) -> TaskContent:
    """Read a row by a mapping; raises ``ImportRefused`` naming the place in the mapping."""
    mapped = apply(mapping, row, notes)
    if not mapped.turns:
        raise ImportRefused("the mapping gives no turn for this row", place="conversation")
    messages = read_turns(mapped.turns, notes, place="conversation")
    parts = {"id": mapped.key, "tools": mapped.tools, "tags": mapped.tags}
    given = {name: value for name, value in parts.items() if value is not None}
    content = content_of({**mapped.attributes, **given}, messages, notes)
    candidates = (*_candidates(mapped, "chosen", notes), *_candidates(mapped, "rejected", notes))
    return TaskContent(
        key=content.key,
        messages=content.messages,
        attributes=content.attributes,
        tools=content.tools,
        tags=content.tags,
        candidates=candidates,
    )


def _candidates(mapped: MappedRow, verdict: Verdict, notes: list[Note]) -> list[Candidate]:
    answers = mapped.chosen if verdict == "chosen" else mapped.rejected
    return [
        Candidate(read_turns(turns, notes, place=f"{verdict}[{index}]"), verdict)
        for index, turns in enumerate(answers)
    ]
