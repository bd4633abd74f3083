"""Saves one task again and again, as one of several processes; prints what came of it.

    python saving_process.py PROJECT ENVIRONMENT KEY NAME SAVES

Each save starts from the revision that was current a moment ago, as an editor would.
"""

import json
import sys
from pathlib import Path

import django

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
django.setup()

from apps.accounts.errors import Conflict  # noqa: E402
from apps.accounts.permissions import OPERATOR  # noqa: E402
from apps.accounts.queries import get_project  # noqa: E402
from apps.tasks.actions import save_revision  # noqa: E402
from apps.tasks.queries import get_environment, get_task_by_key  # noqa: E402


def main(project: str, environment: str, key: str, name: str, saves: int) -> dict[str, list[str]]:
    shop = get_environment(OPERATOR, get_project(OPERATOR, project), environment)
    saved: list[str] = []
    refused: list[str] = []
    for number in range(saves):
        words = f"{name}-{number}"
        task = get_task_by_key(OPERATOR, shop, key)
        assert task.current is not None
        try:
            save_revision(
                actor=OPERATOR,
                task=task,
                base=task.current.number,
                content={
                    "messages": [{"role": "user", "blocks": [{"type": "text", "text": words}]}]
                },
            )
        except Conflict:
            refused.append(words)
        else:
            saved.append(words)
    return {"saved": saved, "refused": refused}


if __name__ == "__main__":
    json.dump(main(*sys.argv[1:5], int(sys.argv[5])), sys.stdout)
