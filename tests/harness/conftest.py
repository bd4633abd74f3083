from collections.abc import Iterator

import pytest

from apps.accounts.actions import create_api_key, create_project
from apps.accounts.models import Project, Scope
from apps.accounts.permissions import OPERATOR
from apps.tasks.actions import load_bundle
from tests.harness.bundle import BUNDLE
from tests.harness.harnesses import Harness
from tests.harness.live import LiveServer


@pytest.fixture
def kit(db: None) -> Project:
    """The project ``kit`` with the two environments of `tests.harness.bundle`."""
    project = create_project(actor=OPERATOR, slug="kit")
    load_bundle(actor=OPERATOR, project=project, bundle=BUNDLE)
    return project


def key_of(project: Project, *scopes: str) -> str:
    made = create_api_key(
        actor=OPERATOR, project=project, name="test", scopes=scopes or (Scope.HARNESS,)
    )
    return made.secret


@pytest.fixture
def harness(kit: Project) -> Harness:
    """A harness with a key of ``kit`` that may serve harnesses and nothing else."""
    return Harness(key_of(kit))


@pytest.fixture
def other(kit: Project) -> Harness:
    """Another harness of the same project, with a key of its own."""
    return Harness(key_of(kit))


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> LiveServer:
    """A server that is never started: its data are for others to start from."""
    server = LiveServer(tmp_path_factory.mktemp("prepared"))
    server.prepare()
    return server


@pytest.fixture(scope="session")
def live(prepared: LiveServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """One server for all tests that leave it as it was."""
    server = prepared.copy(tmp_path_factory.mktemp("live"), workers=2, threads=4)
    server.start()
    yield server
    server.stop()
