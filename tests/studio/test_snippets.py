"""The code that people paste is run as it stands: by the real client, by a shell."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_django.live_server_helper import LiveServer

from apps.studio.snippets import Snippets, snippets
from apps.tasks.models import Environment, Task
from apps.tasks.queries import tools
from tests.cast import Cast
from tests.factories import make_content, make_environment, make_split, make_task
from tests.needs import missing

pytestmark = pytest.mark.django_db(transaction=True)

SUBMIT = {"name": "submit", "kind": "answer", "argument": "text"}


@pytest.fixture
def shop(cast: Cast) -> Environment:
    """An environment whose only answer tool is a visible one."""
    row = make_environment(project=cast.project, slug="visible", tools=[SUBMIT])
    make_task(split=make_split(environment=row), content=make_content(), status="ready")
    return row


def made_for(cast: Cast, live_server: LiveServer, environment: Environment) -> Snippets:
    actor = cast.actors()["author"]
    return snippets(live_server.url, "alpha", environment.slug, "train", tools(actor, environment))


def settings_of(cast: Cast, pasted: Snippets) -> dict[str, str]:
    """What the first snippet exports, with a real key in its place."""
    text = pasted.env.replace("tw_...", cast.harness_key.secret)
    lines = [line.removeprefix("export ") for line in text.splitlines() if line]
    return dict(line.replace("'", "").split("=", 1) for line in lines)


def run(command: list[str], pasted: Snippets, cast: Cast) -> str:
    done = subprocess.run(
        command,
        env={**os.environ, **settings_of(cast, pasted)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("slug", ["shop", "visible"])
def test_the_python_plays_every_task_with_the_real_client(
    cast: Cast, live_server: LiveServer, task: Task, shop: Environment, slug: str, tmp_path: Path
) -> None:
    environment = shop if slug == "visible" else task.environment
    pasted = made_for(cast, live_server, environment)
    file = tmp_path / "pasted.py"
    file.write_text(pasted.python.replace("answer = ...", 'answer = "depot"'))
    assert run([sys.executable, str(file)], pasted, cast).split() == ["1.0", "True"]


@pytest.mark.parametrize("slug", ["shop", "visible"])
def test_the_shell_plays_one_episode_with_curl(
    cast: Cast, live_server: LiveServer, task: Task, shop: Environment, slug: str
) -> None:
    for program in ("bash", "curl"):
        if shutil.which(program) is None:
            missing(program, f"install {program}")
    environment = shop if slug == "visible" else task.environment
    pasted = made_for(cast, live_server, environment)
    said = run(["bash", "-c", pasted.curl], pasted, cast)
    assert "Where is my parcel? Order 7302." in said
    assert '"finished":true' in said
