"""Opening and binding: an id is signed for one key, and is bound once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from apps.accounts.errors import Conflict, Gone, NotFound, Refusal
from apps.accounts.permissions import Actor
from apps.episodes.actions import bind_session, end_session, open_session
from apps.episodes.models import Session
from apps.episodes.queries import find_episode
from apps.episodes.session_ids import check, issue
from apps.tasks.serving import served_split, served_task_by_key
from tests.cast import Cast
from tests.episodes.conftest import Player

NOON = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)


def test_ids_are_not_guessable() -> None:
    ids = {issue(1) for _ in range(200)}
    assert len(ids) == 200
    assert len({sid[:8] for sid in ids}) == 200
    assert len({sid[-8:] for sid in ids}) == 200


@pytest.mark.parametrize("place", [0, 15, 16, 23, 24, 47])
def test_a_changed_id_is_nobodys(place: int) -> None:
    sid = issue(7)
    check(sid, 7)
    changed = sid[:place] + ("0" if sid[place] != "0" else "1") + sid[place + 1 :]
    with pytest.raises(NotFound):
        check(changed, 7)


def test_an_id_is_good_for_the_key_it_was_issued_to() -> None:
    with pytest.raises(NotFound):
        check(issue(7), 8)


def test_an_id_survives_a_change_of_the_secret_key(settings: Any) -> None:
    sid = issue(7)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new" * 20, [settings.SECRET_KEY]
    check(sid, 7)
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(NotFound):
        check(sid, 7)


def test_an_id_is_gone_after_a_quarter_of_an_hour() -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        sid = issue(7)
        clock.move_to(NOON + timedelta(minutes=15))
        check(sid, 7)
        clock.move_to(NOON + timedelta(minutes=15, seconds=1))
        with pytest.raises(Gone):
            check(sid, 7)


def test_a_bound_session_plays_the_tasks_current_revision(player: Player) -> None:
    session = player.bind("riddles", "capital")
    assert session.revision.task.key == "capital"
    assert session.revision_id == session.revision.task.current_id
    episode = player.episode(session)
    assert (episode.project, episode.environment) == ("alpha", "riddles")
    assert not episode.is_over()


def test_an_id_is_bound_once_even_after_its_end(player: Player) -> None:
    session = player.bind()
    with pytest.raises(Conflict):
        player.bind("riddles", "capital", session.sid)
    end_session(episode=player.episode(session))
    with pytest.raises(Conflict):
        player.bind("riddles", "capital", session.sid)


def test_everybody_else_may_not_play(player: Player, cast: Cast) -> None:
    """Only a key of the project that may serve; people have no sessions."""
    split = served_split(player.actor, player.project, "counter", "test")
    task = served_task_by_key(split, "sum")
    assert task is not None
    may = {"harness_key", "admin_key"}
    for name, actor in cast.actors().items():
        sid = issue(actor.api_key.pk if actor.api_key else 0)
        if name in may:
            bind_session(actor=actor, sid=sid, task=task)
            continue
        with pytest.raises(Refusal) as refusal:
            bind_session(actor=actor, sid=sid, task=task)
        assert refusal.value.status in (403, 404), name
    assert Session.objects.count() == len(may)


def test_people_open_no_sessions(cast: Cast) -> None:
    with pytest.raises(NotFound):
        open_session(actor=Actor(user=cast.owner))


def test_a_session_is_found_with_its_own_key_alone(player: Player, cast: Cast) -> None:
    session = player.bind()
    assert find_episode(cast.admin_key.secret, session.sid) is None
    assert find_episode(cast.foreign_key.secret, session.sid) is None
    assert find_episode("", session.sid) is None
    assert find_episode(player.secret, "") is None
