"""A real worker, killed while it reads, writes and undoes: another one goes on, nothing twice."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kits.installation import Installation, wait_until

pytestmark = [pytest.mark.worker, pytest.mark.xdist_group("workers"), pytest.mark.timeout(300)]

ROWS = 60_000
PROPOSE = """
from pathlib import Path
from apps.accounts.permissions import OPERATOR
from apps.tasks.actions import propose_import
from apps.tasks.models import Environment
row = propose_import(
    actor=OPERATOR, environment=Environment.objects.get(), split="train", file_name="rows.jsonl",
    pieces=[Path({path!r}).read_bytes()],
)
assert row.state == "reading"
"""
STEP = """
from apps.accounts.permissions import OPERATOR
from apps.tasks.actions import accept_import, undo_import
from apps.tasks.models import Import
row = {action}(actor=OPERATOR, imported=Import.objects.get())
assert row.is_open
"""


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    made = Installation(tmp_path, f"sqlite:///{tmp_path}/db.sqlite3", None)
    made.environment["RUN_LEASE_SECONDS"] = "3"
    try:
        made.manage("migrate", "--verbosity", "0")
        yield made
    finally:
        made.stop_all()


def state(installation: Installation) -> str:
    return str(installation.value("SELECT state FROM tasks_import ORDER BY id DESC LIMIT 1"))


def test_killed_workers_of_an_import_are_replaced(installation: Installation) -> None:
    rows = installation.folder / "rows.jsonl"
    with rows.open("wb") as file:
        for number in range(ROWS):
            row = {"id": f"k{number}", "question": f"Number {number}? {'x ' * 40}"}
            file.write(json.dumps(row).encode() + b"\n")
    first = installation.folder / "first.jsonl"
    first.write_text('{"id": "first", "question": "One?"}\n')
    address = ("--environment", "alpha/shop", "--create", "--split", "train")
    installation.manage("import_tasks", str(first), *address)
    installation.manage("shell", "-c", "from apps.tasks.models import Import\n"
                        "Import.objects.all().delete()")  # fmt: skip
    installation.start_broker()
    worker = installation.worker()
    installation.manage("shell", "-c", PROPOSE.format(path=str(rows)))
    read = "SELECT rows_read FROM tasks_import"
    wait_until(lambda: installation.value(read) > 0, "a sign of reading")
    installation.kill(worker)
    assert state(installation) == "reading"
    worker = installation.worker()
    wait_until(lambda: state(installation) == "proposed", "the proposal", 120)
    assert installation.value("SELECT created FROM tasks_import") == ROWS
    assert installation.value("SELECT count(*) FROM tasks_task") == 1

    installation.manage("shell", "-c", STEP.format(action="accept_import"))
    wait_until(lambda: installation.value("SELECT created FROM tasks_import") > 0, "a batch")
    installation.kill(worker)
    assert state(installation) == "writing"
    worker = installation.worker()
    wait_until(lambda: state(installation) == "done", "the end of the writing", 120)
    told = "SELECT created, updated, unchanged, refused FROM tasks_import"
    assert installation.rows(told) == [(ROWS, 0, 0, 0)]
    assert installation.value("SELECT count(*) FROM tasks_task") == ROWS + 1
    assert installation.value("SELECT task_count FROM tasks_split") == ROWS + 1

    installation.manage("shell", "-c", STEP.format(action="undo_import"))
    wait_until(
        lambda: installation.value("SELECT removed FROM tasks_import") > 0, "an undone batch"
    )
    installation.kill(worker)
    installation.worker()
    wait_until(lambda: state(installation) == "undone", "the end of the undo", 120)
    assert installation.value("SELECT removed FROM tasks_import") == ROWS
    assert installation.value("SELECT count(*) FROM tasks_task") == 1
    assert installation.value("SELECT ready_count FROM tasks_split") == 1
