"""Parquet is read row by row; what JSON has no word for becomes text, and is noted."""

import datetime as dt
import io
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

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
