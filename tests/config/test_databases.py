"""Both databases: no migration is missing, and the rooms behave alike on PostgreSQL."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command

from tests.kits.postgres import postgres_database

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("accounts", "tasks", "providers", "traces", "runs", "episodes")


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


@pytest.mark.postgres
@pytest.mark.timeout(900)
@pytest.mark.parametrize("room", ROOMS)
def test_a_room_passes_its_tests_on_postgresql(room: str) -> None:
    """Run again in a process of its own, because the database is a setting."""
    folder = ROOT / "tests" / room
    with postgres_database() as url:
        done = subprocess.run(
            [
                sys.executable, "-m", "pytest", str(folder), "-q", "-p", "no:cacheprovider",
                "-m", "not postgres and not worker and not browser",
            ],
            cwd=ROOT,
            env={**os.environ, "DATABASE_URL": url},
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
