"""Conversations as they are read: labels, folds, brackets, nothing left out."""

import json

from django.template.loader import render_to_string

from apps.dialogue.message import parse_conversation
from apps.studio.reading import ShownMessage, show_conversation
from tests.factories import call, message, result

PIXEL = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


def shown(*wire: dict[str, object]) -> list[ShownMessage]:
    return show_conversation(parse_conversation(list(wire)))


def page(message: ShownMessage, *, raw: bool = False) -> str:
    return render_to_string("studio/parts/message.html", {"message": message, "raw": raw})


def test_turns_are_numbered_and_say_their_role() -> None:
    turns = shown(message("system", "Be brief."), message("user", "Hi"), message("assistant", "Ho"))
    assert [(turn.number, turn.label, turn.hue) for turn in turns] == [
        (1, "System", "system"),
        (2, "User", "user"),
        (3, "Assistant", "assistant"),
    ]
    assert 'id="turn-2"' in page(turns[1])


def test_a_turn_of_results_alone_is_the_tools() -> None:
    turns = shown(
        message("assistant", call("c", "find")), message("user", result("c", "found"), "and this")
    )
    assert turns[1].hue == "user"
    alone = shown(message("assistant", call("c", "find")), message("user", result("c", "found")))
    assert (alone[1].hue, alone[1].label) == ("tool", "Tool result")


def test_a_call_and_its_result_lead_to_each_other() -> None:
    turns = shown(
        message("assistant", "Let me see.", call("a", "find"), call("b", "look")),
        message("user", result("b", "two"), result("a", "one")),
    )
    _, first, second = turns[0].blocks
    assert second.partner == turns[1].blocks[0].anchor
    assert first.partner == turns[1].blocks[1].anchor
    assert turns[1].blocks[1].partner == first.anchor
    assert second.joined
    assert not first.joined


def test_a_half_without_its_other_half_says_so() -> None:
    turns = shown(message("assistant", call("a", "find")), message("user", result("z", "lost")))
    assert "no result yet" in page(turns[0])
    assert "no call" in page(turns[1])


def test_a_reused_id_pairs_each_call_with_the_result_after_it() -> None:
    turns = shown(
        message("assistant", call("a", "one")),
        message("user", result("a", "1")),
        message("assistant", call("a", "two")),
        message("user", result("a", "2")),
    )
    assert turns[2].blocks[0].partner == turns[3].blocks[0].anchor
    assert turns[0].blocks[0].partner == turns[1].blocks[0].anchor


def test_long_reasoning_is_folded_and_short_reasoning_is_not() -> None:
    long = {"type": "reasoning", "text": "line\n" * 5}
    short = {"type": "reasoning", "text": "Look it up.", "signature": "seal"}
    turns = shown(message("assistant", long, short))
    assert [block.is_long for block in turns[0].blocks] == [True, False]
    html = page(turns[0])
    assert html.count("<details") == 1
    assert "sealed" in html


def test_the_arguments_of_a_call_keep_their_order() -> None:
    turns = shown(message("assistant", call("a", "f", z=1, a={"y": 2, "b": "ü"})))
    assert list(json.loads(turns[0].blocks[0].input)) == ["z", "a"]
    assert "ü" in turns[0].blocks[0].input


def test_pictures_are_shown_and_unknown_kinds_named() -> None:
    turns = shown(
        message(
            "user",
            {"type": "image", "data": PIXEL, "mimeType": "image/gif"},
            {"type": "image", "data": "AAAA", "mimeType": "image/x-odd"},
        )
    )
    html = page(turns[0])
    assert f'src="data:image/gif;base64,{PIXEL}"' in html
    assert html.count("<img") == 1
    assert "image/x-odd" in html


def test_what_is_carried_beside_the_content_is_shown() -> None:
    wire = message("user", {"type": "text", "text": "x", "detail": {"inner": 1}})
    turns = shown({**wire, "detail": {"outer": 2}})
    html = page(turns[0])
    assert "inner" in html
    assert "outer" in html


def test_the_raw_view_shows_the_characters_themselves() -> None:
    turns = shown(message("user", "**b** <i>x</i>"))
    assert "<strong>b</strong>" in page(turns[0])
    assert "**b** &lt;i&gt;x&lt;/i&gt;" in page(turns[0], raw=True)


def test_a_draft_without_blocks_is_a_turn_all_the_same() -> None:
    assert "No blocks." in page(shown(message("user"))[0])
