"""Files are read row by row, whatever their wrapping, and a bad row stops no good one."""

import gzip
import io
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import byte_stream
from apps.dialogue.file_formats import FORMATS, ReadRow, read_tasks

CHAT = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]}
GOOD = json.dumps(CHAT).encode()


def read(data: bytes, **options: Any) -> list[ReadRow]:
    return list(read_tasks(io.BytesIO(data), **options))


def outcome(rows: list[ReadRow]) -> list[tuple[int, bool]]:
    return [(row.line, row.task is not None) for row in rows]


def codes(row: ReadRow) -> list[str]:
    return [note.code for note in row.notes]


def refusal(row: ReadRow) -> str:
    assert row.task is None
    (note,) = [each for each in row.notes if each.kind == "refused"]
    return note.message


def test_a_bad_line_is_refused_with_its_reason_and_the_good_ones_go_on() -> None:
    rows = read(
        GOOD + b"\n"
        b'{"messages": [{"role": "user", "content": "cut o\n'
        b"{'messages': []}\n"
        b"\n"
        b'{"messages": "caf\xe9"}\n'
        b"// a comment\n"
        b"{} }\n"
        + b"[" * 5000 + b"\n"
        b'{"messages": [], "n": ' + b"9" * 5000 + b"}\n"
        + GOOD
    )  # fmt: skip
    assert outcome(rows) == [
        (1, True), (2, False), (3, False), (5, False), (6, False), (7, False), (8, False),
        (9, False), (10, True),
    ]  # fmt: skip
    assert [refusal(row).split(" (")[0] for row in rows[1:-1]] == [
        "the line is not JSON: Unterminated string starting at",
        "the line is not JSON: Expecting property name enclosed in double quotes",
        "the line is not UTF-8 at its byte 18",
        "the line is not JSON: Expecting value",
        "the line is not JSON: more follows after the value",
        "the line is nested too deeply",
        "the line holds an integer of more than 4300 digits",
    ]
    assert all(row.format is None for row in rows[1:-1])


@pytest.mark.parametrize("row", [b"null", b"[]", b"0", b'"text"', b"true"])
def test_a_row_that_is_no_object_is_refused(row: bytes) -> None:
    rows = read(GOOD + b"\n" + row + b"\n" + GOOD)
    assert outcome(rows) == [(1, True), (2, False), (3, True)]
    assert refusal(rows[1]).startswith("a row must be an object, not ")


PRETTY = json.dumps(CHAT, indent=2).encode()


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (GOOD + b"\n" + GOOD, [1, 2]),
        (GOOD + b"\r\n\r\n" + GOOD + b"\r\n", [1, 3]),
        (b"\n \t\n" + GOOD + b"\n\n\n" + GOOD + b"\n\n", [3, 6]),
        (b"[" + GOOD + b",\n" + GOOD + b"]", [1, 2]),
        (b"\n[\n" + GOOD + b",\n" + GOOD + b"\n]\n", [3, 4]),
        (json.dumps([CHAT, CHAT], indent=1).encode(), [2, 14]),
        (PRETTY, [1]),
        (PRETTY + b"\n" + PRETTY + b"\n", [1, 13]),
        (b"[" + GOOD + b"]\n[" + GOOD + b"]", [1, 2]),
    ],
    ids=["lines", "crlf", "blank lines", "array", "array over lines", "pretty array", "one object",
         "objects one after another", "arrays one after another"],
)  # fmt: skip
def test_any_wrapping_of_json_is_read_with_the_line_of_each_row(
    data: bytes, lines: list[int]
) -> None:
    assert outcome(read(data)) == [(line, True) for line in lines]
    assert outcome(read(data, file_name="wrong.name.json")) == [(line, True) for line in lines]


@given(
    st.integers(1, 40), st.sampled_from([GOOD + b"\n" + PRETTY, b"[" + PRETTY + b"," + GOOD + b"]"])
)
def test_it_does_not_matter_in_which_pieces_the_bytes_come(size: int, data: bytes) -> None:
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    assert list(read_tasks(pieces)) == read(data)


def test_only_a_line_feed_ends_a_line() -> None:
    row = {"messages": [{"role": "user", "content": "a\u2028b\u2029c\u0085d\u000be\u000cf"}]}
    data = json.dumps(row, ensure_ascii=False).replace("\\u000b", "\u000b").encode()
    (read_row,) = read(json.dumps(row, ensure_ascii=False).encode())
    assert read_row.task is not None
    assert read_row.task.messages[0].text == row["messages"][0]["content"]
    assert len(read(data)) == 1


def test_what_is_wrapped_around_the_text_is_undone_and_noted() -> None:
    lines = GOOD + b"\n" + GOOD
    for data, code in (
        (gzip.compress(GOOD + b"\n") + gzip.compress(GOOD), "gzip"),
        (b"\xef\xbb\xbf" + lines, "bom"),
        (lines.decode().encode("utf-16"), "utf_16"),
        (lines.decode().encode("utf-16-le"), "utf_16"),
        (lines.decode().encode("utf-16-be"), "utf_16"),
        (lines.decode().encode("utf-16-be").join([b"\xfe\xff", b""]), "utf_16"),
    ):
        rows = read(data)
        assert outcome(rows) == [(1, True), (2, True)]
        assert codes(rows[0]) == [code]
        assert codes(rows[1]) == ["duplicates"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (gzip.compress(GOOD * 100, mtime=0)[:-12], "gzip file is cut off"),
        (gzip.compress(GOOD, mtime=0)[:-8] + b"\0" * 8, "gzip file is broken"),
        (GOOD.decode().encode("utf-16")[:-1], "broken UTF-16"),
        (b"[" + GOOD + b', "\xff"]', "not UTF-8"),
        (b"[" + GOOD + b",", "the array has no end"),
        (b"[" + GOOD + b', {"a": }]', "not JSON"),
        (b"[" + GOOD + b', {"a": ', "not JSON"),
    ],
    ids=["cut gzip", "broken gzip", "utf-16", "utf-8", "open array", "bad value", "cut value"],
)
def test_a_file_that_breaks_off_says_so(data: bytes, reason: str) -> None:
    assert reason in refusal(read(data)[-1])


@pytest.mark.parametrize(
    ("data", "name", "reason"),
    [
        (b"", "x.jsonl", "empty"),
        (b" \n\n", "x.jsonl", "empty"),
        (b"[]", "x.json", "empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "x.jsonl", "Git LFS"),
        (b"<!doctype html><html></html>", "x.json", "HTML"),
        (b"\x89PNG\r\n\x1a\n", "x.jsonl", "picture"),
        (b"%PDF-1.7\n", "x.txt", "PDF"),
        (b"\x80\x04\x95pickle", "x.json", "pickle"),
        (b"user\x00\x01", "x.txt", "binary"),
        (b"a: 1\n", "x.yaml", "YAML"),
    ],
    ids=[
        "nothing",
        "blanks",
        "empty array",
        "lfs",
        "html",
        "picture",
        "pdf",
        "pickle",
        "binary",
        "yaml",
    ],
)
def test_a_file_that_is_no_json_is_one_refusal(data: bytes, name: str, reason: str) -> None:
    rows = read(data, file_name=name)
    assert outcome(rows) == [(1, False)]
    assert reason in refusal(rows[0])


def test_a_key_written_twice_is_noted_as_dropped() -> None:
    (row,) = read(
        b'{"id": 1, "messages": [{"role": "user", "content": "a", "content": "b"}], "id": 2}'
    )
    assert row.task is not None
    assert row.task.messages[0].text == "b"
    dropped = [note.message for note in row.notes if note.kind == "dropped"]
    assert [each.split("'")[1] for each in dropped] == ["content", "id"]


def test_rows_come_one_by_one_before_the_file_is_read_to_its_end() -> None:
    given_out = 0

    def pieces() -> Iterator[bytes]:
        nonlocal given_out
        for _ in range(1000):
            given_out += 1
            yield GOOD + b"\n"

    rows = read_tasks(pieces())
    assert next(rows).task is not None
    assert given_out < 5


def test_a_line_without_end_is_not_held_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_stream, "LONGEST_LINE", 1000)
    pieces = [GOOD + b"\n", *[b"x" * 300] * 10, b"\n" + GOOD]
    rows = list(read_tasks(pieces))
    assert outcome(rows) == [(1, True), (2, False), (3, True)]
    assert "longer than" in refusal(rows[1])


def test_an_unknown_format_is_refused_at_once() -> None:
    with pytest.raises(ImportRefused, match="'xml'; there are auto, openreward"):
        read_tasks(io.BytesIO(b""), format="xml")


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_format_may_be_demanded_and_then_every_row_is_held_to_it(name: str) -> None:
    (row,) = read(b'{"other": 1}', format=name)
    assert row.format == name
    assert row.task is None


@pytest.mark.parametrize(
    "large",
    [
        b'{"question": "' + b"a" * (8 << 20) + b'"}',
        b" " * (8 << 20) + GOOD,
        b"{" + b"".join(b'"k%d": 0, ' % i for i in range(30_000)) + b'"k1": 0, "question": "a"}',
    ],
    ids=["a long first line", "a long beginning of spaces", "many keys, one of them twice"],
)
def test_the_work_grows_with_the_size_of_a_row_and_no_faster(large: bytes) -> None:
    pieces = [large[start : start + 512] for start in range(0, len(large), 512)]
    began = time.process_time()
    (row,) = read_tasks(pieces)
    assert row.task is not None
    assert time.process_time() - began < 2


@pytest.mark.parametrize("first", [None, True, 0, -1.5, float("nan")])
def test_an_array_may_begin_with_any_value(first: object) -> None:
    data = json.dumps([first, {"messages": [{"role": "user", "content": "hi"}]}]).encode()
    rows = list(read_tasks(io.BytesIO(data)))
    assert [row.task is None for row in rows] == [True, False]


def test_an_array_of_a_turn_and_a_conversation_is_two_rows() -> None:
    turn = {"role": "user", "content": "hi"}
    rows = list(read_tasks(io.BytesIO(json.dumps([turn, {"messages": [turn]}]).encode())))
    assert [row.roles for row in rows] == ["u", "u"]
