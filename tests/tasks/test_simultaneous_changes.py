"""Several people change an environment at once: each change happens, one after another."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kits.installation import ROOT, Installation
from tests.kits.postgres import postgres_database


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/db.sqlite3"
    else:
        with postgres_database() as url:
            yield url


@pytest.mark.worker
@pytest.mark.timeout(300)
def test_changes_of_one_environment_follow_one_another(database: str, tmp_path: Path) -> None:
    made = Installation(tmp_path, database, broker_url="memory://")
    made.manage("migrate", "--verbosity", "0")
    told = subprocess.run(
        [sys.executable, "tests/tasks/changing_at_once.py"],
        cwd=ROOT, env=made.environment, capture_output=True, check=True, timeout=200,
    )  # fmt: skip
    assert json.loads(told.stdout) == {
        "faults": [],
        "environments": 8,
        "default": 1,
        "positions": list(range(8)),
        "tools": 2,
    }
