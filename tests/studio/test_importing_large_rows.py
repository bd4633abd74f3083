"""Rows too large for a page: the page stays small, says what it leaves out, and nothing is lost."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.message import parse_message
from apps.studio.excerpts import LONGEST_TEXT, MOST_BLOCKS, Room, beginning, excerpt
from apps.studio.forms.fields import json_shown
from apps.studio.importing import COLUMNS_SHOWN, TURNS_SHOWN, columns_of
from apps.tasks.models import Environment, Task
from tests.factories import call, message, result
from tests.studio.visitors import Visitor, words

pytestmark = pytest.mark.django_db

IMPORT = "/projects/alpha/environments/shop/import/"
LARGEST_PAGE = 3_000_000
"""Bytes."""


@pytest.fixture
def client(visit: Visitor, environment: Environment) -> Client:
    return visit("author")


def proposed(client: Client, *rows: Any) -> Any:
    text = "\n".join(json.dumps(row) for row in rows)
    form = {"file": SimpleUploadedFile("rows.jsonl", text.encode()), "split": "train"}
    return client.post(IMPORT, {**form, "format": "auto"}, follow=True)


def address(page: Any, step: str = "") -> str:
    return f"{IMPORT[:-1]}s/{page.context['imported'].pk}/{step}"


def talk(turns: int, text: str = "Hello") -> dict[str, Any]:
    roles = ("user", "assistant")
    return {"messages": [{"role": roles[n % 2], "content": f"{text} {n}"} for n in range(turns)]}


@pytest.mark.parametrize("row", [{"a": 1}, {"a": [1]}, {"a": ""}, {}])
def test_a_row_without_any_text_has_a_page(client: Client, row: dict[str, Any]) -> None:
    page = proposed(client, row)
    assert page.status_code == 200
    assert page.context["imported"].refused == 1
    assert client.get(address(page)).status_code == 200


def test_many_columns_are_not_all_shown_and_the_others_are_kept(client: Client) -> None:
    row = {f"c{n}": "x" for n in range(3_000)} | {"said": "Hello"}
    page = proposed(client, row)
    assert len(page.content) < LARGEST_PAGE
    assert len(page.context["columns"]) == COLUMNS_SHOWN
    assert "2,801 more columns, not shown here" in words(page)
    uses = {f"use-{column.number}": "attribute" for column in page.context["columns"]}
    uses |= {"use-0": "user", "use-1": "nothing"}
    change = {"change": "mapping", "how": "columns", **uses}
    mapped = client.post(address(page, "change/"), change, follow=True)
    assert [turn.role for turn in mapped.context["turns"]] == ["user"]
    attributes = mapped.context["content"].attributes
    assert (len(attributes), attributes["said"], "c1" in attributes) == (2_999, "Hello", False)


def test_a_column_that_is_used_is_shown_wherever_it_stands() -> None:
    row = {f"c{n}": "x" for n in range(1_000)} | {"said": "Hello"}
    columns = columns_of([row], {"conversation": [{"role": "user", "content": "said"}]})
    assert (columns[-1].name, columns[-1].number, columns[-1].use) == ("said", 1_000, "user")
    assert [column.number for column in columns[:-1]] == list(range(COLUMNS_SHOWN - 1))


def test_many_turns_are_shown_in_parts(client: Client) -> None:
    page = proposed(client, talk(2 * TURNS_SHOWN + 10))
    assert len(page.content) < LARGEST_PAGE
    assert len(page.context["turns"]) == TURNS_SHOWN
    assert "810 turns; turns 1 to 400 are shown." in words(page)
    last = client.get(f"{address(page)}?row=0&turn={2 * TURNS_SHOWN}")
    assert [turn.shown.number for turn in last.context["turns"]] == list(range(801, 811))
    assert "turns 801 to 810 are shown" in words(last)
    assert (last.context["part"].before, last.context["part"].behind) == (TURNS_SHOWN, None)
    beyond = client.get(f"{address(page)}?row=0&turn=5000")
    assert [turn.shown.number for turn in beyond.context["turns"]] == [810]
    assert client.get(f"{address(page)}?turn=x").status_code == 422


def test_a_turn_far_down_is_corrected_and_stays_in_sight(client: Client) -> None:
    page = proposed(client, talk(TURNS_SHOWN + 5))
    far = client.get(f"{address(page)}?row=0&turn={TURNS_SHOWN}")
    change = {"change": "role", "turn": far.context["turns"][0].turn, "role": "system"}
    sent = f"{address(page, 'change/')}?{far.context['chosen'].address}"
    part = client.post(sent, change, headers={"HX-Request": "true"})
    turn = part.context["turns"][0]
    assert (turn.shown.number, turn.role) == (TURNS_SHOWN + 1, "system")


def test_a_result_knows_its_call_in_the_part_before(client: Client) -> None:
    turns = [message("user", "Hello") for _ in range(TURNS_SHOWN - 1)]
    turns += [message("assistant", call("c1", "look")), message("user", result("c1", "found"))]
    page = proposed(client, {"messages": turns})
    far = client.get(f"{address(page)}?row=0&turn={TURNS_SHOWN}")
    (shown,) = far.context["turns"]
    assert shown.shown.blocks[0].partner == f"proposed-{TURNS_SHOWN}-1"


def test_a_long_text_is_cut_on_the_page_and_kept_whole(client: Client) -> None:
    text = "x" * 3_000_000
    page = proposed(client, {"messages": [{"role": "user", "content": text}]})
    assert len(page.content) < 200_000
    assert "Not shown: 2,980,000 characters." in words(page)
    client.post(address(page, "accept/"))
    (task,) = Task.objects.all()
    assert task.current is not None
    assert text in task.current.content


def test_many_long_texts_share_the_room_of_a_page(client: Client) -> None:
    page = proposed(client, talk(300, "y" * 15_000))
    assert len(page.content) < LARGEST_PAGE
    assert len(page.context["turns"]) == 300
    assert page.context["turns"][0].left_out == ""
    assert page.context["turns"][-1].left_out.startswith("Not shown: 15,0")


def test_long_columns_and_candidates_are_cut(client: Client) -> None:
    row = {"prompt": "Why?", "chosen": "a" * 500_000, "rejected": "b" * 500_000, "c" * 9_000: [1]}
    page = proposed(client, row)
    assert len(page.content) < 200_000
    assert [len(column.title) for column in page.context["columns"]] == [6, 6, 8, 120]
    assert words(page).count("Not shown: 480,000 characters.") == 2


def test_many_notes_of_a_row_are_counted(client: Client) -> None:
    turns = [{"role": "HUMAN", "content": f"Hello {n}"} for n in range(120)]
    page = proposed(client, {"messages": turns})
    (line,) = page.context["lines"]
    assert len(line.entry.notes) > 100
    assert f"And {len(line.entry.notes) - 50} more notes, not shown here." in words(page)


def test_an_image_without_room_is_named() -> None:
    image = {"type": "image", "data": "QUJD", "mimeType": "image/png"}
    whole = parse_message(message("user", image, image))
    cut = excerpt(whole, Room(images=5))
    assert cut.left_out == "Not shown: 1 image."
    kinds = [block.mimeType for block in cut.message.blocks if block.type == "image"]
    assert kinds == ["image/png", "image/png, too large to be shown"]


def test_blocks_inputs_and_details_are_cut_and_counted() -> None:
    words_ = {"list": ["word"] * 20_000}
    many = parse_message(message("assistant", *["a"] * MOST_BLOCKS, *["b"] * 7))
    assert excerpt(many, Room()).left_out == "Not shown: 7 blocks."
    calls = parse_message({**message("assistant", call("c", "f", **words_)), "detail": words_})
    cut = excerpt(calls, Room())
    assert cut.left_out.endswith("characters.")
    assert len(json_shown(cut.message.to_wire())) < 5 * LONGEST_TEXT


def test_what_has_room_is_shown_as_it_is() -> None:
    whole = parse_message(message("assistant", "Hello", call("c", "f", a=[1, {"b": None}])))
    assert excerpt(whole, Room()).message == whole
    assert excerpt(whole, Room()).left_out == ""


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_json, st.integers(1, 200))
def test_the_beginning_of_a_value_is_no_longer_than_asked(value: Any, characters: int) -> None:
    cut = beginning(value, characters)
    assert type(cut) is type(value) or cut == "…"
    if not isinstance(value, int):
        # Escapes and numbers may take more room than they are counted as, never without bound.
        assert len(json.dumps(cut, ensure_ascii=False)) <= 8 * characters + 3_000
