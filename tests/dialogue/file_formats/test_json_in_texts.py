"""JSON within texts may hide what cannot be stored: it is cleaned and told like the rest."""

from typing import Any

import pytest

from tests.dialogue.file_formats.reading import read_one

ASKED = {"role": "user", "content": "x"}


def calling(arguments: str) -> dict[str, Any]:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}
    return {
        "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [call]}]
    }


@pytest.mark.parametrize(
    ("arguments", "made", "code"),
    [
        ('{"x": {"y": "a\\u0000b"}}', {"x": {"y": "ab"}}, "nul_char"),
        ('{"x": "\\ud800"}', {"x": "\ufffd"}, "lone_surrogate"),
        ('"{\\"x\\": \\"a\\\\u0000\\"}"', {"x": "a"}, "nul_char"),
        ('{}{"x": "\\udc00"}', {"x": "\ufffd"}, "lone_surrogate"),
    ],
)
def test_arguments_are_cleaned(arguments: str, made: dict[str, Any], code: str) -> None:
    read = read_one(calling(arguments))
    assert read.task is not None, read.notes
    (call,) = read.task.messages[1].blocks
    assert call.to_wire()["input"] == made
    (note,) = [each for each in read.notes if each.code == code]
    assert note.place.startswith("messages[1].tool_calls[0].arguments")


def test_tools_are_cleaned() -> None:
    row = {"messages": [{"role": "user", "content": "x"}],
           "tools": '[{"name": "f", "description": "a\\u0000b"}]'}  # fmt: skip
    read = read_one(row)
    assert read.task is not None, read.notes
    assert read.task.tools == [{"name": "f", "description": "ab"}]
    assert {"stringified_tools", "nul_char"} <= {note.code for note in read.notes}


def test_a_list_of_calls_as_text_is_cleaned() -> None:
    text = '[{"id": "c", "function": {"name": "f", "arguments": {"x": "a\\u0000b"}}}]'
    row = {
        "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": text}]
    }
    read = read_one(row)
    assert read.task is not None, read.notes
    assert "nul_char" in {note.code for note in read.notes}
