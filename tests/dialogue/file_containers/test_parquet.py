"""Parquet is read row by row; what JSON has no word for becomes text, and is noted."""

import datetime as dt
import io
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apps.dialogue.file_containers.file_rows import file_rows
from apps.dialogue.file_formats import ReadRow, read_tasks


def packed(rows: list[dict[str, Any]], **options: Any) -> bytes:
    held = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, **options), held)
    return held.getvalue()


def read(data: bytes) -> list[ReadRow]:
    return list(read_tasks([data[i : i + 500] for i in range(0, len(data), 500)]))


def test_conversations_as_arrow_has_them_are_read() -> None:
    rows = read(packed([
        {"id": n, "messages": [{"role": "user", "content": f"q{n}", "name": None if n else "ann"}]}
        for n in range(450)
    ]))  # fmt: skip
    assert [row.line for row in rows] == list(range(1, 451))
    assert {row.format for row in rows} == {"openai_chat"}
    assert rows[449].task is not None
    assert (rows[449].task.key, rows[449].task.messages[0].text) == ("449", "q449")


def test_a_conversation_may_be_the_text_of_json() -> None:
    (row,) = read(packed([{"messages": '[{"role": "user", "content": "hi"}]'}]))
    assert (row.format, row.roles) == ("openai_chat", "u")
    assert "json_in_cell" in {note.code for note in row.notes}


def test_what_json_lacks_becomes_text_and_is_noted() -> None:
    (row,) = read(packed([{
        "question": "q\x00",
        "at": dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC),
        "price": Decimal("1.50"),
        "image": {"bytes": b"\x01\x02", "path": None},
        "score": float("nan"),
    }]))  # fmt: skip
    assert row.task is not None
    assert row.task.attributes == {
        "question": "q", "at": "2026-01-02T03:04:00+00:00", "price": "1.50",
        "image": {"bytes": "AQI=", "path": None}, "score": None,
    }  # fmt: skip
    noted = {(note.place, note.code) for note in row.notes}
    assert {
        ("at", "not_json"), ("price", "not_json"), ("image.bytes", "not_json"),
        ("question", "nul_char"), ("score", "non_finite"),
    } <= noted  # fmt: skip


@pytest.mark.parametrize("cut", [10, 200, -8])
def test_a_broken_file_is_one_refusal(cut: int) -> None:
    rows = read(packed([{"question": "q" * 50, "n": 1}])[:cut])
    assert [row.task for row in rows] == [None]
    assert "cannot be read" in rows[0].notes[-1].message


def test_a_file_without_rows_is_empty() -> None:
    held = io.BytesIO()
    pq.write_table(pa.table({"question": pa.array([], pa.string())}), held)
    (row,) = read(held.getvalue())
    assert row.notes[-1].code == "empty_file"


def table(**columns: pa.Array) -> bytes:
    held = io.BytesIO()
    pq.write_table(pa.table({"question": pa.array(["q"] * len(next(iter(columns.values())))),
                             **columns}), held, compression="zstd")  # fmt: skip
    return held.getvalue()


def broken_text() -> pa.Array:
    buffers = [None, pa.py_buffer(b"\0\0\0\0\3\0\0\0\4\0\0\0"), pa.py_buffer(b"a\xffbc")]
    return pa.Array.from_buffers(pa.string(), 2, buffers)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array([1_700_000_000_000_000_001, 0], pa.timestamp("ns")),
         ["2023-11-14T22:13:20.000000001", "1970-01-01T00:00:00"]),
        (pa.array([1_700_000_000_000_000_001, 0], pa.timestamp("ns", "UTC")),
         ["2023-11-14T22:13:20.000000001+00:00", "1970-01-01T00:00:00+00:00"]),
        (pa.array([1_500, 0], pa.timestamp("ms", "Mars/Phobos")),
         ["1970-01-01T00:00:01.500+00:00", "1970-01-01T00:00:00+00:00"]),
        (pa.array([10**17, 0], pa.timestamp("ms")),
         ["100000000000000 seconds since 1970", "1970-01-01T00:00:00"]),
        (pa.array([86_399_999_999_999, 0], pa.time64("ns")), ["23:59:59.999999999", "00:00:00"]),
        (pa.array([2**31 - 5, 0], pa.date32()), ["2147483643 days since 1970", "1970-01-01"]),
        (pa.array([2**62 + 1, 0], pa.duration("ns")), ["4611686018427387905 ns", "0:00:00"]),
        (broken_text(), ["a\ufffdb", "c"]),
    ],
)  # fmt: skip
def test_a_value_without_an_equal_becomes_text_and_the_others_stay(
    values: pa.Array, texts: list[str]
) -> None:
    rows = read(table(odd=values, deep=pa.array([[{"n": 1}]] * 2)))
    assert [row.task and row.task.attributes["odd"] for row in rows] == texts
    assert [row.task and row.task.attributes["deep"] for row in rows] == [[{"n": 1}]] * 2
    assert ("odd", "not_json") in {(note.place, note.code) for note in rows[0].notes}


def test_columns_of_one_name_are_all_kept_and_noted() -> None:
    held = io.BytesIO()
    inner = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], names=["k", "k"])
    columns = [pa.array(["q"]), pa.array(["a"]), pa.array(["b"]), inner]
    pq.write_table(pa.Table.from_arrays(columns, ["question", "x", "x", "s"]), held)
    (row,) = read(held.getvalue())
    assert row.task is not None
    assert row.task.attributes == {"question": "q", "x": "a", "x_3": "b", "s": {"k": 1, "k_2": 2}}
    noted = {note.place for note in row.notes if note.code == "column_name"}
    assert noted == {"x_3", "s.k_2"}


def test_a_text_that_many_rows_share_takes_memory_once() -> None:
    data = table(more=pa.array(["A" * 5_000_000] * 200))
    assert len(data) < 2_000
    before = pa.total_allocated_bytes()
    most = lines = 0
    for row in file_rows([data]):
        lines += 1
        assert len(row.value["more"]) == 5_000_000
        most = max(most, pa.total_allocated_bytes() - before)
    assert lines == 200
    assert most < 64 << 20


def test_a_row_that_is_too_large_is_refused_alone() -> None:
    texts = [["A" * 5_000_000] * 20, ["b"]]
    first, second = file_rows([table(more=pa.array(texts))])
    assert (first.line, first.fault_code, first.fault) == (
        1, "too_long", "the row is larger than 64 MiB",
    )  # fmt: skip
    assert (second.line, second.value) == (2, {"question": "q", "more": ["b"]})


def test_a_file_that_grows_beyond_measure_is_refused() -> None:
    held = io.BytesIO()
    texts = [str(n) + "A" * 1_000_000 for n in range(80)]
    pq.write_table(pa.table({"a": texts}), held, compression="zstd", use_dictionary=False)
    (row,) = file_rows([held.getvalue()])
    assert (row.fault_code, "may be a bomb" in row.fault) == ("bad_archive", True)


def test_a_list_without_end_is_refused_before_it_is_read() -> None:
    offsets = pa.array([0, 17_000_000], pa.int32())
    column = pa.ListArray.from_arrays(offsets, pa.nulls(17_000_000, pa.int8()))
    (row,) = file_rows([table(more=column)])
    assert (row.fault_code, "values in lists" in row.fault) == ("bad_archive", True)


@pytest.mark.parametrize(
    "kind", [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_texts_of_every_kind_are_read(kind: pa.DataType) -> None:
    values = ["a", None, "b" * 50]
    rows = list(file_rows([table(more=pa.array(values).cast(kind))]))
    assert [row.value["more"] for row in rows] == values


def test_maps_and_lists_of_fixed_length_are_read() -> None:
    pairs = pa.array([[("a", "x"), ("b", "y")], None], pa.map_(pa.string(), pa.string()))
    twos = pa.array([["p", "q"], None], pa.list_(pa.string(), 2))
    at = pa.array([1, 2], pa.timestamp("ns"))
    for more in ({}, {"at": at}):
        rows = list(file_rows([table(pairs=pairs, twos=twos, **more)]))
        assert rows[0].value["pairs"] == [["a", "x"], ["b", "y"]]
        assert rows[0].value["twos"] == ["p", "q"]
        assert (rows[1].value["pairs"], rows[1].value["twos"]) == (None, None)
