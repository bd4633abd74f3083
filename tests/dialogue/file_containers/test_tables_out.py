"""CSV and Parquet give back exactly what they were made of, whatever the values."""

import csv
import io
import json
from typing import Any

import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers.table_cells import MARKER, from_table_row, guarded, unguarded
from apps.dialogue.file_containers.writing import WRITERS
from tests.dialogue.conversations import json_objects

TABLES = ("csv", "parquet")


def written(kind: str, rows: list[dict[str, Any]]) -> bytes:
    sink = io.BytesIO()
    writer = WRITERS[kind].writer(sink)
    for row in rows:
        writer.write(row)
    writer.close()
    return sink.getvalue()


def cells(kind: str, data: bytes) -> list[dict[str, Any]]:
    """The rows as any reader of such files has them."""
    if kind == "csv":
        return list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    return list(pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist())


def read_back(kind: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [from_table_row(row) for row in cells(kind, written(kind, rows))]


names = st.sampled_from(["a", "b", "=x", "'=y", MARKER, "", " a", "x\ny"]) | st.text(max_size=4)
values = (
    st.sampled_from(["=1+1", "'=1", "'", "+", "-5", "5", "null", '"', "[1]", " a", "a\r", "", "\n"])
    | st.sampled_from(
        [None, True, 0, -5, 2**53, 2**53 + 1, 2**63, -(2**63), 10**40, 0.0, 1.5, 1e300]
    )
    | st.text(max_size=6)
    | json_objects
    | st.lists(st.none() | st.integers() | st.text(max_size=2), max_size=3)
)
rows_of_values = st.lists(st.dictionaries(names, values, max_size=5), max_size=5)


def exactly(rows: list[dict[str, Any]]) -> str:
    """Key order and the kinds of numbers count."""
    return json.dumps(rows)


@pytest.mark.parametrize("kind", TABLES)
@settings(deadline=None)  # Parquet is loaded by the first example
@given(rows=rows_of_values)
def test_a_table_gives_back_its_rows(kind: str, rows: list[dict[str, Any]]) -> None:
    storable = [
        {k: v for k, v in row.items() if "\x00" not in k and not _has_nul(v)} for row in rows
    ]
    assert exactly(read_back(kind, storable)) == exactly(storable)


def _has_nul(value: Any) -> bool:
    return "\\u0000" in json.dumps(value)


def test_plain_values_are_plain_cells() -> None:
    row = {"id": "a", "score": 1.5, "answer": "Vienna", "where": {"lat": 48}, "ok": True}
    (cell,) = cells("csv", written("csv", [row]))
    assert cell["answer"] == "Vienna"
    assert cell["score"] == "1.5"
    assert cell["where"] == '{"lat":48}'
    (cell,) = cells("parquet", written("parquet", [row]))
    assert (cell["score"], cell["ok"], cell["answer"]) == (1.5, True, "Vienna")


def test_no_cell_of_a_csv_file_is_a_formula() -> None:
    rows = [{"id": "=cmd|' /C calc'!A0", "@name": "+1", "n": -5, "t": "\t=1"}]
    data = written("csv", rows)
    for row in csv.reader(io.StringIO(data.decode(), newline="")):
        for each in row:
            assert each[:1] not in {"=", "+", "@", "\t", "\r"}
            assert not each.startswith("-") or each == "-5"
    assert exactly(read_back("csv", rows)) == exactly(rows)


@given(st.text(max_size=5))
def test_a_guard_is_taken_off_again(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert unguarded(guarded("=" + text)) == "=" + text


def test_columns_of_numbers_have_their_kind_in_parquet() -> None:
    rows = [{"n": 1, "x": 1, "big": 2**70}, {"n": None, "x": 2.5, "big": 1}, {}]
    table = pyarrow.parquet.read_table(io.BytesIO(written("parquet", rows)))
    kinds = {field.name: str(field.type) for field in table.schema}
    assert kinds == {
        "id": "string", "conversation": "string",
        "n": "int64", "x": "double", "big": "string", MARKER: "string",
    }  # fmt: skip
    assert exactly(read_back("parquet", rows)) == exactly(rows)


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_without_rows_is_a_table(kind: str) -> None:
    assert cells(kind, written(kind, [])) == []


@pytest.mark.parametrize("kind", TABLES)
def test_keys_that_are_data_do_not_become_columns_without_end(kind: str) -> None:
    rows = [{f"key {number}": number} for number in range(1500)]
    assert len(cells(kind, written(kind, rows))[0]) <= 1001
    assert exactly(read_back(kind, rows)) == exactly(rows)


@pytest.mark.parametrize(
    ("row", "place"),
    [
        ({MARKER: "1"}, MARKER),
        ({MARKER: "{"}, MARKER),
        ({MARKER: '{"table": "xls"}'}, MARKER),
        ({MARKER: '{"table": "csv", "json": [1]}'}, MARKER),
        ({MARKER: '{"table": "csv", "more": []}'}, MARKER),
        ({MARKER: '{"table": "csv", "json": ["a"]}', "a": "{broken"}, "a"),
        ({MARKER: '{"table": "csv", "json": ["a"]}', "a": "[" * 5000}, "a"),
    ],
)
def test_a_table_that_was_broken_since_is_refused_by_the_column(
    row: dict[str, Any], place: str
) -> None:
    with pytest.raises(ImportRefused) as refused:
        from_table_row(row)
    assert refused.value.place == place


def test_a_table_may_be_edited_in_between() -> None:
    (row,) = cells("csv", written("csv", [{"id": "a", "x": [1], "y": "z"}]))
    edited = {"new": "column", **row, "y": "other"}
    del edited["x"]
    assert from_table_row(edited) == {"id": "a", "y": "other", "new": "column"}
