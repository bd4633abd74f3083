"""No input crashes the reading of files: samples of every format, changed at random."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from apps.dialogue.blocks.json_values import text_fault
from apps.dialogue.file_formats import ReadRow, read_tasks
from apps.dialogue.message import conversation_to_wire, parse_conversation

FILES = Path(__file__).parents[2] / "kits/cases/files"
SAMPLES = sorted(
    path
    for path in FILES.rglob("*")
    if path.is_file() and path.name != "manifest.json" and path.stat().st_size < 20_000
)
ODD: list[Any] = [
    None, True, 0, -1, 1.5, 10**30, "", " ", "x", "[]", "{}", "[{", [], [[]], [None], {}, {"": ""},
    '[{"role": "user"}]', [{}], ["a"], {"role": "user"}, {"type": "text"},
    [{"role": "tool", "content": [1]}],
    {"role": "assistant", "tool_calls": [{}]}, "\ud800", "nul\0", "system", "<|im_start|>user\n",
    "\n\nHuman: ", {"a": {"b": {"c": []}}}, "attachment://x", "data:image/png;base64,AAAA",
]  # fmt: skip
PIECES = [
    b"", b"\n", b"{", b"}", b"[", b"]", b",", b'"', b"\\", b"\0", b"\xff", b"\xef\xbb\xbf", b"null",
    b"NaN", b"-", b"1e999", b"\\ud800", b"\r", b"\t", b"'", b":", b"```", b"User: ", b"=1",
    b"PK\x03\x04",
]  # fmt: skip


def changed_bytes(data: bytes, random: Random) -> bytes:
    for _ in range(random.randint(1, 4)):
        at = random.randint(0, len(data))
        data = data[:at] + random.choice(PIECES) + data[at + random.choice((0, 0, 1, 5, 50)) :]
    return data


def changed_value(value: Any, random: Random) -> Any:
    """Change one thing somewhere in a JSON value."""
    if not isinstance(value, dict | list) or not value or random.random() < 0.15:
        return random.choice(ODD)
    if isinstance(value, list):
        copy = list(value)
        at = random.randrange(len(copy))
        match random.randrange(5):
            case 0:
                del copy[at]
            case 1:
                copy.insert(at, random.choice([*copy, *ODD]))
            case _:
                copy[at] = changed_value(copy[at], random)
        return copy
    key = random.choice(list(value))
    match random.randrange(6):
        case 0:
            return {name: each for name, each in value.items() if name != key}
        case 1:
            return {
                **value,
                random.choice(["id", "role", "", "messages", "tools"]): random.choice(ODD),
            }
        case _:
            return {**value, key: changed_value(value[key], random)}


def changed_rows(data: bytes, random: Random) -> bytes:
    """Change the JSON of a sample; one that is none is changed as bytes."""
    try:
        try:
            value = json.loads(data)
        except ValueError:
            values = [json.loads(line) for line in data.split(b"\n") if line.strip()]
            for _ in range(random.randint(1, 3)):
                values = changed_value(values, random) if values else values
            return "\n".join(json.dumps(each) for each in list(values or ())).encode()
        for _ in range(random.randint(1, 3)):
            value = changed_value(value, random)
        return json.dumps(value).encode()
    except (ValueError, TypeError):
        return changed_bytes(data, random)


def check(row: ReadRow) -> None:
    refused = [note for note in row.notes if note.kind == "refused"]
    assert (row.task is None) == bool(refused), row
    for note in row.notes:
        assert not text_fault(note.message + note.place + note.code), note
    if row.task is None:
        return
    assert parse_conversation(conversation_to_wire(row.task.messages)) == row.task.messages
    assert row.roles
    json.dumps(row.task.attributes, allow_nan=False).encode()
    for candidate in row.task.candidates:
        assert parse_conversation(conversation_to_wire(candidate.messages)) == candidate.messages


@pytest.mark.parametrize("change", [changed_rows, changed_bytes])
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: str(path.relative_to(FILES)))
def test_a_changed_sample_is_read_or_refused(
    path: Path, change: Callable[[bytes, Random], bytes]
) -> None:
    random = Random(f"{path.name} {change.__name__}")
    data = path.read_bytes()
    for _ in range(40):
        name = random.choice([path.name, path.name, "", "x.jsonl", "x.csv", "x.txt"])
        changed = change(data, random)
        for row in read_tasks([changed], file_name=name):
            check(row)
