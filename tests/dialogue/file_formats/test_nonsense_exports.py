"""Whatever stands in an export of an application, it is read or refused; nothing crashes."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.dialogue.file_formats import FORMATS
from tests.dialogue.conversations import json_values
from tests.dialogue.file_formats.test_nonsense_rows import places, read, replaced

CHAT = [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}]
LC = [{"lc": 1, "id": ["x", "HumanMessage"], "kwargs": {"content": "Q", "tool_calls": []}},
      {"type": "ai", "data": {"content": [{"type": "text", "text": "A"}],
                              "tool_calls": [{"name": "f", "args": {}, "id": "k"}]}}]  # fmt: skip
HTML = (
    '<details type="reasoning"><summary>s</summary>&gt; r</details>'
    '<details type="tool_calls" name="f" arguments="{}" result="1"></details>A'
)
SAMPLES: dict[str, list[dict[str, Any]]] = {
    "chatgpt_export": [
        {
            "title": "T",
            "id": "c",
            "current_node": "d",
            "mapping": {
                "a": {"parent": None, "children": ["b", "c"], "message": None},
                "b": {
                    "parent": "a",
                    "message": {
                        "author": {"role": "user"},
                        "content": {"content_type": "multimodal_text", "parts": ["Q", {"x": 1}]},
                        "metadata": {"is_visually_hidden_from_conversation": False},
                    },
                },
                "c": {
                    "parent": "b",
                    "message": {
                        "author": {"role": "assistant"},
                        "recipient": "python",
                        "content": {"content_type": "code", "language": "python", "text": "1"},
                    },
                },
                "d": {
                    "parent": "c",
                    "message": {
                        "author": {"role": "tool", "name": "python"},
                        "content": {"content_type": "execution_output", "text": "1"},
                        "metadata": {"aggregate_result": {"status": "failed"}},
                    },
                },
                "e": {
                    "parent": "b",
                    "message": {
                        "author": {"role": "assistant"},
                        "content": {"content_type": "thoughts", "thoughts": [{"content": "hm"}]},
                    },
                },
            },
        },
    ],
    "claude_export": [
        {
            "uuid": "c",
            "chat_messages": [
                {"uuid": "1", "sender": "human", "text": "Q", "attachments": [{"file_name": "f"}]},
                {
                    "uuid": "2",
                    "parent_message_uuid": "1",
                    "sender": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "hm"},
                        {"type": "tool_use", "name": "f", "input": {"x": 1}},
                        {"type": "tool_result", "name": "f", "content": [{"type": "text"}]},
                        {"type": "text", "text": "A", "citations": []},
                    ],
                },
                {"uuid": "3", "parent_message_uuid": "1", "sender": "assistant", "text": "B"},
            ],
        }
    ],
    "openwebui_export": [
        {
            "id": "w",
            "chat": {
                "params": {"system": "S"},
                "history": {
                    "currentId": "b",
                    "messages": {
                        "a": {"role": "user", "content": "Q", "files": [{"url": "x"}]},
                        "b": {"role": "assistant", "parentId": "a", "content": HTML},
                        "c": {
                            "role": "assistant",
                            "parentId": "a",
                            "output": [
                                {"type": "reasoning", "content": [{"text": "r"}]},
                                {"type": "function_call", "name": "f", "arguments": "{}"},
                                {"type": "function_call_output", "output": [{"text": "1"}]},
                                {"type": "open_webui:code_interpreter", "code": "1", "output": "1"},
                            ],
                        },
                    },
                },
            },
        },
        {"chat": {"messages": CHAT}},
    ],
    "librechat_export": [
        {
            "conversationId": "l",
            "options": {"promptPrefix": "S"},
            "messages": [
                {
                    "messageId": "1",
                    "isCreatedByUser": True,
                    "text": "Q",
                    "children": [
                        {
                            "messageId": "2",
                            "isCreatedByUser": False,
                            "content": [
                                {"type": "think", "think": "hm"},
                                {"type": "tool_call", "tool_call": {"name": "f", "output": "1"}},
                                {"type": "text", "text": {"value": "A"}},
                            ],
                        },
                        {"messageId": "3", "isCreatedByUser": False, "text": "B"},
                    ],
                }
            ],
        }
    ],
    "langsmith_examples": [
        {"inputs": {"messages": [LC], "tools": []}, "outputs": {"generations": [[{"text": "A"}]]}},
        {"inputs": {"question": "Q"}, "outputs": {"answer": "A"}},
    ],
    "langsmith_runs": [
        {"run_id": "r", "trace_id": "t", "run_type": "llm", "inputs": {"messages": [LC]},
         "outputs": {"output": CHAT[1]}, "dotted_order": "2", "error": None,
         "extra": {"invocation_params": {"tools": []}}},
    ],
    "langfuse_items": [
        {"input": {"messages": CHAT}, "expectedOutput": "A", "status": "ARCHIVED", "metadata": "{}"}
    ],
    "langfuse_observations": [
        {"id": "o", "traceId": "t", "type": "GENERATION", "input": CHAT, "output": CHAT[1],
         "startTime": "1"},
        {"id": "t", "observations": [{"type": "GENERATION", "input": CHAT}]},
    ],
    "inspect_log": [
        {
            "version": 2,
            "status": "success",
            "eval": {"task": "t", "config": {"epochs": 1}},
            "samples": [
                {
                    "id": 1,
                    "epoch": 1,
                    "messages": [
                        {"role": "user", "content": "attachment://x"},
                        {
                            "role": "assistant",
                            "content": [{"type": "reasoning", "reasoning": "r", "redacted": True}],
                            "tool_calls": [{"id": "k", "function": "f", "arguments": {}}],
                        },
                        {"role": "tool", "tool_call_id": "k", "error": {"type": "t"}},
                    ],
                    "attachments": {"x": "Q"},
                },
                {
                    "id": 2,
                    "message_pool": CHAT,
                    "events": [{"event": "model", "input_refs": [[0, 1]], "tools": [],
                                "output": {"choices": [{"message": CHAT[1]}]}}],
                },
            ],
        }
    ],
    "inspect_dataset": [
        {"input": CHAT, "target": ["A"], "id": 1, "metadata": {"x": 1, "target": 2}},
        {"input": "Q", "target": "A", "metadata": "{}"},
    ],
    "label_studio": [
        {
            "id": 1,
            "data": {"chat": CHAT[:1]},
            "annotations": [
                {"result": [{"type": "chatmessage", "value": {"chatmessage": CHAT[1]}}]},
                {"result": [{"type": "chatmessage", "value": {"chatmessage": CHAT[1]}}]},
            ],
        },
        {"data": {"d": [{"author": "Ann", "text": "Q"}, {"author": "Bot", "text": "A"}]}},
    ],
    "argilla_records": [
        {"fields": {"chat": CHAT}, "responses": {}},
        {"fields": {"prompt": "Q", "response": "A"}, "suggestions": {}},
    ],
    "verifiers": [
        {"prompt": CHAT[:1], "completion": CHAT[1:], "answer": "A", "reward": 1.0, "info": "{}"},
        {"question": "Q", "answer": "A", "info": {"oai_tools": [{"name": "f"}]}},
    ],
    "templated_text": [
        {"text": "<|im_start|>user\nQ<|im_end|><|im_start|>assistant\nA<|im_end|>"},
        {"text": "<s>[INST] Q [/INST] A</s>"},
    ],
}  # fmt: skip
ALL = [(name, row) for name, rows in SAMPLES.items() for row in rows]

rows_of_anything = st.dictionaries(
    st.sampled_from(sorted({key for _, row in ALL for key in row})), json_values, max_size=5
)


@settings(max_examples=30)
@pytest.mark.parametrize(("name", "row"), ALL)
@given(st.data())
def test_any_value_in_any_place_is_read_or_refused(
    name: str, row: dict[str, Any], data: st.DataObject
) -> None:
    changed = row
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(changed)[1:] or [("id",)]))
        changed = replaced(changed, path, data.draw(json_values))
    read([row, changed])
    read([row, changed], name)


@settings(max_examples=40)
@pytest.mark.parametrize("name", sorted(SAMPLES))
@given(rows_of_anything)
def test_any_row_may_be_forced_into_any_format(name: str, row: dict[str, Any]) -> None:
    assert name in FORMATS
    read([row, {"id": "k"}], name)


@pytest.mark.parametrize(("name", "row"), ALL)
def test_the_samples_are_what_they_are_called(name: str, row: dict[str, Any]) -> None:
    recognised = next(each for each in FORMATS.values() if each.recognises(row))
    assert recognised.name == name
