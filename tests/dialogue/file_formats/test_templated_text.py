"""Texts written with the templates of models are split into turns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.blocks import ToolCallBlock, ToolResultBlock
from tests.dialogue.file_formats.reading import codes, read_one, said, task_of

TURNS = [("system", "S"), ("user", "Q\n\nmore"), ("assistant", "A"), ("user", "R")]

TEXTS = {
    "chatml": "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nQ\n\nmore<|im_end|>\n"
    "<|im_start|>assistant\nA<|im_end|>\n<|im_start|>user\nR<|im_end|>\n<|im_start|>assistant\n",
    "llama2": "<s>[INST] <<SYS>>\nS\n<</SYS>>\n\nQ\n\nmore [/INST] A </s><s>[INST] R [/INST]",
    "llama3": "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nQ\n\nmore<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\nA<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\nR<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n",
    "llama4": "<|begin_of_text|><|header_start|>system<|header_end|>\n\nS<|eot|>"
    "<|header_start|>user<|header_end|>\n\nQ\n\nmore<|eot|>"
    "<|header_start|>assistant<|header_end|>\n\nA<|eot|>"
    "<|header_start|>user<|header_end|>\n\nR<|eot|>",
    "gemma": "<bos><start_of_turn>system\nS<end_of_turn>\n<start_of_turn>user\nQ\n\nmore"
    "<end_of_turn>\n<start_of_turn>model\nA<end_of_turn>\n<start_of_turn>user\nR<end_of_turn>\n",
    "zephyr": "<|system|>\nS</s>\n<|user|>\nQ\n\nmore</s>\n<|assistant|>\nA</s>\n<|user|>\nR</s>\n",
    "phi": "<|system|>\nS<|end|>\n<|user|>\nQ\n\nmore<|end|>\n<|assistant|>\nA<|end|>\n"
    "<|user|>\nR<|end|>\n<|assistant|>\n",
    "guanaco": "### System: S\n### Human: Q\n\nmore\n### Assistant: A\n### Human: R\n"
    "### Assistant:",
}


@pytest.mark.parametrize("name", TEXTS)
def test_every_template_gives_the_same_turns(name: str) -> None:
    read = read_one({"id": "k", "text": TEXTS[name], "source": "x"})
    assert read.format == "templated_text"
    assert read.task is not None, read.notes
    assert said(read.task.messages) == TURNS
    assert read.task.attributes == {"source": "x"}
    assert not {note.code for note in read.notes} & {"stray_text", "unusual_role"}


def test_calls_and_results_in_the_text_become_blocks() -> None:
    call = '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'
    text = (
        f"<|im_start|>user\nQ<|im_end|>\n<|im_start|>assistant\nLook.\n{call}\n{call}<|im_end|>\n"
        "<|im_start|>user\n<tool_response>\none\n</tool_response>\n<tool_response>\ntwo\n"
        "</tool_response><|im_end|>\n<|im_start|>assistant\nA<|im_end|>"
    )
    messages = task_of({"text": text}).messages
    assert read_one({"text": text}).roles == "uatta"
    said_first, *calls = messages[1].blocks
    assert said_first.to_wire()["text"] == "Look."
    assert all(isinstance(each, ToolCallBlock) for each in calls)
    results = messages[2].blocks
    assert all(isinstance(each, ToolResultBlock) for each in results)
    assert {"tool_text", "ids_invented"} <= codes({"text": text})


def test_calls_of_llama_and_their_ipython_results() -> None:
    text = (
        "<|start_header_id|>user<|end_header_id|>\n\nQ<|eot_id|>"
        '<|start_header_id|>assistant<|end_header_id|>\n\n<|python_tag|>{"name": "f", '
        '"parameters": {"x": 1}}<|eom_id|>'
        "<|start_header_id|>ipython<|end_header_id|>\n\nok<|eot_id|>"
    )
    assert read_one({"text": text}).roles == "uat"


def test_a_call_that_is_no_json_stays_a_text() -> None:
    text = "<|im_start|>assistant\n<tool_call>{broken</tool_call><|im_end|>"
    assert said(task_of({"text": text}).messages) == [
        ("assistant", "<tool_call>{broken</tool_call>")
    ]


def test_an_unknown_role_is_refused_and_text_outside_of_turns_is_told() -> None:
    read = read_one({"text": "<|im_start|>critic\nx<|im_end|>"})
    assert (read.roles, read.notes[-1].code) == ("?", "unknown_role")
    assert "stray_text" in codes({"text": "Before<|im_start|>user\nQ<|im_end|>"})


def test_text_without_a_template_is_not_taken() -> None:
    assert read_one({"text": "plain"}).format != "templated_text"


@given(st.lists(st.sampled_from([
    "<|im_start|>", "user\n", "assistant", "<|im_end|>", "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>",
    "<s>", "</s>", "<|user|>", "<|end|>", "### Human:", "<tool_call>", "</tool_call>", "{",
    "x", " ", "\n", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<start_of_turn>",
])))  # fmt: skip
def test_any_mixture_of_tokens_is_read_or_refused(tokens: list[str]) -> None:
    read = read_one({"text": "".join(tokens)})
    assert (read.task is None) == any(note.kind == "refused" for note in read.notes)


@pytest.mark.parametrize("token", ["<tool_call>", "[INST] ", "<|im_start|>user\n", "### Human: "])
def test_long_texts_of_tokens_take_no_time(token: str) -> None:
    read_one({"text": f"<|im_start|>assistant\n{token * 20_000}"})


def test_a_name_behind_the_role_is_kept() -> None:
    text = "<|im_start|>system name=example_user\nhi<|im_end|>\n<|im_start|>user\nho<|im_end|>\n"
    task = task_of({"text": text})
    assert [message.role for message in task.messages] == ["system", "user"]
    assert [message.detail for message in task.messages] == [{"name": "example_user"}, None]
