"""Rows may hold several conversations, and a conversation may be spread over several rows."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats import Note, ReadRow, RowFormat, TaskContent
from apps.dialogue.file_formats.base import Row, content_of, held_rows, read_rows
from apps.dialogue.file_formats.base.reading import Wishes
from apps.dialogue.message import text_message
from tests.dialogue.file_formats.reading import read_one


def texts(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    if "bad" in row["texts"]:
        raise ImportRefused("is bad", place="texts", roles="u?", code="unknown_role")
    return content_of(row, [text_message("user", text) for text in row["texts"]], notes)


def several(row: Row) -> Iterator[Row]:
    for each in row.value["several"]:
        yield Row(row.line, {"texts": [each]})
        if each == "breaks":
            raise ImportRefused("the rest is broken")


def together(rows: Sequence[Row]) -> Iterable[Row]:
    if rows[0].value["text"] == "no start":
        raise ImportRefused("the conversation has no start")
    yield Row(rows[0].line, {"id": rows[0].value["of"], "texts": [r.value["text"] for r in rows]})


PLAIN = RowFormat("plain", "", lambda row: "texts" in row, texts)
SEVERAL = RowFormat("several", "", lambda row: "several" in row, texts, expand=several)
SPREAD = RowFormat(
    "spread", "", lambda row: True, texts, group=lambda row: str(row["of"]), join=together
)
FORMATS = {each.name: each for each in (PLAIN, SEVERAL, SPREAD)}


def read(*values: Any, forced: str | None = None) -> list[ReadRow]:
    rows = [Row(line, value) for line, value in enumerate(values, start=1)]
    return list(read_rows(rows, FORMATS, Wishes(forced)))


def told(rows: list[ReadRow]) -> list[tuple[int, str | None, list[str] | None]]:
    return [
        (row.line, row.format, [m.text for m in row.task.messages] if row.task else None)
        for row in rows
    ]


def test_a_row_that_holds_several_conversations_becomes_one_row_each() -> None:
    rows = read({"several": ["a", "b"]}, {"texts": ["c"]})
    assert told(rows) == [(1, "several", ["a"]), (1, "several", ["b"]), (2, "plain", ["c"])]


def test_what_came_before_a_broken_part_of_a_row_is_kept() -> None:
    rows = read({"several": ["a", "breaks", "b"]})
    assert told(rows) == [(1, "several", ["a"]), (1, "several", ["breaks"]), (1, "several", None)]
    assert rows[-1].notes[-1].message == "the rest is broken"


def test_rows_of_one_name_are_joined_at_the_end_in_the_order_of_their_first_rows() -> None:
    rows = read(
        {"of": "y", "text": "1"}, {"of": "x", "text": "2"}, {"texts": ["first"]},
        {"of": "y", "text": "3"}, {"of": "\ud800", "text": "4"},
    )  # fmt: skip
    assert told(rows) == [
        (3, "plain", ["first"]),
        (1, "spread", ["1", "3"]),
        (2, "spread", ["2"]),
        (5, "spread", None),  # the key is no text that can be stored
    ]
    joined = [note for note in rows[1].notes if note.code == "joined_rows"]
    assert [note.message for note in joined] == ["the rows on lines 1, 4 are one conversation"]


def test_the_notes_of_every_joined_row_are_kept() -> None:
    note = Note("converted", "text", "was odd", "odd")
    held = [
        Row(1, {"of": "x", "text": "1"}),
        Row(2, {"of": "x", "text": "2"}, notes=(note,), file="member"),
    ]
    (row,) = read_rows(held, FORMATS)
    assert note in row.notes


def test_rows_that_cannot_be_joined_are_refused_by_their_first_line() -> None:
    rows = read({"of": 1, "text": "no start"}, {"of": 2, "text": "a"}, {"of": 1, "text": "b"})
    assert told(rows) == [(1, "spread", None), (2, "spread", ["a"])]
    assert [note.message for note in rows[0].notes] == [
        "the rows on lines 1, 3 are one conversation",
        "the conversation has no start",
    ]


def test_the_rows_of_one_conversation_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_rows, "LARGEST_GROUP", 1000)
    rows = read(*[{"of": "x", "text": "a" * 100}] * 20, {"of": "y", "text": "b"})
    assert told(rows) == [(1, "spread", None), (21, "spread", ["b"])]
    assert rows[0].notes[-1].code == "too_long"


def test_a_refused_row_keeps_its_roles_and_its_code() -> None:
    (row,) = read({"texts": ["a", "bad"]})
    assert (row.roles, row.task) == ("u?", None)
    assert row.notes == (Note("refused", "texts", "is bad", "unknown_role"),)


def test_a_demanded_format_expands_and_joins_too() -> None:
    assert told(read({"of": 1, "text": "a", "texts": ["x"]}, forced="spread")) == [
        (1, "spread", ["a"])
    ]


@pytest.mark.parametrize("key", ["speaker", "author", "sender"])
def test_turns_of_any_column_may_name_who_speaks(key: str) -> None:
    turns = [{key: name, "text": f"says {name}"} for name in ("Ann", "Support - Joel", "Ann")]
    row = {"id": "k", "dialogue": turns, "mood": "calm"}
    read = read_one(row)
    assert (read.format, read.roles) == ("turns_column", "uau")
    assert read.task is not None
    assert read.task.attributes == {"mood": "calm"}
    assert [each.detail for each in read.task.messages][:2] == [
        {"speaker": "Ann"}, {"speaker": "Support - Joel"}
    ]  # fmt: skip
    assert "speaker_names" in {note.code for note in read.notes}
    plain = {"dialogue": [{key: "user", "text": "Q"}, {key: "bot", "text": "A"}]}
    assert read_one(plain).roles == "ua"
    assert "speaker_names" not in {note.code for note in read_one(plain).notes}
