"""What a row holds beyond its format is in its task, or a note says so: every handed sample."""

import copy
import io
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from apps.dialogue.file_formats import ReadRow, TaskContent, read_tasks
from apps.dialogue.message import conversation_to_wire

FILES = Path(__file__).parents[2] / "kits/cases/files"
MARK = "mark-of-what-is-unknown"

WRAPPINGS: dict[str, set[str]] = {
    # The nodes of a tree and the shells of LangChain say how a file is built, not what was said.
    "chatgpt_export.json": {
        "mapping.*", "mapping.*.message.author", "mapping.*.message.author.metadata",
        "mapping.*.message.content", "mapping.*.message.metadata",
    },
    "openwebui_export.json": {"chat.history", "chat.history.messages.*.output.[].content.[]"},
    "langsmith_examples.jsonl": {
        "inputs.messages.[]", "outputs.generations.[].[].message",
    },
    # A log is more than its samples; a span that is no generation is told by its number.
    "inspect_log.json": {
        "eval.config", "plan", "results", "stats", "stats.model_usage", "samples.[].input.[]",
        "samples.[].output", "samples.[].output.choices.[]",
        "samples.[].output.choices.[].message", "samples.[].attachments",
    },
    "langfuse_observations.json": {"", "input"},
    # How a provider keeps its cache is no part of a conversation.
    "anthropic_messages.jsonl": {"system.[].cache_control"},
}  # fmt: skip
"""Objects whose unknown keys are not read, by the file and the place in a row."""


def documents(path: Path) -> list[Any]:
    """Return the JSON values of a sample: one a line, or the elements of the only one."""
    text = path.read_text("utf-8")
    try:
        whole = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.split("\n") if line.strip()]
    return whole if isinstance(whole, list) else [whole]


SAMPLES = sorted(path for path in FILES.glob("*.json*") if path.name != "manifest.json")


def as_lines(rows: list[Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def read(rows: list[Any]) -> list[ReadRow]:
    return list(read_tasks(io.BytesIO(as_lines(rows)), file_name="x.jsonl"))


def told(rows: list[ReadRow]) -> str:
    """Return all that tasks and notes hold, as one text."""
    said = [note.place + " " + note.message for row in rows for note in row.notes]
    return "\n".join([*said, *(_whole(row.task) for row in rows if row.task)])


def _whole(task: TaskContent) -> str:
    candidates = [
        [conversation_to_wire(each.messages), each.verdict, each.model, each.detail]
        for each in task.candidates
    ]
    return json.dumps(
        [task.key, conversation_to_wire(task.messages), task.attributes, task.tools, task.tags,
         candidates],
        ensure_ascii=False,
    )  # fmt: skip


def objects(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inner:
        if isinstance(each, dict | list):
            yield from objects(each, (*path, key))


def general(path: tuple[Any, ...], names: set[str]) -> str:
    """Return a place without the numbers of lists and the ids of nodes."""
    steps = ["[]" if isinstance(step, int) else step for step in path[1:]]
    star = [
        "*" if before in ("mapping", "messages") and step in names else step
        for before, step in zip(["", *steps], steps, strict=False)
    ]
    return ".".join(star)


def nodes(rows: list[Any]) -> set[str]:
    """Return the ids under which the exports of chats keep their messages."""
    found: set[str] = set()
    for path in objects(rows):
        for before, step in pairwise(path):
            if before in ("mapping", "messages") and isinstance(step, str):
                found.add(step)
    return found


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_a_key_that_nobody_knows_is_kept_wherever_it_stands(path: Path) -> None:
    rows = documents(path)
    known = WRAPPINGS.get(path.name, set())
    names = nodes(rows)
    for place in objects(rows):
        if general(place, names) in known or not place:
            continue
        changed = copy.deepcopy(rows)
        inner = changed
        for step in place:
            inner = inner[step]
        inner[MARK] = "x"
        outcome = read(changed)
        assert MARK in told(outcome) or _is_refused(outcome, place[0]), place


def _is_refused(outcome: list[ReadRow], row: int) -> bool:
    """Whether the row, which stands on its own line, came back with the reason alone."""
    return all(each.task is None for each in outcome if each.line == row + 1)
