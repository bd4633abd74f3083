"""What changed between two contents, turn by turn and word by word."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.tasks.comparison import Comparison, compare, word_pieces
from apps.tasks.content import TaskContent, parse_content
from tests.factories import call, message, result


def content(*messages: dict[str, Any], **parts: Any) -> TaskContent:
    return parse_content({"messages": list(messages), **parts})


def told(comparison: Comparison) -> list[str]:
    return [f"{turn.change} {turn.was_number}>{turn.number}" for turn in comparison.turns]


HELLO = message("user", "Hello, where is my parcel now?")
ANSWER = message("assistant", "It is at the depot since Monday.")
THANKS = message("user", "Thank you very much.")


def test_equal_contents_differ_in_nothing() -> None:
    comparison = compare(content(HELLO, ANSWER), content(HELLO, ANSWER))
    assert comparison.is_empty
    assert told(comparison) == ["same 1>1", "same 2>2"]


def test_an_edited_turn_is_the_same_turn_with_marked_words() -> None:
    edited = message("assistant", "It is at the depot since Tuesday.")
    comparison = compare(content(HELLO, ANSWER), content(HELLO, edited))
    assert told(comparison) == ["same 1>1", "changed 2>2"]
    (block,) = comparison.turns[1].blocks
    assert [(piece.change, piece.text) for piece in block.pieces] == [
        ("same", "It is at the depot since "),
        ("removed", "Monday"),
        ("added", "Tuesday"),
        ("same", "."),
    ]


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("Be kind.", "Be kind. Be fast.", "Be kind.{+ Be fast.+}"),
        ("Be kind.", "Be kind!", "Be kind[-.-]{+!+}"),
        ("one two", "three four", "[-one two-]{+three four+}"),
        ("It isn't here.", "It wasn't here.", "It [-isn't-]{+wasn't+} here."),
        ("हिन्दी में", "हिन्दी से", "हिन्दी [-में-]{+से+}"),
    ],
)
def test_no_more_is_marked_than_what_differs(before: str, after: str, shown: str) -> None:
    marks = {"same": "{}", "added": "{{+{}+}}", "removed": "[-{}-]"}
    pieces = word_pieces(before, after)
    assert "".join(marks[piece.change].format(piece.text) for piece in pieces) == shown


def test_added_and_removed_turns_are_told_apart_from_edited_ones() -> None:
    before, after = content(HELLO, ANSWER), content(ANSWER, THANKS)
    assert told(compare(before, after)) == ["removed 1>None", "same 2>1", "added None>2"]
    assert told(compare(after, before)) == ["added None>1", "same 1>2", "removed 2>None"]


def test_a_turn_rewritten_from_the_first_word_is_still_that_turn() -> None:
    comparison = compare(content(HELLO, ANSWER), content(HELLO, message("assistant", "Nowhere")))
    assert told(comparison) == ["same 1>1", "changed 2>2"]


def test_a_turn_of_another_role_says_what_it_was() -> None:
    comparison = compare(content(ANSWER), content({**ANSWER, "role": "user"}))
    (turn,) = comparison.turns
    assert (turn.change, turn.was_role, turn.role) == ("changed", "assistant", "user")


def test_a_changed_argument_of_a_call_is_marked_in_its_json() -> None:
    before = content(message("assistant", call("c1", "find", order=1, express=True)))
    after = content(message("assistant", call("c1", "find", order=2, express=True)))
    (block,) = compare(before, after).turns[0].blocks
    assert "".join(piece.text for piece in block.pieces if piece.change != "added") == (
        'find (c1)\n{\n  "order": 1,\n  "express": true\n}'
    )
    assert {piece.text for piece in block.pieces if piece.change == "added"} == {"2"}


def test_an_error_flag_a_signature_and_a_detail_count() -> None:
    def conversation(**changes: Any) -> TaskContent:
        reasoning = {"type": "reasoning", "text": "Hm.", "signature": changes.get("signature", "a")}
        answered = result("c1", "late", is_error=changes.get("is_error", False))
        turn = {**message("user", answered), "detail": changes.get("detail")}
        return content(message("assistant", reasoning, call("c1", "f")), turn)

    for change in ({"signature": "b"}, {"is_error": True}, {"detail": {"by": "ann"}}):
        assert compare(conversation(), conversation(**change)).changed_turns == 1


def test_pictures_are_shown_beside_what_is_said_of_them() -> None:
    def picture(data: str) -> TaskContent:
        return content(message("user", {"type": "image", "data": data, "mimeType": "image/png"}))

    (block,) = compare(picture("A" * 4000), picture("B" * 4000)).turns[0].blocks
    assert block.change == "changed"
    assert "AAAA" not in "".join(piece.text for piece in block.pieces)
    assert [(each.change, each.source[:26]) for each in block.pictures] == [
        ("removed", "data:image/png;base64,AAAA"),
        ("added", "data:image/png;base64,BBBB"),
    ]


def test_pictures_in_a_tool_result_are_told_apart_too() -> None:
    def answered(*data: str) -> TaskContent:
        pictures = [{"type": "image", "data": each, "mimeType": "image/gif"} for each in data]
        block = {"type": "tool_result", "tool_call_id": "c1", "blocks": pictures}
        return content(message("user", block))

    (block,) = compare(answered("AAAA"), answered("AAAA", "BBBB")).turns[0].blocks
    assert [(each.change, each.data) for each in block.pictures] == [
        ("same", "AAAA"),
        ("added", "BBBB"),
    ]


def test_attributes_tags_tools_and_notes_are_compared_too() -> None:
    before = content(HELLO, attributes={"target": 1}, tags=["a"])
    after = content(
        HELLO, attributes={"target": 1.0}, tags=["a", "b"], notes="Look again", tools=[]
    )
    names = [fact.name for fact in compare(before, after).facts]
    assert names == ["attributes", "tools", "tags", "notes"]


def test_a_long_conversation_is_compared_in_a_moment() -> None:
    turns = [message("user", f"Turn {number} says something of its own.") for number in range(400)]
    edited = [*turns]
    edited[200] = message("user", "Turn 200 says something else.")
    comparison = compare(content(*turns), content(*edited[1:]))
    assert comparison.changed_turns == 2


def test_texts_too_long_for_words_are_compared_by_lines() -> None:
    lines = [f"line {number} of a long text\n" for number in range(2000)]
    changed = [*lines[:1000], "another line\n", *lines[1001:]]
    pieces = word_pieces("".join(lines), "".join(changed))
    assert [piece.text for piece in pieces if piece.change == "added"] == ["another line"]


@given(st.text(alphabet="ab., \n", max_size=30), st.text(alphabet="ab., \n", max_size=30))
def test_the_pieces_spell_both_texts(before: str, after: str) -> None:
    pieces = word_pieces(before, after)
    assert "".join(piece.text for piece in pieces if piece.change != "removed") == after
    assert "".join(piece.text for piece in pieces if piece.change != "added") == before
