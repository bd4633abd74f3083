"""Large imports in the background: workers die, meet, and are asked to stop."""

import json
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.permissions import Actor
from apps.tasks import doorbell, jobs, leases
from apps.tasks.actions import (
    accept_import,
    change_import,
    create_export,
    deciding,
    discard_import,
    exports,
    import_work,
    imports,
    propose_import,
    tidying,
    undo_import,
    undoing,
)
from apps.tasks.models import Environment, Export, Import, Split, Task
from apps.tasks.queries import ledger_page, open_export
from apps.tasks.transfer_files import export_folder, import_folder
from tests.factories import make_split, make_task

ROWS = 20


@pytest.fixture
def rings(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """An installation with workers, of which nobody comes: the calls for them."""
    called: list[tuple[str, int]] = []
    monkeypatch.setattr(doorbell, "there_are_workers", lambda: True)
    monkeypatch.setattr(doorbell, "ring", lambda job, pk: called.append((job, pk)))
    monkeypatch.setattr(imports, "AT_ONCE_BYTES", 0)
    monkeypatch.setattr(deciding, "BATCH", 4)
    monkeypatch.setattr(undoing, "BATCH", 4)
    return called


@pytest.fixture
def waiting(
    split: Split,
    author: Actor,
    rings: list[tuple[str, int]],
    django_capture_on_commit_callbacks: Any,
) -> Import:
    """An import that waits to be read."""
    data = b"\n".join(
        json.dumps({"id": f"k{n}", "question": f"Number {n}?"}).encode() for n in range(ROWS)
    )
    with django_capture_on_commit_callbacks(execute=True):
        return propose_import(
            actor=author,
            environment=split.environment,
            pieces=[data[:99], data[99:]],
            file_name="rows.jsonl",
            split=split.name,
        )


def after(steps: int) -> Callable[[], bool]:
    """Asks a worker to stop at its look number ``steps``."""
    looks = count(1)
    return lambda: next(looks) >= steps


def never() -> bool:
    return False


def fresh(row: Import) -> Import:
    return Import.objects.get(pk=row.pk)


def expire(row: Import | Export) -> None:
    """The worker died: its lease runs out."""
    type(row).objects.filter(pk=row.pk).update(
        lease_expires_at=timezone.now() - timedelta(seconds=1)
    )


def proposed(row: Import) -> Import:
    assert not import_work.work_on(row.pk, never)
    return fresh(row)


def test_a_large_file_waits_for_a_worker(waiting: Import, rings: list[Any]) -> None:
    assert (waiting.state, rings) == ("reading", [(doorbell.WORK_ON_IMPORT, waiting.pk)])
    row = proposed(waiting)
    assert (row.state, row.created, row.bytes_read) == ("proposed", ROWS, row.bytes_total)
    assert not Task.objects.exists()


def test_a_reading_that_broke_off_begins_again(waiting: Import, author: Actor) -> None:
    assert import_work.work_on(waiting.pk, after(3))
    assert fresh(waiting).attempts == 0
    row = proposed(waiting)
    assert (row.created, row.rows_read) == (ROWS, ROWS)
    assert len(ledger_page(author, row).lines) == ROWS


def test_a_writing_that_broke_off_goes_on_and_counts_every_row_once(
    waiting: Import, author: Actor, split: Split
) -> None:
    row = accept_import(actor=author, imported=proposed(waiting))
    assert import_work.work_on(row.pk, after(2))
    half = fresh(row)
    assert (half.state, half.created, Task.objects.count()) == ("writing", 8, 8)
    assert half.progress == pytest.approx(0.4)
    assert not import_work.work_on(row.pk, never)
    row = fresh(row)
    assert (row.state, row.created, row.unchanged, row.refused) == ("done", ROWS, 0, 0)
    assert [line.key for line in ledger_page(author, row).lines] == [f"k{n}" for n in range(ROWS)]
    split.refresh_from_db()
    assert split.task_count == ROWS


def test_a_worker_that_was_taken_for_dead_writes_nothing_any_more(
    waiting: Import, author: Actor
) -> None:
    row = accept_import(actor=author, imported=proposed(waiting))

    def falls_asleep() -> bool:
        expire(row)
        assert not import_work.work_on(row.pk, never)
        return False

    assert not import_work.work_on(row.pk, falls_asleep)
    row = fresh(row)
    assert (row.state, row.created, Task.objects.count()) == ("done", ROWS, ROWS)
    assert len(ledger_page(author, row).lines) == ROWS


def test_two_workers_at_once_do_it_once(waiting: Import) -> None:
    def meanwhile() -> bool:
        assert not import_work.work_on(waiting.pk, never)
        assert fresh(waiting).state == "reading"
        return False

    assert not import_work.work_on(waiting.pk, meanwhile)
    assert fresh(waiting).state == "proposed"


def test_what_takes_down_every_worker_is_given_up(waiting: Import) -> None:
    for _ in range(leases.MOST_ATTEMPTS):
        assert leases.claim(Import, waiting.pk) is not None
        expire(waiting)
    assert not import_work.work_on(waiting.pk, never)
    row = fresh(waiting)
    assert row.state == "failed"
    assert "never came to an end" in row.error


def test_discarding_ends_the_reading(waiting: Import, author: Actor) -> None:
    looks = count()

    def discarded() -> bool:
        if next(looks) == 0:
            discard_import(actor=author, imported=waiting)
        return False

    assert not import_work.work_on(waiting.pk, discarded)
    assert not Import.objects.exists()


def test_an_undo_that_broke_off_goes_on_and_counts_every_task_once(
    waiting: Import, author: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = accept_import(actor=author, imported=proposed(waiting))
    import_work.work_on(row.pk, never)
    monkeypatch.setattr(imports, "AT_ONCE_TASKS", 0)
    row = undo_import(actor=author, imported=fresh(row))
    assert row.state == "undoing"
    assert import_work.work_on(row.pk, after(2))
    assert fresh(row).removed == 8
    import_work.work_on(row.pk, never)
    assert (fresh(row).state, fresh(row).removed) == ("undone", ROWS)
    assert not Task.objects.exists()


def test_whoever_lost_the_right_meanwhile_writes_nothing(
    waiting: Import, author: Actor, environment: Environment
) -> None:
    row = accept_import(actor=author, imported=proposed(waiting))
    environment.project.memberships.filter(user=author.user).delete()
    import_work.work_on(row.pk, never)
    assert fresh(row).state == "failed"
    assert not Task.objects.exists()


def test_an_error_nobody_foresaw_is_told_and_ends_the_step(
    waiting: Import, monkeypatch: pytest.MonkeyPatch, author: Actor
) -> None:
    def broken(*args: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(import_work, "propose", broken)
    with pytest.raises(ZeroDivisionError):
        import_work.work_on(waiting.pk, never)
    assert fresh(waiting).error == import_work.UNFORESEEN
    monkeypatch.undo()
    assert change_import(actor=author, imported=fresh(waiting)).state == "proposed"


def test_the_sweep_rings_for_what_nobody_works_on(waiting: Import, rings: list[Any]) -> None:
    rings.clear()
    jobs.sweep_transfers()
    assert rings == [(doorbell.WORK_ON_IMPORT, waiting.pk)]
    leases.claim(Import, waiting.pk)
    rings.clear()
    jobs.sweep_transfers()
    assert rings == []
    jobs.work_on_import(waiting.pk)
    assert fresh(waiting).state == "reading"
    expire(waiting)
    jobs.work_on_import(waiting.pk)
    assert fresh(waiting).state == "proposed"


def test_old_proposals_and_files_of_exports_are_forgotten(
    waiting: Import, split: Split, author: Actor
) -> None:
    row = proposed(waiting)
    tidying.tidy()
    assert import_folder(row.pk).exists()
    Import.objects.update(finished_at=timezone.now() - timedelta(days=2))
    tidying.tidy()
    assert not Import.objects.exists()
    assert not import_folder(row.pk).exists()


def test_an_export_in_the_background_writes_the_whole_file(
    split: Split, author: Actor, rings: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        make_task(split=split, key=f"k{number}", actor=author)
    make_task(split=make_split(environment=split.environment, name="test"), actor=author)
    monkeypatch.setattr(exports, "AT_ONCE_TASKS", 0)
    row = create_export(
        actor=author, environment=split.environment, format="openreward", split="train"
    )
    assert (row.state, row.tasks_total) == ("writing", 3)
    assert exports.work_on(row.pk, after(1))
    jobs.work_on_export(row.pk)
    row = Export.objects.get(pk=row.pk)
    row.environment = split.environment
    assert (row.state, row.tasks, row.has_file) == ("done", 3, True)
    with open_export(author, row) as file:
        assert [json.loads(line)["id"] for line in file] == ["k0", "k1", "k2"]
    assert row.file_name == "shop-train.jsonl"
    Export.objects.update(finished_at=timezone.now() - timedelta(days=2))
    tidying.tidy()
    assert not export_folder(row.pk).exists()
    assert not Export.objects.get(pk=row.pk).has_file
