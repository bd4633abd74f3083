"""Fixtures every test may use. Connections leave this machine for nobody."""

import os

import pytest
from pytest_socket import socket_allow_hosts

from apps.accounts.permissions import Actor
from apps.episodes.queries import TEXT_CACHES
from apps.tasks.models import Environment, Split, Task
from tests import cast as people
from tests import factories

# Child processes of tests are the product itself, in the same folder for its state.
os.environ["DJANGO_SETTINGS_MODULE"] = "apps.config.settings"


def pytest_runtest_setup() -> None:
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)


@pytest.fixture(autouse=True)
def no_texts_of_other_tests() -> None:
    """A test that is rolled back gives its numbers back: the next one's revisions have them too."""
    for cache in TEXT_CACHES:
        cache.clear()


@pytest.fixture
def cast(db: None) -> people.Cast:
    """Owner, author, annotator, viewer, outsider; two projects; keys. See `tests.cast`."""
    return people.gather()


@pytest.fixture
def author(cast: people.Cast) -> Actor:
    """Who writes, in tests that are not about who may."""
    return Actor(user=cast.author)


@pytest.fixture
def environment(cast: people.Cast, author: Actor) -> Environment:
    """``alpha/shop``, without splits."""
    return factories.make_environment(actor=author, project=cast.project)


@pytest.fixture
def split(environment: Environment, author: Actor) -> Split:
    """The split ``train`` of ``alpha/shop``."""
    return factories.make_split(actor=author, environment=environment)


@pytest.fixture
def task(split: Split, author: Actor) -> Task:
    """A ready task of three messages in ``alpha/shop``, split ``train``."""
    return factories.make_task(actor=author, split=split, status="ready")
