"""Data sets for the calling of functions: xLAM and Glaive."""

import json
from typing import Any

import pytest

from apps.dialogue.blocks import ToolCallBlock
from apps.dialogue.message import Message
from tests.dialogue.file_formats.reading import codes, read_one, said, task_of

FUNCTION = {"name": "rate", "description": "d", "parameters": {"base": {"type": "str"}}}
CALLS = [{"name": "rate", "arguments": {"base": "USD"}}, {"name": "rate", "arguments": {}}]
SYSTEM = f"You have functions. Use them if required -\n{json.dumps(FUNCTION, indent=4)}"
CHAT = (
    "USER: Rate, then: please\n\n\n"
    'ASSISTANT: Look. <functioncall> {"name": "rate", "arguments": \'CALLED\'} <|endoftext|>\n\n\n'
    'FUNCTION RESPONSE: {"rate": 0.85}\n\n\nASSISTANT: It is\n0.85. <|endoftext|>\n\n\n'
)


def calls(message: Message) -> list[tuple[str, Any]]:
    return [(each.name, each.input) for each in message.blocks if isinstance(each, ToolCallBlock)]


@pytest.mark.parametrize("written", [json.dumps, lambda value: value])
def test_the_answers_of_xlam_are_calls(written: Any) -> None:
    row = {"id": 3, "query": "Q", "answers": written(CALLS), "tools": written([FUNCTION])}
    assert read_one(row).format == "xlam"
    task = task_of(row)
    asked, answered = task.messages
    assert (asked.text, task.key, task.tools, task.attributes) == ("Q", "3", [FUNCTION], {})
    assert calls(answered) == [("rate", {"base": "USD"}), ("rate", {})]
    assert "ids_invented" in codes(row)


def test_a_query_that_no_tool_fits_has_no_answer() -> None:
    row = {"query": "Q", "answers": "[]", "tools": json.dumps([FUNCTION])}
    assert (read_one(row).roles, "empty_turn" in codes(row)) == ("u", True)


def test_answers_that_are_no_calls_are_no_xlam() -> None:
    assert read_one({"query": "Q", "answers": ["a", "b"]}).format != "xlam"


@pytest.mark.parametrize(
    "arguments",
    ['{"base": "USD"}', '{"base": "it\\\'s"}', '{"base": "it\'s"}', '{"a": {"b": [1, "}"]}}'],
)
def test_a_chat_of_glaive(arguments: str) -> None:
    row = {"system": f"SYSTEM: {SYSTEM}\n", "chat": CHAT.replace("CALLED", arguments)}
    read = read_one(row)
    assert (read.format, read.roles) == ("glaive", "suata")
    task = task_of(row)
    assert said(task.messages)[:2] == [("system", SYSTEM), ("user", "Rate, then: please")]
    assert task.messages[2].text == "Look."
    assert calls(task.messages[2]) == [("rate", json.loads(arguments.replace("\\'", "'")))]
    assert task.messages[4].text == "It is\n0.85."
    assert task.tools == [{"type": "function", "function": FUNCTION}]
    assert task.attributes == {}
    assert {"tool_text", "tools_in_text"} <= codes(row)


def test_the_first_version_of_glaive_is_one_text() -> None:
    row = {"sample": f"SYSTEM: {SYSTEM}\n{CHAT.replace('CALLED', '{}')}"}
    read = read_one(row)
    assert (read.format, read.roles) == ("glaive", "suata")
    assert task_of(row).tools == [{"type": "function", "function": FUNCTION}]


def test_a_call_of_glaive_that_cannot_be_read_stays_text() -> None:
    row = {"system": "SYSTEM: S", "chat": CHAT.replace("CALLED", "{broken")}
    assert "<functioncall>" in task_of(row).messages[2].text
    assert "tool_text" in codes(row)


def test_a_system_text_without_functions_gives_no_tools() -> None:
    row = {"system": "SYSTEM: Say {x}.", "chat": "USER: Q\n\n\nASSISTANT: A <|endoftext|>"}
    assert (task_of(row).tools, said(task_of(row).messages)[0]) == (None, ("system", "Say {x}."))
