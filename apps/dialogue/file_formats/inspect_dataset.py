"""Inspect AI's samples: ``{"input": text or messages, "target", "id", "choices", "metadata"}``.

What ``json_dataset`` reads without a mapping of fields (inspect_ai/dataset/_util.py).
"""

from dataclasses import replace
from typing import Any

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import (
    Loss,
    Note,
    RowFormat,
    TaskContent,
    check_written,
    content_of,
    row_of,
)
from apps.dialogue.file_formats.turns import (
    PlacedTurn,
    decoded,
    inspect_turns,
    read_placed_turns,
    write_inspect_messages,
)

_FIELDS = ("choices", "sandbox", "files", "setup")
"""Fields of a sample beside its input, target, id and metadata."""


def recognises(row: dict[str, Any]) -> bool:
    return (
        isinstance(row.get("input"), str | list)
        and ("target" in row or "choices" in row)
        and not any(key in row for key in ("instruction", "output", "expectedOutput"))
    )


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    asked = row.get("input")
    kept = _spread(row, notes)
    if isinstance(asked, str) and asked:
        # The text stays an attribute too: templates ask for it by its name.
        notes.append(Note("converted", "input", "the text became a user message"))
        turns = [PlacedTurn("input", {"role": "user", "content": asked})]
        return content_of({**kept, "input": asked}, read_placed_turns(turns, notes), notes)
    if not isinstance(asked, list) or not asked:
        fault = f"must be a text or a list of messages, not {kind_of(asked)}"
        raise ImportRefused(
            "the sample has no input" if not asked else fault,
            place="input",
            code="" if asked else "empty_conversation",
        )
    messages = read_placed_turns(inspect_turns(asked, notes, "input"), notes)
    return content_of(kept, messages, notes)


def write(task: TaskContent, losses: list[Loss]) -> list[dict[str, Any]]:
    """Write a sample: attributes that are no fields of samples, and tags, are its metadata.

    A sample has an input and a target. A text as input and an empty target come back as attributes:
    the task gains them and loses nothing, so they are no losses. Written again it is the same row.
    """
    if not task.messages:
        losses.append(Loss("messages", "a sample needs an input"))
        return []
    asked = _input(task, losses)
    attributes = {k: v for k, v in task.attributes.items() if k != "input" or v != asked}
    written = replace(task, attributes=attributes)
    row = row_of(written, {"input": asked}, losses, reserved=("conversation",))
    row.setdefault("target", "")
    _check_target(row["target"], losses)
    fields = ("id", "input", "target", *_FIELDS)
    metadata = {name: row.pop(name) for name in list(row) if name not in fields}
    if metadata:
        row["metadata"] = metadata
    if task.tools:
        losses.append(Loss("tools", "samples name no tools; a task of Inspect has them"))
    check_written(task, row, read, losses)
    return [row]


def _spread(row: dict[str, Any], notes: list[Note]) -> dict[str, Any]:
    """Return the row without its input, the keys of its metadata as keys of its own.

    Keys that are taken stay under ``metadata``.
    """
    kept = {name: value for name, value in row.items() if name != "input"}
    given = row.get("metadata")
    metadata = decoded(given)
    if not isinstance(metadata, dict) or not metadata:
        return kept
    if isinstance(given, str):
        notes.append(Note("converted", "metadata", "the JSON text was read", "stringified_json"))
    taken = {*kept, "conversation"} - {"metadata"}
    if isinstance(row.get("input"), str):
        taken.add("input")
    stays = {name: value for name, value in metadata.items() if name in taken}
    spread = {name: value for name, value in metadata.items() if name not in taken}
    if stays and "metadata" in spread:
        return kept
    del kept["metadata"]
    if spread:
        notes.append(Note("converted", "metadata", "its keys became attributes"))
    return {**kept, **({"metadata": stays} if stays else {}), **spread}


def _input(task: TaskContent, losses: list[Loss]) -> str | list[dict[str, Any]]:
    written = write_inspect_messages(task.messages, losses)
    only = written[0]
    if len(written) == 1 and only["role"] == "user" and isinstance(only["content"], str):
        return only["content"]
    return written


def _check_target(target: object, losses: list[Loss]) -> None:
    each = target if isinstance(target, list) else [target]
    if not all(isinstance(one, str | int | float) or one is None for one in each):
        losses.append(Loss("attributes.target", "a target is a text or a list of texts"))


FORMAT = RowFormat("inspect_dataset", "Inspect AI samples", recognises, read, write)
