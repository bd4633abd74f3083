"""HH-RLHF: two texts, chosen and rejected, like ``\\n\\nHuman: Why?\\n\\nAssistant: So.``

A turn begins where a paragraph begins with a marker. A marker inside a sentence is text. Turns of
the same speaker may follow one another, and a turn may be empty: both stand in the real files.
"""

from dataclasses import replace
from typing import Any

from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import (
    Pair,
    Side,
    is_transcript,
    pair_candidates,
    read_transcript,
    split_pair,
)


def recognises(row: dict[str, Any]) -> bool:
    sides = row.get("chosen"), row.get("rejected")
    return (
        "chosen" in row
        and "rejected" in row
        and row.get("prompt") is None
        and all(isinstance(side, str | None) for side in sides)
        and any(isinstance(side, str) and is_transcript(side) for side in sides)
    )


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    chosen = Side("chosen", "chosen", read_transcript(row.get("chosen"), notes, "chosen"))
    rejected = Side("rejected", "rejected", read_transcript(row.get("rejected"), notes, "rejected"))
    prompt, pair = split_pair(Pair(chosen, rejected, ("chosen", "rejected")))
    candidates = pair_candidates(pair, notes)
    content = content_of(row, prompt, notes, used=("chosen", "rejected", "prompt"))
    return replace(content, candidates=candidates)


FORMAT = RowFormat("hh_rlhf", "HH-RLHF transcripts", recognises, read)
