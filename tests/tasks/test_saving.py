"""Saving a task: revisions, the conflict rule, restoring."""

import pytest

from apps.accounts.errors import Conflict
from apps.accounts.permissions import Actor
from apps.tasks.actions import save_revision
from apps.tasks.models import Task
from apps.tasks.queries import content_of
from tests.factories import make_content, message


def test_a_save_makes_the_next_revision_and_leaves_the_last_as_it_was(
    task: Task, author: Actor
) -> None:
    first = task.current
    assert first is not None
    before = first.content
    saved = save_revision(
        actor=author, task=task, base=1, content=make_content(message("user", "Hello?"))
    )
    first.refresh_from_db()
    assert (saved.number, saved.parent) == (2, first)
    assert first.content == before
    assert content_of(saved).messages[0].text == "Hello?"


def test_a_save_from_an_old_revision_is_a_conflict_that_shows_the_current_one(
    task: Task, author: Actor
) -> None:
    save_revision(actor=author, task=task, base=1, content=make_content(message("user", "Mine")))
    with pytest.raises(Conflict) as refusal:
        save_revision(actor=author, task=task, base=1, content=make_content(message("user", "Too")))
    assert content_of(refusal.value.current).messages[0].text == "Mine"
    assert task.revisions.count() == 2
