"""Rows in the shapes of providers with anything in any place: read or refused, never a crash."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.dialogue.file_formats import FORMATS, read_tasks
from tests.dialogue.conversations import json_values
from tests.dialogue.file_formats.test_nonsense_rows import places, replaced

PNG = "data:image/png;base64,UE5H"
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"n": 1}'}}
SPOKEN = [
    {"role": "developer", "content": "s"},
    {"role": "user", "content": [{"type": "text", "text": "x"},
                                 {"type": "image_url", "image_url": {"url": PNG}}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_content": "t"},
    {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "r"}]},
    {"role": "assistant", "content": "a", "refusal": None, "weight": 1, "audio": None},
]  # fmt: skip
ITEMS = [
    {"type": "message", "id": "", "role": "user", "content": [{"type": "input_text", "text": "x"}]},
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "t"}]},
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "r"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]},
]
SAMPLES: dict[str, dict[str, Any]] = {
    "openreward": {
        "conversation": [{"role": "user", "blocks": [{"type": "text", "text": "x"}]}],
        "candidates": [{"messages": [{"role": "assistant", "blocks": []}], "verdict": "chosen"}],
        "tools": [{"name": "f"}],
        "tags": ["a"],
    },
    "openai_chat": {
        "id": 7,
        "messages": SPOKEN,
        "tools": [{"type": "function", "function": {"name": "f", "parameters": "{}"}}],
        "images": [PNG],
        "functions": [{"name": "g"}],
    },
    "openai_batch": {
        "custom_id": "r",
        "body": {"input": ITEMS, "instructions": "s", "tools": [{"name": "f"}]},
    },
    "openai_responses": {"object": "response", "instructions": "s", "output": ITEMS[1:]},
    "open_responses_trace": {
        "items": ITEMS,
        "metadata": {"source_type": "turnwright", "trace_id": "k", "tags": ["a"],
                     "extra": {"task": {"attributes": {"a": 1}, "tools": [{"name": "f"}]}}},
        "events": None,
    },
    "openai_evals": {"input": SPOKEN[:2], "ideal": ["x"]},
    "prompt_completion": {"prompt": "Q ->", "completion": " A END"},
    "role_text": {"conversation": [{"role": "user", "text": "x"}]},
    "anthropic": {
        "system": [{"type": "text", "text": "s"}],
        "messages": [
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "t", "signature": "s"},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c", "content": [
                    {"type": "text", "text": "r"}]},
                {"type": "image", "source": {
                    "type": "base64", "media_type": "image/png", "data": "UE5H"}}]},
        ],
    },
    "google": {
        "system_instruction": {"parts": [{"text": "s"}]},
        "contents": [
            {"role": "model", "parts": [
                {"text": "t", "thought": True}, {"functionCall": {"name": "f", "args": {}}}]},
            {"role": "user", "parts": [
                {"functionResponse": {"name": "f", "response": {"output": "r"}}},
                {"inlineData": {"mimeType": "image/png", "data": "UE5H"}}]},
        ],
    },
    "mt_bench": {"question_id": 1, "turns": ["x", "y"], "reference": ["r"]},
}  # fmt: skip

nonsense = json_values | st.sampled_from(
    [
        "", " {", "[]", "{}{}", "user", "data:image/png;base64,", {"type": ["x"]}, [None], [[]],
        {"type": "text"}, {"role": "user"}, {"parts": [1]}, 10**30, -1, {"name": "f"}, "<image>",
    ]
)  # fmt: skip


def read(rows: list[Any], name: str) -> None:
    data = b"\n".join(json.dumps(row).encode() for row in rows)
    for each in read_tasks([data], format=name):
        refused = [note for note in each.notes if note.kind == "refused"]
        assert (each.task is None) == bool(refused)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_the_samples_are_what_they_are_called(name: str) -> None:
    (each,) = read_tasks([json.dumps(SAMPLES[name]).encode()])
    assert each.format == name
    assert each.task is not None


@settings(max_examples=80)
@pytest.mark.parametrize("name", sorted(SAMPLES))
@given(st.data())
def test_any_value_in_any_place_is_read_or_refused(name: str, data: st.DataObject) -> None:
    changed = SAMPLES[name]
    for _ in range(data.draw(st.integers(1, 2))):
        found = places(changed)[1:]
        if not found:
            break
        changed = replaced(changed, data.draw(st.sampled_from(found)), data.draw(nonsense))
    read([SAMPLES[name], changed], "auto")
    read([changed], name)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_reader_leaves_its_row_as_it_was(name: str) -> None:
    row = copy.deepcopy(SAMPLES[name])
    FORMATS[name].read(row, [])
    assert row == SAMPLES[name]
