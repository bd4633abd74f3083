"""What people type, what they get, and what is said of a slip."""

from typing import Any

import pytest

from apps.dialogue.errors import ScriptError
from apps.dialogue.message import conversation_to_wire, parse_conversation
from apps.dialogue.script_text import read_script, write_script

PLAIN = """\
s: You are the service desk of a shop.

u: Where is my order?
It is number 17.

a: Let me look.
think: I need the number.
call order_status {"order": 17}
result: It was sent on Monday.

a: It is on its way.
"""

EVERYTHING = """\
u: Look at these
detail {"kind": "greeting"}
image image/png UE5H
+: and say what they are.

a:
detail {"weight": 0}
think: First the one,
then the other.
signature "EqQB"
call look #toolu_1 {"at": 1}
call "read file" {"path": "a b.txt", "deep": {"n": 1.0}}
result #call_2 error: not found
result:
result+image image/png UE5H
result+: a cat
result+detail {"x": null}
detail {"took": 3}
+: What now?

a:
"""


def wires(script: str) -> list[dict[str, Any]]:
    return conversation_to_wire(read_script(script).messages)


def said(script: str) -> list[tuple[str, list[str]]]:
    """Return the roles, and the texts or types of their blocks."""
    return [
        (message.role, [getattr(block, "text", block.type) for block in message.blocks])
        for message in read_script(script).messages
    ]


@pytest.mark.parametrize("script", [PLAIN, EVERYTHING])
def test_a_script_is_written_as_it_was_read(script: str) -> None:
    assert write_script(read_script(script).messages) == script


def test_plain_turns_are_texts() -> None:
    assert said("u: hi") == [("user", ["hi"])]
    assert said(PLAIN) == [
        ("system", ["You are the service desk of a shop."]),
        ("user", ["Where is my order?\nIt is number 17."]),
        ("assistant", ["Let me look.", "I need the number.", "tool_call"]),
        ("user", ["tool_result"]),
        ("assistant", ["It is on its way."]),
    ]


def test_every_part_of_a_conversation_has_its_line() -> None:
    read = read_script(EVERYTHING)
    first, second, third, last = conversation_to_wire(read.messages)
    assert [block["type"] for block in first["blocks"]] == ["text", "image", "text"]
    assert first["detail"] is None
    assert first["blocks"][0]["detail"] == {"kind": "greeting"}
    assert second["detail"] == {"weight": 0}
    assert second["blocks"][0]["signature"] == "EqQB"
    assert [block.get("id") for block in second["blocks"]] == [None, "toolu_1", "call_2"]
    failed, looked, asked = third["blocks"]
    assert (failed["tool_call_id"], failed["is_error"]) == ("call_2", True)
    assert [part["type"] for part in looked["blocks"]] == ["image", "text"]
    assert looked["blocks"][1]["detail"] == {"x": None}
    assert looked["detail"] == {"took": 3}
    assert asked["text"] == "What now?"
    assert last == {"role": "assistant", "blocks": [], "detail": None}
    assert read.lines["messages[1].blocks[2]"] == 12


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("", []),
        ("\n \n", []),
        ("u:", [("user", [])]),
        ("u: \\", [("user", [""])]),
        ("u:hi", [("user", ["hi"])]),
        ("u:  hi  ", [("user", [" hi  "])]),
        ("\n\nu:\n\n  hi\n\nthere\n \n\na: x", [("user", ["  hi\n\nthere"]), ("assistant", ["x"])]),
        ("u: a\n\\\n", [("user", ["a\n"])]),
        ("u: a\n\\u: b\n\\\\u: c", [("user", ["a\nu: b\n\\u: c"])]),
        ("u: \\begin{x}\n\\item a\n\\end", [("user", ["\\begin{x}\n\\item a\n\\end"])]),
        ("u: u: x", [("user", ["u: x"])]),
        ("u: a\r\nb\rc", [("user", ["a\nb\nc"])]),
        ("u: a␍\nb\\␍\\\\␍", [("user", ["a\r\nb␍\\\r"])]),
        ("u: hi\ncall me tomorrow\nUser: x\ndetails {", [
            ("user", ["hi\ncall me tomorrow\nUser: x\ndetails {"])]),
        ("u: a\n+: b\n+:", [("user", ["a", "b", ""])]),
        ("call f {}\nresult: x\nu: y", [
            ("assistant", ["tool_call"]), ("user", ["tool_result"]), ("user", ["y"])]),
        ("u: x\nthink: y\n a: z", [("user", ["x"]), ("assistant", ["y\n a: z"])]),
    ],
)  # fmt: skip
def test_what_people_type_is_understood(typed: str, expected: list[Any]) -> None:
    assert said(typed) == expected


def test_the_input_of_a_call_may_go_on_below() -> None:
    script = 'call f {\n  "a": [1,\n\n 2.0],\n  "b": 12345678901234567890\n}\n\nu: x'
    assert wires(script)[0]["blocks"][0]["input"] == {"a": [1, 2.0], "b": 12345678901234567890}


def test_ids_are_needed_only_where_they_differ() -> None:
    script = "a:\ncall f {}\ncall g #x {}\ncall h {}\nresult:\nresult #call_3:\nresult:\n"
    calls, results = wires(script)
    assert [block["id"] for block in calls["blocks"]] == ["call_1", "x", "call_3"]
    assert [block["tool_call_id"] for block in results["blocks"]] == ["call_1", "call_3", "x"]
    assert write_script(read_script(script).messages) == script.removeprefix("a:\n")


def test_an_empty_result_is_not_an_empty_text() -> None:
    empty, text = wires("call f {}\nresult:"), wires("call f {}\nresult: \\")
    assert empty[1]["blocks"][0]["blocks"] == []
    assert [part["text"] for part in text[1]["blocks"][0]["blocks"]] == [""]


def test_a_text_that_looks_like_a_script_stays_a_text() -> None:
    wire = [{"role": "user", "blocks": [{"type": "text", "text": EVERYTHING}]}]
    messages = parse_conversation(wire)
    assert read_script(write_script(messages)).messages == messages


@pytest.mark.parametrize(
    ("typed", "line", "column", "message"),
    [
        ("hi", 1, 1, "starts with a turn"),
        ("\n  hi\nu: x", 2, 3, "starts with a turn"),
        ("u: x\ncall f", 2, 7, "needs its input"),
        ("u: x\ncall f [1] {}", 2, 8, "needs its input"),
        ("u: x\ncall f {\n 'a': 1}", 3, 2, "not valid JSON: expecting property name"),
        ('u: x\ncall f {"a": 1, "a": 2}', 2, 8, "'a' stands twice"),
        ('u: x\ncall f {"a": NaN}', 2, 8, "NaN is not JSON"),
        ('u: x\ncall f {"a": 1e999}', 2, 8, "1e999 is too large"),
        ("u: x\ncall f {} and more", 2, 11, "a call ends before this"),
        ("u: x\ncall f {}\n\nand more", 4, 1, "a call ends before this"),
        ("u: x\ncall # {}", 2, 6, "the name of a tool is missing"),
        ("u: x\ncall f # {}", 2, 10, "the id of a call is missing"),
        ('u: x\ncall "" {}', 2, 1, "must not be empty"),
        ("u: x\ncall f " + '{"a":' * 5000, 2, 8, "nested too deeply"),
        ("u: x\ncall f " + '{"a":' * 250 + "1" + "}" * 250, 2, 1, "levels deep"),
        ("u: x\nresult: y", 2, 1, "no call above waits"),
        ("call f {}\nresult: y\nresult: z", 3, 1, "no call above waits"),
        ("call f {}\nresult #call_1 y", 2, 16, "a colon before its text"),
        ("u: x\nresult+: y", 2, 1, "none stands above"),
        ("call f {}\nresult:\nresult+detail {}", 3, 1, "no text or image"),
        ("call f {}\nresult:\nresult+text", 3, 8, "a colon, image or detail"),
        ("u: x\nimage image/png", 2, 16, "the data"),
        ("u: x\nimage image/png UE5H more", 2, 22, "an image ends before this"),
        ("u: x\nimage image/png data:,", 2, 1, "bare base64"),
        ("image image/png UE5H", 1, 1, "belongs to a turn"),
        ("+: x", 1, 1, "belongs to a turn"),
        ('u: x\nsignature "y"', 2, 1, "below reasoning"),
        ('think: x\nsignature "y"\nsignature "z"', 3, 11, "a signature above already"),
        ("u: x\ndetail {}\ndetail {}", 3, 8, "a detail above already"),
        ("detail {}", 1, 1, "belongs to a turn"),
        ("u: a\nu: b\x00", 2, 1, "NUL"),
    ],
)
def test_a_slip_is_refused_at_its_line_and_column(
    typed: str, line: int, column: int, message: str
) -> None:
    with pytest.raises(ScriptError) as refused:
        read_script(typed)
    assert message in refused.value.message
    assert (refused.value.line, refused.value.column) == (line, column)
    assert refused.value.place == f"line {line}, column {column}"
