from collections.abc import Callable
from dataclasses import dataclass

import pytest

from apps.accounts.models import Project
from apps.accounts.permissions import OPERATOR, Actor
from apps.episodes.actions import bind_session, open_session
from apps.episodes.models import Session
from apps.episodes.queries import Episode, find_episode
from apps.tasks.actions import load_bundle
from apps.tasks.serving import served_split, served_task_by_key
from tests.cast import Cast
from tests.harness.bundle import BUNDLE


@dataclass(frozen=True)
class Player:
    """A key that plays tasks of ``alpha``."""

    project: Project
    actor: Actor
    secret: str

    def bind(self, environment: str = "counter", key: str = "lab", sid: str = "") -> Session:
        split = served_split(self.actor, self.project, environment, "test")
        task = served_task_by_key(split, key)
        assert task is not None
        opened = sid or open_session(actor=self.actor)
        bind_session(actor=self.actor, sid=opened, task=task)
        return Session.objects.get(sid=opened)

    def episode(self, session: Session) -> Episode:
        found = find_episode(self.secret, session.sid)
        assert found is not None
        return found


@pytest.fixture
def player(cast: Cast) -> Player:
    load_bundle(actor=OPERATOR, project=cast.project, bundle=BUNDLE)
    key = cast.harness_key
    return Player(cast.project, Actor(api_key=key.row), key.secret)


@pytest.fixture
def start(player: Player) -> Callable[..., Episode]:
    """A fresh session as a request sees it: ``start("counter", "lab")``."""
    return lambda *names: player.episode(player.bind(*names))
