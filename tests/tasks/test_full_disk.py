"""A full disk is said by name; what was half written goes first, so that there is room again."""

import errno
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError

from apps.accounts.errors import DISK_FULL, DiskFull, is_disk_full
from apps.accounts.permissions import Actor
from apps.api.problems import problem_of
from apps.tasks.actions import import_work, imports, propose_import
from apps.tasks.models import Import, Split
from apps.tasks.transfer_files import import_folder

pytestmark = pytest.mark.django_db

NO_ROOM = OSError(errno.ENOSPC, "No space left on device")
ROW = b'{"id": "a", "question": "q"}\n'


@pytest.fixture(autouse=True)
def state(settings: Any, tmp_path: Path) -> Path:
    settings.VAR = tmp_path / "state"
    return tmp_path / "state"


def no_room(*_: object, **__: object) -> None:
    raise NO_ROOM


def running_full() -> Iterator[bytes]:
    yield ROW
    raise NO_ROOM


def propose(split: Split, actor: Actor, pieces: Iterator[bytes]) -> Import:
    return propose_import(
        actor=actor,
        environment=split.environment,
        pieces=pieces,
        file_name="rows.jsonl",
        split=split.name,
    )


def test_a_file_for_which_there_is_no_room_leaves_nothing(split: Split, author: Actor) -> None:
    with pytest.raises(DiskFull) as refused:
        propose(split, author, running_full())
    assert (problem_of(refused.value).status, refused.value.message) == (507, DISK_FULL)
    assert not Import.objects.exists()
    assert not list(import_folder(1).parent.iterdir())


def test_the_file_goes_even_if_the_database_cannot_write(
    split: Split, author: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def filter(self, **_: object) -> None:
            raise OperationalError("could not write")

    def pieces() -> Iterator[bytes]:
        yield ROW
        monkeypatch.setattr(imports.Import, "objects", Broken())
        raise NO_ROOM

    with pytest.raises(DiskFull):
        propose(split, author, pieces())
    monkeypatch.undo()
    assert not list(import_folder(1).parent.iterdir())


def test_reading_that_finds_no_room_says_so(
    split: Split, author: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    fail = import_work._fail
    monkeypatch.setattr(import_work, "propose", no_room)
    monkeypatch.setattr(
        import_work, "_fail", lambda row, message: (said.append(message), fail(row, message))
    )
    with pytest.raises(OSError, match="No space") as raised:
        propose(split, author, iter([ROW]))
    assert said == [DISK_FULL]
    problem = problem_of(raised.value)
    assert (problem.status, problem.detail.startswith(DISK_FULL)) == (507, True)


def test_what_is_brought_is_for_the_installation_alone(
    split: Split, author: Actor, state: Path
) -> None:
    propose(split, author, iter([ROW]))
    folders = [state / "imports", *(each for each in state.rglob("*") if each.is_dir())]
    assert {stat.S_IMODE(each.stat().st_mode) for each in folders} == {0o700}


class Coded(Exception):
    sqlstate = "53100"


@pytest.mark.parametrize(
    ("error", "is_full"),
    [
        (OSError(errno.EDQUOT, "quota"), True),
        (OSError(errno.EACCES, "no"), False),
        (sqlite3.OperationalError("database or disk is full"), True),
        (OperationalError("database or disk is full"), True),
        (OperationalError("database is locked"), False),
        (Coded("could not extend file"), True),
        (ValueError("the disk is full of letters"), False),
    ],
)
def test_databases_say_it_each_in_their_way(error: Exception, is_full: bool) -> None:
    assert is_disk_full(error) is is_full
    outer = RuntimeError("while saving")
    outer.__cause__ = error
    assert is_disk_full(outer) is is_full
