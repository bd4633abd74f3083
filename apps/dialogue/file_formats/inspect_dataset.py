"""Inspect AI's samples: ``{"input": text or messages, "target", "id", "choices", "metadata"}``.

What ``json_dataset`` reads without a mapping of fields (inspect_ai/dataset/_util.py).
"""

from typing import Any

from apps.dialogue.blocks.json_values import json_copy, kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import (
    Loss,
    Note,
    PlacedTurn,
    RowFormat,
    TaskContent,
    check_written,
    content_of,
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
    kept = dict(row)
    metadata = decoded(row.get("metadata"))
    if isinstance(metadata, dict) and isinstance(row.get("metadata"), str):
        notes.append(Note("converted", "metadata", "the JSON text was read", "stringified_json"))
        kept["metadata"] = metadata
    if isinstance(asked, str) and asked:
        # The text stays an attribute too: templates ask for it by its name.
        notes.append(Note("converted", "input", "the text became a user message"))
        turns = [PlacedTurn("input", {"role": "user", "content": asked})]
        return content_of(kept, read_placed_turns(turns, notes), notes)
    if not isinstance(asked, list) or not asked:
        fault = f"must be a text or a list of messages, not {kind_of(asked)}"
        raise ImportRefused(
            "the sample has no input" if not asked else fault,
            place="input",
            code="" if asked else "empty_conversation",
        )
    messages = read_placed_turns(inspect_turns(asked, notes, "input"), notes)
    return content_of(kept, messages, notes, used=("input",))


def write(task: TaskContent, losses: list[Loss]) -> list[dict[str, Any]]:
    """Write a sample: every attribute that is no field of samples goes into its metadata."""
    if not task.messages:
        losses.append(Loss("messages", "a sample needs an input"))
        return []
    row: dict[str, Any] = {"input": _input(task, losses), "target": _target(task, losses)}
    if task.key is not None:
        row["id"] = task.key
    row |= {key: json_copy(task.attributes[key]) for key in _FIELDS if key in task.attributes}
    if metadata := _metadata(task, row["input"], losses):
        row["metadata"] = metadata
    if task.tools:
        losses.append(Loss("tools", "samples name no tools; a task of Inspect has them"))
    if task.candidates:
        losses.append(Loss("candidates", "samples have no place for candidates"))
    check_written(task, row, read, losses)
    return [row]


def _input(task: TaskContent, losses: list[Loss]) -> str | list[dict[str, Any]]:
    written = write_inspect_messages(task.messages, losses)
    only = written[0]
    if len(written) == 1 and only["role"] == "user" and isinstance(only["content"], str):
        return only["content"]
    return written


def _target(task: TaskContent, losses: list[Loss]) -> Any:
    target = task.attributes.get("target")
    each = target if isinstance(target, list) else [target]
    if target is None:
        return ""
    if not all(isinstance(one, str | int | float) for one in each):
        losses.append(Loss("attributes.target", "a target is a text or a list of texts"))
    return json_copy(target)


def _metadata(task: TaskContent, asked: object, losses: list[Loss]) -> dict[str, Any]:
    given = task.attributes.get("metadata")
    metadata: dict[str, Any] = json_copy(given) if isinstance(given, dict) else {}
    for name, value in task.attributes.items():
        said_already = name == "input" and value == asked
        if (
            name in ("target", *_FIELDS)
            or said_already
            or (name == "metadata" and given is not None and isinstance(given, dict))
        ):
            continue
        if name in metadata:
            fault = "the metadata has a key of this name too"
            losses.append(Loss(f"attributes.{name}", fault))
        else:
            metadata[name] = json_copy(value)
    if task.tags:
        if "tags" in metadata:
            losses.append(Loss("tags", "an attribute of this name is in the metadata"))
        else:
            metadata["tags"] = list(task.tags)
    return metadata


FORMAT = RowFormat("inspect_dataset", "Inspect AI samples", recognises, read, write)
