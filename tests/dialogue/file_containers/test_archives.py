"""ZIP archives are read member by member; bombs, locks and broken members are told."""

import gzip
import io
import json
import zipfile
from typing import Any

import pytest

from apps.dialogue.file_containers import zip_rows
from apps.dialogue.file_formats import ReadRow, read_tasks

CHAT = json.dumps({"messages": [{"role": "user", "content": "hi"}]})


def packed(members: dict[str, Any], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return held.getvalue()


def read(data: bytes, name: str = "x.zip") -> list[ReadRow]:
    pieces = [data[i : i + 1000] for i in range(0, len(data), 1000)]  # a stream that cannot seek
    return list(read_tasks(pieces, file_name=name))


def refusals(rows: list[ReadRow]) -> list[tuple[str, int, str]]:
    return [
        (row.file, row.line, note.message)
        for row in rows
        for note in row.notes
        if note.kind == "refused"
    ]


@pytest.mark.parametrize(
    "compression",
    [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA],
)
def test_members_are_files_of_their_own(compression: int) -> None:
    rows = read(packed({
        "a/": "", "a/chat.jsonl": f"{CHAT}\n\n{CHAT}", "__MACOSX/a/._chat.jsonl": "x",
        "b.csv": "question\nq\n",
        "a/b/talk.txt": "User: hi\nAssistant: ho", "c.json.gz": gzip.compress(CHAT.encode()),
        "empty.json": "", ".DS_Store": "x", "photo.png": "x", "chat.html": "<html>",
    }, compression))  # fmt: skip
    assert [(row.file, row.line, row.format, row.roles) for row in rows] == [
        ("a/chat.jsonl", 1, "openai_chat", "u"),
        ("a/chat.jsonl", 3, "openai_chat", "u"),
        ("b.csv", 2, "csv_table", "u"),
        ("a/b/talk.txt", 1, "transcript", "ua"),
        ("c.json.gz", 1, "openai_chat", "u"),
        ("empty.json", 1, None, ""),
    ]
    (skipped,) = [note for row in rows for note in row.notes if note.code == "skipped_members"]
    assert "photo.png, chat.html" in skipped.message
    assert skipped in rows[0].notes


def test_files_that_tell_of_the_others_are_left_out_unless_they_are_alone() -> None:
    rows = read(packed({"data/README.md": "# About", "LICENSE.txt": "MIT", "data/a.jsonl": CHAT}))
    assert [(row.file, row.roles) for row in rows] == [("data/a.jsonl", "u")]
    assert [note.code for note in rows[0].notes] == ["skipped_members"]
    (alone,) = read(packed({"README.md": "User: hi\nAssistant: ho"}))
    assert alone.roles == "ua"


def test_an_archive_in_an_archive_is_refused() -> None:
    (row,) = read(packed({"in.zip": packed({"a.json": CHAT})}))
    assert "archive in an archive" in row.notes[-1].message


def test_a_broken_member_is_refused_and_the_next_is_read() -> None:
    data = bytearray(packed({"a.jsonl": f"{CHAT}\n" * 50, "b.jsonl": CHAT}, zipfile.ZIP_STORED))
    data[data.index(b"hi") : data.index(b"hi") + 2] = b"ho"
    rows = read(bytes(data))
    assert [name for name, _, _ in refusals(rows)] == ["a.jsonl"]
    assert rows[-1].file == "b.jsonl"
    assert rows[-1].task is not None


def test_a_member_with_a_password_is_refused_by_name() -> None:
    data = bytearray(packed({"a.jsonl": CHAT}))
    for at in (data.index(b"PK\x03\x04") + 6, data.index(b"PK\x01\x02") + 8):
        data[at] |= 1
    assert refusals(read(bytes(data))) == [("a.jsonl", 1, "is locked with a password")]


def test_an_unknown_compression_is_refused() -> None:
    data = bytearray(packed({"a.jsonl": CHAT}))
    for at in (data.index(b"PK\x03\x04") + 8, data.index(b"PK\x01\x02") + 10):
        data[at] = 97
    ((name, _, message),) = refusals(read(bytes(data)))
    assert (name, "cannot be unpacked" in message) == ("a.jsonl", True)


def test_a_bomb_is_noticed_while_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = b"\n" * (40 << 20)
    ((name, _, message),) = refusals(read(packed({"a.jsonl": bomb})))[:1]
    assert (name, "bomb" in message) == ("a.jsonl", True)
    (row,) = read(gzip.compress(b"\n" * (80 << 20)), "x.jsonl.gz")
    assert "bomb" in row.notes[-1].message
    monkeypatch.setattr(zip_rows, "LARGEST_TOTAL", 100)
    assert "unpacks to more" in refusals(read(packed({"a.jsonl": CHAT * 10})))[-1][2]


def test_too_many_members_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_rows, "MOST_MEMBERS", 2)
    ((_, _, message),) = refusals(read(packed({f"{n}.json": CHAT for n in range(3)})))
    assert "more than 2 files" in message


@pytest.mark.parametrize("data", [b"PK\x03\x04rest", packed({"a.json": CHAT})[:-30]])
def test_a_broken_archive_is_one_refusal(data: bytes) -> None:
    ((_, line, message),) = refusals(read(data))
    assert line == 1
    assert "ZIP file is broken" in message
    (row,) = read(data)
    assert (row.format, row.notes[-1].code) == (None, "not_data")


def test_an_office_document_and_an_empty_archive_are_told() -> None:
    (row,) = read(packed({"[Content_Types].xml": "x", "xl/workbook.xml": "x"}), "x.xlsx")
    assert "Office document" in row.notes[-1].message
    (row,) = read(packed({}))
    assert row.notes[-1].code == "empty_file"


LOG = {
    "version": 2,
    "status": "success",
    "eval": {"task": "t", "model": "m", "run_id": "r", "created": ""},
}
SAMPLE = {"id": 1, "epoch": 1, "input": "q", "messages": [{"role": "user", "content": "q"}]}


def test_a_log_of_inspect_is_a_row_for_each_sample() -> None:
    rows = read(packed({
        "_journal/start.json": json.dumps(LOG),
        "samples/1_epoch_1.json": json.dumps(SAMPLE),
        "samples/2_epoch_1.json": "{broken",
        "samples/3_epoch_1.json": json.dumps({**SAMPLE, "id": 3}),
        "summaries.json": "[]",
        "header.json": json.dumps(LOG),
    }), "x.eval")  # fmt: skip
    assert [(row.file, row.format, row.roles) for row in rows] == [
        ("samples/1_epoch_1.json", "inspect_log", "u"),
        ("samples/2_epoch_1.json", None, ""),
        ("samples/3_epoch_1.json", "inspect_log", "u"),
    ]


def test_a_log_that_was_cut_off_has_its_start_for_a_header() -> None:
    started = {key: value for key, value in LOG.items() if key != "status"}
    rows = read(packed({
        "_journal/start.json": json.dumps(started), "samples/1_epoch_1.json": json.dumps(SAMPLE)
    }), "x.eval")  # fmt: skip
    assert [row.format for row in rows] == ["inspect_log"]


def exported(name: str) -> str:
    message = {"uuid": "m", "sender": "human", "text": "hi"}
    return json.dumps([{"uuid": name, "chat_messages": [message]}])


def test_only_the_conversations_of_an_export_are_read() -> None:
    account = {"users.json": '[{"email": "a@example.org"}]', "projects.json": "[]"}
    sent = {"file-1.csv": "question\nwhat was sent as a file\n"}
    archive = packed({**account, "conversations.json": exported("c"), **sent})
    (row,) = read(archive)
    assert (row.format, row.roles, row.file) == ("claude_export", "u", "conversations.json")
    (left,) = [note for note in row.notes if note.code == "skipped_members"]
    assert all(name in left.message for name in (*account, *sent))


def test_an_export_in_several_files_is_read_whole() -> None:
    names = ["data/conversations-000.json", "data/conversations-001.json"]
    found = read(packed({name: exported(name) for name in names} | {"data/user.json": "{}"}))
    assert [row.file for row in found] == names


def test_other_files_of_that_name_do_not_hide_their_neighbours() -> None:
    members = {"conversations.json": f"[{CHAT}]", "more.jsonl": CHAT}
    assert [row.file for row in read(packed(members))] == list(members)


def test_a_member_whose_name_is_broken_is_read_all_the_same() -> None:
    data = packed({"abc.jsonl": CHAT}).replace(b"abc.jsonl", b"\0bc.jsonl")
    assert [row.roles for row in read(data)] == ["u"]


@pytest.mark.parametrize("name", [".", "/", "..", "//", "\x1a"])
def test_a_member_whose_name_is_no_name_does_no_harm(name: str) -> None:
    # Python writes no name that begins with NUL, but reads one, as a name that is empty.
    rows = read(packed({name: CHAT, "a.jsonl": CHAT}).replace(b"\x1a", b"\0"))
    assert [row.roles for row in rows if row.task] == ["u"]
    assert read(packed({name: CHAT}))
