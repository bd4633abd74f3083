"""Rows of verifiers: ``{"prompt" or "question", "answer", "info", "task", "completion"?}``.

A dataset's row is a prompt with what its rewards need; a row of results has the completion of a
model and its reward too, which become a candidate.
"""

from typing import Any, Final

from apps.dialogue.blocks.json_values import json_copy
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Candidate, Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import (
    PlacedTurn,
    as_tools,
    decoded,
    placed,
    plain_turns,
    read_placed_turns,
)

_OWN: Final = ("info", "task", "example_id", "reward", "rollout_id")
_OTHERS: Final = ("chosen", "rejected", "label", "messages", "conversation", "conversations")
_RATED: Final = ("reward", "metrics", "advantage", "stop_condition", "is_truncated", "error")


def recognises(row: dict[str, Any]) -> bool:
    if any(key in row for key in _OTHERS):
        return False
    prompt = row.get("prompt")
    if plain_turns(prompt):
        return "answer" in row or any(key in row for key in _OWN)
    # A question and its answer alone may be a pair of anything.
    if isinstance(row.get("question"), str) and "answer" in row:
        return "info" in row or "task" in row
    return isinstance(prompt, str) and "answer" in row and ("info" in row or "task" in row)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    column = next((key for key in ("prompt", "question") if row.get(key) not in (None, "", [])), "")
    prompt = row.get(column)
    kept = dict(row)
    if asked := plain_turns(prompt):
        kept.pop(column)
        turns = placed(asked, column)
    elif isinstance(prompt, str):
        notes.append(Note("converted", column, "the text became a user message"))
        turns = [PlacedTurn(column, {"role": "user", "content": prompt})]
    else:
        raise ImportRefused(
            "there is no prompt: a list of messages, or a text", place=column or "prompt"
        )
    info = decoded(row.get("info"))
    if isinstance(info, dict) and isinstance(row.get("info"), str):
        notes.append(Note("converted", "info", "the JSON text was read", "stringified_json"))
        kept["info"] = info
    offered = info.get("oai_tools") if isinstance(info, dict) else None
    if tools := as_tools(row.get("tools")) or as_tools(offered):
        kept["tools"] = tools
    if row.get("id") in (None, "") and row.get("example_id") is not None:
        kept["id"] = _rollout(row)
    messages = read_placed_turns(turns, notes)
    candidates = _candidates(row, kept, notes)
    content = content_of(kept, messages, notes)
    return TaskContent(
        content.key, content.messages, content.attributes, content.tools, content.tags, candidates
    )


def _rollout(row: dict[str, Any]) -> Any:
    """Return a key for a row: the example's; a rollout of it has the rollout's behind."""
    rollout = row.get("rollout_id")
    return row["example_id"] if rollout is None else f"{row['example_id']}-{rollout}"


def _candidates(
    row: dict[str, Any], kept: dict[str, Any], notes: list[Note]
) -> tuple[Candidate, ...]:
    """Read the completion of a row of results as a candidate with its reward."""
    completion = row.get("completion")
    if answered := plain_turns(completion):
        turns = placed(answered, "completion")
    elif isinstance(completion, str) and completion:
        turns = [PlacedTurn("completion", {"role": "assistant", "content": completion})]
    else:
        return ()
    messages = read_placed_turns(turns, notes)
    detail = {name: json_copy(kept.pop(name)) for name in _RATED if kept.get(name) is not None}
    kept.pop("completion")
    model = row.get("model")
    notes.append(Note("kept", "completion", "the completion became a candidate", "candidate"))
    return (Candidate(messages, "", model if isinstance(model, str) else "", detail),)


FORMAT = RowFormat("verifiers", "verifiers rows", recognises, read)
