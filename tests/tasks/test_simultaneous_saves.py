"""Several processes save one task at once: nobody overwrites anybody, and nothing is lost."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kits.installation import ROOT, Installation
from tests.kits.postgres import postgres_database

PROCESSES, SAVES = 3, 15


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/db.sqlite3"
    else:
        with postgres_database() as url:
            yield url


@pytest.mark.worker
@pytest.mark.timeout(300)
def test_every_save_is_either_kept_as_a_revision_or_refused(database: str, tmp_path: Path) -> None:
    made = Installation(tmp_path, database, broker_url="memory://")
    made.manage("migrate", "--verbosity", "0")
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "one", "question": "Which?"}\n')
    made.manage("import_tasks", str(rows), "--environment", "lab/shop", "--create")
    savers = [
        subprocess.Popen(
            [
                sys.executable,
                "tests/tasks/saving_process.py",
                "lab",
                "shop",
                "one",
                name,
                str(SAVES),
            ],
            cwd=ROOT,
            env=made.environment,
            stdout=subprocess.PIPE,
        )
        for name in "abc"[:PROCESSES]
    ]
    told = [json.loads(process.communicate(timeout=200)[0]) for process in savers]
    saved = [words for each in told for words in each["saved"]]
    refused = [words for each in told for words in each["refused"]]
    assert len(saved) + len(refused) == PROCESSES * SAVES
    assert saved
    history = json.loads(made.manage("shell", "--no-imports", "-c", _HISTORY))
    assert [number for number, _ in history] == list(range(1, len(saved) + 2))
    assert sorted(words for _, words in history[1:]) == sorted(saved)


_HISTORY = """
import json
from apps.tasks.models import Revision
from apps.tasks.queries import content_of
rows = Revision.objects.order_by("number")
print(json.dumps([(row.number, content_of(row).messages[0].text) for row in rows]))
"""
