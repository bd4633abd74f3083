"""Texts of two or four bytes a character are read, with a mark in front or without."""

import io
import json

import pytest

from apps.dialogue.file_formats import read_tasks

ROW = json.dumps({"messages": [{"role": "user", "content": "h\u00e9 \u6f22"}]}, ensure_ascii=False)
MARKS = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff",
         "utf-32-le": b"\xff\xfe\0\0", "utf-32-be": b"\0\0\xfe\xff"}  # fmt: skip


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize("encoding", MARKS)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_wide_texts_are_read(encoding: str, marked: bool, size: int) -> None:
    data = (MARKS[encoding] if marked else b"") + f"{ROW}\n".encode(encoding)
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    (read,) = read_tasks(pieces, file_name="x.jsonl")
    assert read.task is not None, read.notes
    assert read.task.messages[0].text == "h\u00e9 \u6f22"
    assert encoding.rpartition("-")[0].replace("-", "_") in {note.code for note in read.notes}


@pytest.mark.parametrize("data", [b"\x01\0\x02\0" * 9, b"\xff\xfe{\0\0", b'"\0a\0b'])
def test_what_is_broken_or_no_text_is_refused(data: bytes) -> None:
    rows = list(read_tasks(io.BytesIO(data), file_name="x.jsonl"))
    assert [row.task for row in rows] == [None]
