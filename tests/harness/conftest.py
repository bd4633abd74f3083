import pytest

from apps.accounts.actions import create_api_key, create_project
from apps.accounts.models import Project, Scope
from apps.accounts.permissions import OPERATOR
from apps.tasks.actions import load_bundle
from tests.harness.bundle import BUNDLE
from tests.harness.harnesses import Harness


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
