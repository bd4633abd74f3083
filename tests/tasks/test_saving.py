"""Saving a task: revisions, the conflict rule, readiness, restoring."""

import pytest
from django.db import IntegrityError, transaction

from apps.accounts.errors import Conflict, Invalid, NotFound
from apps.accounts.models import AuditEntry
from apps.accounts.permissions import Actor
from apps.tasks.actions import (
    archive_task,
    move_task,
    rename_task,
    restore_revision,
    save_revision,
    set_status,
)
from apps.tasks.models import Environment, Revision, Split, Task
from apps.tasks.queries import content_of, get_revision, list_tasks, revisions
from tests.factories import make_content, make_split, make_task, message


def _saved(task: Task, actor: Actor, words: str, base: int) -> Revision:
    content = make_content(message("user", words))
    return save_revision(actor=actor, task=task, base=base, content=content)


def test_a_save_makes_the_next_revision_and_leaves_the_last_as_it_was(
    task: Task, author: Actor
) -> None:
    first = task.current
    assert first is not None
    kept = Revision.objects.filter(pk=first.pk).values().get()
    saved = _saved(task, author, "Hello?", base=1)
    assert (saved.number, saved.parent, saved.author) == (2, first, "author")
    assert Revision.objects.filter(pk=first.pk).values().get() == kept
    assert content_of(saved).messages[0].text == "Hello?"
    task.refresh_from_db()
    assert (task.current, task.summary, task.turns) == (saved, "Hello?", 1)


def test_a_save_from_an_old_revision_is_a_conflict_that_shows_the_current_one(
    task: Task, author: Actor
) -> None:
    _saved(task, author, "Mine", base=1)
    with pytest.raises(Conflict) as refusal:
        _saved(task, author, "Too late", base=1)
    assert content_of(refusal.value.current).messages[0].text == "Mine"
    assert refusal.value.place == "base"
    assert task.revisions.count() == 2


def test_two_people_who_hold_the_same_task_cannot_overwrite_each_other(
    task: Task, author: Actor
) -> None:
    other = Task.objects.select_related("environment__project").get(pk=task.pk)
    _saved(task, author, "First", base=1)
    with pytest.raises(Conflict):
        _saved(other, author, "Second", base=1)


def test_the_same_content_makes_no_revision(task: Task, author: Actor) -> None:
    assert task.current is not None
    again = save_revision(actor=author, task=task, base=1, content=content_of(task.current))
    assert again == task.current
    assert task.revisions.count() == 1


def test_a_save_under_another_key_is_one_revision_that_serves_the_new_key(
    task: Task, author: Actor
) -> None:
    content = make_content(message("user", "Hello?"))
    saved = save_revision(actor=author, task=task, base=1, content=content, key="parcel-1")
    task.refresh_from_db()
    assert (task.key, task.current, saved.number) == ("parcel-1", saved, 2)
    assert task.revisions.count() == 2
    assert saved.spec_body.startswith('{"id":"parcel-1",')
    told = AuditEntry.objects.filter(action__in=("task.rename", "task.save"))
    assert sorted(told.values_list("action", "subject")) == [
        ("task.rename", "shop/parcel-1"),
        ("task.save", "shop/parcel-1"),
    ]


def test_the_same_content_under_another_key_is_a_revision_that_says_so(
    task: Task, author: Actor
) -> None:
    assert task.current is not None
    old, same = task.key, content_of(task.current)
    saved = save_revision(actor=author, task=task, base=1, content=same, key="parcel-1")
    assert (saved.number, saved.message) == (2, f"Renamed from {old}")


def test_a_save_under_a_taken_key_changes_nothing(task: Task, author: Actor, split: Split) -> None:
    make_task(split=split, key="taken")
    old = task.key
    content = make_content(message("user", "Hello?"))
    with pytest.raises(Conflict) as refusal:
        save_revision(actor=author, task=task, base=1, content=content, key="taken")
    assert (refusal.value.place, refusal.value.current) == ("key", None)
    task.refresh_from_db()
    assert (task.key, task.revisions.count()) == (old, 1)


def test_content_is_checked_before_anything_is_written(task: Task, author: Actor) -> None:
    with pytest.raises(ValueError, match=r"messages\[0\]\.role"):
        save_revision(
            actor=author, task=task, base=1, content={"messages": [{"role": "x", "blocks": []}]}
        )
    assert task.revisions.count() == 1


def test_a_ready_task_stays_complete_or_becomes_a_draft(task: Task, author: Actor) -> None:
    empty = make_content(message("user"))
    with pytest.raises(Invalid) as refusal:
        save_revision(actor=author, task=task, base=1, content=empty)
    assert refusal.value.place == "messages[0].blocks"
    save_revision(actor=author, task=task, base=1, content=empty, status="draft")
    assert task.status == "draft"
    task.split.refresh_from_db()
    assert (task.split.task_count, task.split.ready_count) == (1, 0)


def test_becoming_ready_checks_everything(split: Split, author: Actor) -> None:
    draft = make_task(split=split, content={"messages": []})
    with pytest.raises(Invalid, match="no message yet"):
        set_status(actor=author, task=draft, status="ready")
    _saved(draft, author, "Hello?", base=1)
    assert set_status(actor=author, task=draft, status="ready").status == "ready"


def test_an_unknown_status_is_refused(task: Task, author: Actor) -> None:
    with pytest.raises(Invalid) as refusal:
        set_status(actor=author, task=task, status="done")
    assert refusal.value.place == "status"


def test_a_restore_is_a_new_revision_with_the_old_content(task: Task, author: Actor) -> None:
    first = task.current
    assert first is not None
    _saved(task, author, "Changed", base=1)
    restored = restore_revision(actor=author, task=task, number=1, base=2)
    assert (restored.number, restored.content_hash) == (3, first.content_hash)
    assert [each.number for each in revisions(author, task)] == [3, 2, 1]
    assert restored.message == "Restored revision 1"


def test_a_restore_from_an_old_page_is_a_conflict_too(task: Task, author: Actor) -> None:
    _saved(task, author, "Changed", base=1)
    with pytest.raises(Conflict):
        restore_revision(actor=author, task=task, number=1, base=1)


def test_a_restore_brings_back_the_grader_as_well(split: Split, author: Actor) -> None:
    one = [{"type": "string_equals", "ground_truth": "one"}]
    graded = make_task(split=split, grader=one, scripted={"look": [{"input": {}, "blocks": []}]})
    assert graded.current is not None
    content = content_of(graded.current)
    save_revision(actor=author, task=graded, base=1, content=content, grader=[], scripted={})
    assert graded.current.grader == graded.current.scripted == ""
    restored = restore_revision(actor=author, task=graded, number=1, base=2)
    assert '"one"' in restored.grader
    assert '"look"' in restored.scripted


def test_a_save_that_does_not_speak_of_the_grader_keeps_it(split: Split, author: Actor) -> None:
    graded = make_task(split=split, grader=[{"type": "string_equals", "ground_truth": "one"}])
    assert '"one"' in _saved(graded, author, "Changed", base=1).grader


def test_an_unknown_revision_is_not_found(task: Task, author: Actor) -> None:
    with pytest.raises(NotFound):
        get_revision(author, task, 2)
    with pytest.raises(NotFound):
        restore_revision(actor=author, task=task, number=9, base=1)


def test_a_new_key_is_a_new_revision_because_harnesses_receive_it(
    task: Task, author: Actor
) -> None:
    first = task.current
    assert first is not None
    rename_task(actor=author, task=task, key="parcel-1")
    assert task.current is not None
    assert task.current.number == 2
    assert '"id":"parcel-1"' in task.current.spec_body
    first.refresh_from_db()
    assert '"id":"task-1"' in first.spec_body


def test_a_key_is_there_once_in_an_environment(split: Split, author: Actor) -> None:
    one, two = make_task(split=split, key="one"), make_task(split=split, key="two")
    with pytest.raises(Conflict) as refusal:
        rename_task(actor=author, task=two, key="one")
    assert refusal.value.place == "key"
    two.refresh_from_db()
    assert (one.key, two.key) == ("one", "two")
    with pytest.raises(Conflict):
        make_task(split=split, key="one")


@pytest.mark.parametrize("key", ["", " one", "one\n", "o\x00ne", "x" * 201, "\ud800"])
def test_a_key_is_visible_text(split: Split, key: str) -> None:
    with pytest.raises(Invalid) as refusal:
        make_task(split=split, key=key)
    assert refusal.value.place == "key"


def test_a_key_is_made_where_none_is_given(split: Split) -> None:
    make_task(split=split, key="task-2")
    keys = [make_task(split=split).key for _ in range(2)]
    assert keys == ["task-3", "task-4"]


def test_archived_tasks_leave_the_lists_and_the_counts(
    task: Task, author: Actor, environment: Environment
) -> None:
    archive_task(actor=author, task=task)
    task.split.refresh_from_db()
    assert (task.split.task_count, task.split.ready_count) == (0, 0)
    assert list_tasks(author, environment).rows == []
    assert list_tasks(author, environment, status="archived").rows == [task]
    set_status(actor=author, task=task, status="ready")
    task.split.refresh_from_db()
    assert (task.split.task_count, task.split.ready_count) == (1, 1)


def test_a_task_moves_to_another_split_with_its_counts(
    task: Task, author: Actor, environment: Environment, split: Split
) -> None:
    there = make_split(environment=environment, name="test")
    move_task(actor=author, task=task, split="test")
    split.refresh_from_db()
    there.refresh_from_db()
    assert (task.split, split.task_count, split.ready_count) == (there, 0, 0)
    assert (there.task_count, there.ready_count) == (1, 1)


def test_a_task_cannot_move_to_another_environments_split(task: Task, author: Actor) -> None:
    from_elsewhere = make_split(
        environment=Environment.objects.create(
            project=task.environment.project, slug="else", name="Else"
        ),
        name="test",
    )
    with pytest.raises(Invalid):
        move_task(actor=author, task=task, split=from_elsewhere)


def test_every_change_leaves_an_audit_line(task: Task, author: Actor) -> None:
    AuditEntry.objects.all().delete()
    _saved(task, author, "Hello?", base=1)
    set_status(actor=author, task=task, status="draft")
    rename_task(actor=author, task=task, key="new")
    archive_task(actor=author, task=task)
    assert list(AuditEntry.objects.order_by("pk").values_list("action", "actor", "subject")) == [
        ("task.save", "author", "shop/task-1"),
        ("task.status", "author", "shop/task-1"),
        ("task.rename", "author", "shop/new"),
        ("task.status", "author", "shop/new"),
    ]


def test_a_message_that_cannot_be_stored_is_refused(task: Task, author: Actor) -> None:
    for words in ("x" * 501, "\x00"):
        with pytest.raises(Invalid) as refusal:
            save_revision(
                actor=author, task=task, base=1, content={"messages": []}, message=words,
                status="draft",
            )  # fmt: skip
        assert refusal.value.place == "message"


def test_the_database_itself_keeps_revision_numbers_apart(task: Task) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Revision.objects.create(task=task, number=1, author="x")
