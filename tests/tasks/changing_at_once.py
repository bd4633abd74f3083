"""Threads of one process change one environment at once; prints the faults and the outcome."""

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import django

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
django.setup()

from django.db import connection  # noqa: E402

from apps.accounts.actions import create_project  # noqa: E402
from apps.accounts.permissions import OPERATOR  # noqa: E402
from apps.tasks.actions import (  # noqa: E402
    ToolDraft,
    create_environment,
    create_split,
    set_tools,
    update_environment,
)
from apps.tasks.models import Environment  # noqa: E402

THREADS = 8


def at_once(change: Callable[[int], object]) -> list[str]:
    """The faults of ``THREADS`` changes that begin together."""
    faults: list[str] = []
    start = threading.Barrier(THREADS)

    def run(number: int) -> None:
        start.wait()
        try:
            change(number)
        except Exception as error:  # noqa: BLE001 - told to the test
            faults.append(repr(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return faults


def main() -> None:
    project = create_project(actor=OPERATOR, slug="lab")
    faults = at_once(lambda n: create_environment(actor=OPERATOR, project=project, slug=f"e{n}"))

    def fresh(number: int) -> Environment:
        return Environment.objects.select_related("project").get(slug=f"e{number}")

    faults += at_once(
        lambda n: update_environment(actor=OPERATOR, environment=fresh(n), is_default=True)
    )
    shared = fresh(0)
    faults += at_once(lambda n: create_split(actor=OPERATOR, environment=shared, name=f"s{n}"))
    faults += at_once(
        lambda n: set_tools(
            actor=OPERATOR,
            environment=shared,
            tools=[ToolDraft(name=f"t{n}", kind="answer"), ToolDraft(name="both", kind="answer")],
        )
    )
    found = {
        "faults": faults,
        "environments": Environment.objects.count(),
        "default": Environment.objects.filter(is_default=True).count(),
        "positions": sorted(shared.splits.values_list("position", flat=True)),
        "tools": shared.tools.count(),
    }
    sys.stdout.write(json.dumps(found))


main()
