"""Tables written as text: any delimiter, odd rows noted, turns in rows joined."""

import gzip
import io
import json
from typing import Any

import pytest

from apps.dialogue.file_formats import ReadRow, read_tasks


def read(text: str | bytes, name: str = "t.csv", **options: Any) -> list[ReadRow]:
    data = text if isinstance(text, bytes) else text.encode()
    return list(read_tasks(io.BytesIO(data), file_name=name, **options))


def said(row: ReadRow) -> list[tuple[str, str]]:
    assert row.task is not None, row.notes
    return [(message.role, message.text) for message in row.task.messages]


def codes(row: ReadRow) -> set[str]:
    return {note.code for note in row.notes if note.code}


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
@pytest.mark.parametrize("name", ["", "t.csv"])
def test_the_delimiter_is_told_from_the_records(delimiter: str, name: str) -> None:
    text = delimiter.join(["id", "question"]) + "\n" + delimiter.join(["1", '"a, b; c | d"']) + "\n"
    (row,) = read(text, name)
    assert (row.format, row.line, said(row)) == ("csv_table", 2, [("user", "a, b; c | d")])


def test_a_first_line_that_names_the_delimiter_is_no_record() -> None:
    (row,) = read("sep=;\r\nid;question\r\n1;a, b, c\r\n")
    assert (row.line, said(row)) == (3, [("user", "a, b, c")])


def test_a_cell_may_hold_line_feeds_and_the_next_row_knows_its_line() -> None:
    rows = read('id,question\r\n1,"a\nb ""c"""\r\n\r\n2,d\r\n')
    assert [(row.line, said(row)[0][1]) for row in rows] == [(2, 'a\nb "c"'), (5, "d")]


def test_a_table_may_begin_with_a_mark_be_utf_16_or_packed() -> None:
    text = "id,question\n1,é\n"
    for data in (
        b"\xef\xbb\xbf" + text.encode(),
        text.encode("utf-16"),
        gzip.compress(text.encode()),
    ):
        (row,) = read(data)
        assert said(row) == [("user", "é")]


def test_cells_too_few_and_too_many_are_kept_and_noted() -> None:
    rows = read("question,a\nx\ny,1,2\n")
    assert rows[0].task is not None
    assert rows[0].task.attributes == {"question": "x"}
    assert "short_row" in codes(rows[0])
    assert rows[1].task is not None
    assert rows[1].task.attributes == {"question": "y", "a": "1", "column_3": "2"}
    assert "long_row" in codes(rows[1])


def test_columns_without_or_with_the_same_name_get_one() -> None:
    (row,) = read("Question,,a,a\nq,1,2,3\n")
    assert row.task is not None
    assert row.task.attributes == {"question": "q", "column_2": "1", "a": "2", "a_4": "3"}
    assert [note.place for note in row.notes if note.code == "column_name"] == [
        "question", "column_2", "a_4"
    ]  # fmt: skip


def test_a_row_that_is_no_csv_is_refused_and_the_others_go_on() -> None:
    rows = read(b'question,b\n"a"x,1\ncaf\xe9,2\n\xc3\xb6k,3\n"never closed,4\nlost,5\n')
    assert [(row.line, row.task is not None) for row in rows] == [
        (2, False), (3, False), (4, True), (5, False)
    ]  # fmt: skip
    assert [note.code for row in rows for note in row.notes if note.kind == "refused"] == [
        "bad_csv", "bad_encoding", "bad_csv"
    ]  # fmt: skip


def test_a_cell_of_megabytes_is_read() -> None:
    (row,) = read("question\n" + "a" * (3 << 20) + "\n")
    assert len(said(row)[0][1]) == 3 << 20


def test_json_and_python_lists_in_cells_are_read() -> None:
    turns = [{"role": "user", "content": "it's"}, {"role": "assistant", "content": None}]
    turns[1]["content"] = "ok\nyes"
    printed = "[{!r}\n {!r}]".format(*turns)  # as NumPy prints an array of objects
    for written, code in (
        (json.dumps(turns), "json_in_cell"),
        (repr(turns), "python_repr_in_cell"),
        (printed, "python_repr_in_cell"),
    ):
        cell = '"' + written.replace('"', '""') + '"'
        (row,) = read(f"id,messages\n1,{cell}\n")
        assert said(row) == [("user", "it's"), ("assistant", "ok\nyes")]
        assert code in codes(row)
        assert row.format == "csv_table"


@pytest.mark.parametrize(
    "cell", ["[open(1)]", "{1: 2}", "[b'x']", "[" * 300, "{" + "[" * 2000, "[1,", "{'a': {1, 2}}"]
)
def test_what_only_looks_like_a_list_stays_text(cell: str) -> None:
    (row,) = read(f'question,a\nq,"{cell}"\n')
    assert row.task is not None
    assert row.task.attributes["a"] == cell


def test_cells_like_formulas_are_kept_and_noted_and_guarded_ones_freed() -> None:
    (row,) = read("question,a,b,c,d\n=1+1,'=2,-5,+3.5%,'quoted\n")
    assert row.task is not None
    assert row.task.attributes == {
        "question": "=1+1", "a": "=2", "b": "-5", "c": "+3.5%", "d": "'quoted"
    }  # fmt: skip
    assert [note.place for note in row.notes if note.code == "formula_like"] == ["question", "a"]


def test_a_table_without_a_conversation_asks_for_a_mapping_by_the_names_of_its_columns() -> None:
    (row,) = read("foo,bar\n1,2\n")
    assert row.task is None
    assert codes(row) == {"needs_column_mapping"}
    assert "'foo', 'bar'" in row.notes[-1].message


LONG = (
    "conversation_id,turn,role,content,lang\nb,2,assistant,hey,de\na,1,user,hi,en\nb,1,user,yo,de\n"
)


def test_rows_of_turns_are_joined_by_conversation_and_put_in_order() -> None:
    first, second = read(LONG)
    assert (first.format, first.line) == ("csv_long", 2)
    assert said(first) == [("user", "yo"), ("assistant", "hey")]
    assert first.task is not None
    assert (first.task.key, first.task.attributes) == ("b", {"lang": "de"})
    assert {"reordered", "joined_rows"} <= codes(first)
    assert said(second) == [("user", "hi")]


def test_turns_without_an_id_or_with_one_each_are_one_conversation() -> None:
    for text in (
        "role,content\nuser,a\nassistant,b\n",
        "id,role,content\n1,user,a\n2,assistant,b\n",
    ):
        (row,) = read(text)
        assert said(row) == [("user", "a"), ("assistant", "b")]


def test_an_id_that_is_repeated_parts_conversations() -> None:
    rows = read("id,role,content\n1,user,a\n2,user,c\n1,assistant,b\n")
    assert [said(row) for row in rows] == [[("user", "a"), ("assistant", "b")], [("user", "c")]]
    assert [row.task.key for row in rows if row.task] == ["1", "2"]


def test_a_table_of_turns_may_have_no_header_and_empty_texts() -> None:
    (row,) = read("user,hi\nassistant,\n")
    assert said(row) == [("user", "hi"), ("assistant", "")]
    assert {"no_header", "empty_turn"} <= codes(row)


def test_speakers_of_turns_may_have_names() -> None:
    (row,) = read("speaker,text\nAnn,hi\nSupport Bo,hello\n")
    assert said(row) == [("user", "hi"), ("assistant", "hello")]
    assert "speaker_names" in codes(row)
    assert row.task is not None
    assert row.task.messages[0].detail == {"speaker": "Ann"}


def test_an_unknown_word_in_a_column_of_roles_is_refused() -> None:
    (row,) = read("role,content\nuser,a\ncritic,b\n")
    assert (row.task, row.roles) == (None, "u?")
    assert "unknown_role" in codes(row)


def test_json_rows_of_turns_are_joined_too() -> None:
    (row,) = read(
        '{"role": "user", "content": "a"}\n{"role": "assistant", "content": "b"}', "t.jsonl"
    )
    assert said(row) == [("user", "a"), ("assistant", "b")]


def test_rows_may_be_held_to_being_a_table() -> None:
    (row,) = read(
        '{"messages": "[{\\"role\\": \\"user\\", \\"content\\": \\"a\\"}]"}',
        format="csv_table",
        name="",
    )
    assert (row.format, said(row)) == ("csv_table", [("user", "a")])


@pytest.mark.parametrize(
    "text",
    [
        "ticket,what they said,what we said\nT1,It broke,Sorry\nT2,Still,Sending one\n",
        "a\tb\n1\t2",
        'x;y\n"1; and\n2";3\n',
    ],
)
def test_a_pasted_table_with_columns_of_its_own_is_a_table(text: str) -> None:
    rows = read(text, "pasted text")
    assert {row.format for row in rows} == {"csv_table"}


@pytest.mark.parametrize(
    "text",
    [
        "Hello Anna, how are you\nFine, thanks\n",
        "Dear Sir,\nI am, yours\n",
        "User: hi,you\nBot: x,y\n",
        "Oh,no,not again\n",
        "1,2\n3,4\n",
        "one,two\nthree\n",
    ],
)
def test_a_pasted_text_with_commas_stays_a_text(text: str) -> None:
    assert {row.format for row in read(text, "pasted text")} == {"transcript"}


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1"])
def test_a_table_in_another_encoding_is_refused_once(encoding: str) -> None:
    lines = ["prompt,completion", "plain,yes", *["caf\xe9,r\xe9sum\xe9"] * 50]
    (row,) = read("\n".join(lines).encode(encoding))
    assert (row.task, row.line) == (None, 3)
    (note,) = row.notes
    assert note.code == "bad_encoding"
    assert "byte 32 (0xe9, on line 3)" in note.message
    assert "'\xe9'" in note.message
    assert "UTF-8" in note.message


@pytest.mark.parametrize("odd", [b"caf\x81", b"caf\xe9\x01"])
def test_bytes_that_are_of_no_encoding_refuse_their_row_alone(odd: bytes) -> None:
    rows = read(b"question\n" + odd + b"\nok\n")
    assert [row.task is not None for row in rows] == [False, True]


def test_a_character_across_pieces_is_no_other_encoding() -> None:
    pieces = [b"question\nh\xc3", b"\xa9\n"]
    (row,) = read_tasks(iter(pieces), file_name="t.csv")
    assert said(row) == [("user", "h\xe9")]
