"""Texts written with the templates of models are split into turns."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.blocks import ToolCallBlock, ToolResultBlock
from tests.dialogue.file_formats.reading import codes, read_one, said, task_of


def T(name: str) -> str:  # noqa: N802 - a token of DeepSeek
    return f"<\uff5c{name.replace(' ', chr(0x2581))}\uff5c>"


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
    "mistral": "<s>[SYSTEM_PROMPT]S[/SYSTEM_PROMPT][INST]Q\n\nmore[/INST]A</s>[INST]R[/INST]",
    "deepseek": f"{T('begin of sentence')}S{T('User')}Q\n\nmore{T('Assistant')}A"
    f"{T('end of sentence')}{T('User')}R{T('Assistant')}",
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


def shape(text: str) -> list[tuple[str, list[str]]]:
    return [
        (each.role, [block.type for block in each.blocks])
        for each in task_of({"text": text}).messages
    ]


ROUND = [("user", ["text"]), ("assistant", ["tool_call"]), ("user", ["tool_result"])]


@pytest.mark.parametrize(
    "call",
    [
        f'function{T("tool sep")}f\n```json\n{{"x": 1}}\n```',
        f'f{T("tool sep")}{{"x": 1}}',
    ],
)
def test_calls_of_deepseek_and_their_results(call: str) -> None:
    text = (
        f"{T('begin of sentence')}{T('User')}Q{T('Assistant')}{T('tool calls begin')}"
        f"{T('tool call begin')}{call}{T('tool call end')}{T('tool calls end')}"
        f"{T('end of sentence')}{T('tool outputs begin')}{T('tool output begin')}5"
        f"{T('tool output end')}{T('tool outputs end')}A{T('end of sentence')}"
    )
    assert shape(text) == [*ROUND, ("assistant", ["text"])]
    wire = task_of({"text": text}).messages[1].blocks[0].to_wire()
    assert (wire["name"], wire["input"]) == ("f", {"x": 1})
    assert "stray_text" not in codes({"text": text})


@pytest.mark.parametrize(
    ("calls", "results"),
    [
        ('[TOOL_CALLS] [{"name": "f", "arguments": {"x": 1}, "id": "abcdefghi"}]</s>',
         '[TOOL_RESULTS] {"content": "5", "call_id": "abcdefghi"}[/TOOL_RESULTS]'),
        ('[TOOL_CALLS]f[CALL_ID]abcdefghi[ARGS]{"x": 1}</s>',
         "[TOOL_RESULTS]abcdefghi[TOOL_CONTENT]5[/TOOL_RESULTS]"),
    ],
)  # fmt: skip
def test_calls_of_mistral_and_their_results(calls: str, results: str) -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    text = (
        f"<s>[AVAILABLE_TOOLS] {json.dumps(tools)}[/AVAILABLE_TOOLS][INST] Q [/INST]{calls}"
        f"{results} A</s>"
    )
    assert shape(text) == [*ROUND, ("assistant", ["text"])]
    task = task_of({"text": text})
    wire = task.messages[1].blocks[0].to_wire()
    assert (wire["id"], wire["name"], wire["input"]) == ("abcdefghi", "f", {"x": 1})
    assert task.tools == tools
    assert not codes({"text": text}) & {"ids_invented", "stray_text"}


def test_a_text_of_mistral_before_its_calls_is_one_turn_with_them() -> None:
    text = '[INST]Q[/INST]Look.[TOOL_CALLS] [{"name": "f", "arguments": {}}]</s>'
    assert shape(text) == [("user", ["text"]), ("assistant", ["text", "tool_call"])]


def test_calls_of_mistral_that_are_no_json_stay_text() -> None:
    text = "[INST] Q [/INST][TOOL_CALLS] [{broken</s>"
    assert said(task_of({"text": text}).messages)[1] == ("assistant", "[{broken")


VICUNA = (
    "A chat between a curious user and an artificial intelligence assistant. "
    "The assistant gives helpful answers."
)


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        (f"{VICUNA} USER: a\nb ASSISTANT: c</s>USER: d ASSISTANT: e USER: f</s>",
         [("system", VICUNA), ("user", "a\nb"), ("assistant", "c"), ("user", "d"),
          ("assistant", "e USER: f")]),
        ("USER: a ASSISTANT: b USER: c ASSISTANT:",
         [("user", "a"), ("assistant", "b"), ("user", "c")]),
    ],
)  # fmt: skip
def test_the_words_of_vicuna(text: str, turns: list[tuple[str, str]]) -> None:
    read = read_one({"text": text})
    assert read.format == "templated_text"
    assert read.task is not None
    assert said(read.task.messages) == turns


def test_speakers_on_lines_of_their_own_are_no_template() -> None:
    text = "USER: what does ASSISTANT: mean?\nASSISTANT: It is a mark."
    assert read_one({"text": text}).format == "transcript"


@given(st.lists(st.sampled_from([
    *map(T, ("User", "Assistant", "tool call begin", "tool sep", "tool call end",
             "tool output begin", "tool output end", "end of sentence", "tool outputs end")),
    "[INST]", "[/INST]", "[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[ARGS]", "[CALL_ID]",
    "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[SYSTEM_PROMPT]", "[TOOL_CONTENT]", "</s>", "f",
    "{}", '[{"name": "f", "arguments": {}}]', '{"content": 1}', "USER: ", " ASSISTANT:", "\n",
])))  # fmt: skip
def test_any_mixture_of_tokens_of_tools_is_read_or_refused(tokens: list[str]) -> None:
    read = read_one({"text": "".join(tokens)})
    assert (read.task is None) == any(note.kind == "refused" for note in read.notes)


@pytest.mark.parametrize("token", [
    T("User"), T("tool call begin"), T("tool sep"), "[TOOL_CALLS]", "[TOOL_RESULTS]", "f[ARGS]",
    "USER: ", " ASSISTANT:", "\n", "</s>", "\n ASSISTANT: ",
])  # fmt: skip
@pytest.mark.parametrize("start", [T("User"), "[TOOL_CALLS]", "[TOOL_CALLS]f[ARGS]", "USER: "])
def test_long_texts_of_tokens_of_tools_take_no_time(start: str, token: str) -> None:
    read_one({"text": f"{start}{token * 10_000}"})
