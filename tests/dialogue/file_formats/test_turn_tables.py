"""Tables with one row a turn: speakers with names of trades, and turns that are only dated."""

import io

import pytest

from apps.dialogue.file_formats import ReadRow, read_tasks


def read(text: str) -> list[ReadRow]:
    return list(read_tasks(io.BytesIO(text.encode()), file_name="x.csv"))


def test_customers_and_agents_are_speakers() -> None:
    rows = read("dialog_id,speaker,text\n1,agent,hello\n1,customer,hi\n2,customer,x\n")
    assert [row.roles for row in rows] == ["au", "u"]
    (note,) = [each for each in rows[0].notes if each.code == "speaker_names"]
    assert note.message == "speakers were read by name: 'agent' as assistant, 'customer' as user"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("2026-01-02T10:00:01", "2026-01-02T10:00:05"),
        ("2026-01-02 23:00:00+00:00", "2026-01-03 00:30:00+01:00"),
        ("9", "10"),
        ("1767348000.5", "1767348001"),
    ],
)
def test_dated_turns_are_put_in_order(first: str, second: str) -> None:
    (row,) = read(
        f"thread_id,timestamp,role,message\nt,{second},assistant,then\nt,{first},user,first\n"
    )
    assert row.roles == "ua"
    assert "reordered" in {note.code for note in row.notes}


@pytest.mark.parametrize("when", ["yesterday", "nan", "2026-01-02T10:00:05+01:00"])
def test_dates_that_cannot_be_compared_leave_the_order(when: str) -> None:
    (row,) = read(
        f"thread_id,time,role,message\nt,2026-01-02T10:00:05,user,a\nt,{when},assistant,b\n"
    )
    assert row.roles == "ua"
    assert "unordered" in {note.code for note in row.notes}


def test_lines_may_end_as_on_old_macintoshes() -> None:
    rows = read("prompt,completion\rx,y\rz,w\r")
    assert [(row.line, row.roles) for row in rows] == [(2, "ua"), (3, "ua")]
