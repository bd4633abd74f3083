"""An undo leaves alone what people did since; what it archived comes back with the next import."""

from collections.abc import Iterator

import pytest

from apps.accounts.errors import Conflict
from apps.accounts.permissions import OPERATOR, Actor
from apps.dialogue.file_formats import read_tasks
from apps.episodes.models import Session
from apps.tasks.actions import (
    ImportLedger,
    accept_import,
    archive_task,
    import_rows,
    set_status,
    undo_import,
)
from apps.tasks.actions.bulk import BATCH
from apps.tasks.models import Environment, Import, Split, Task
from apps.tasks.queries import content_of, get_task_by_key, ledger_page
from tests.cast import Cast
from tests.factories import make_task
from tests.tasks.test_imports import counts, propose, question


def bring(split: Split, actor: Actor, words: str = "Which?", *, update: bool = False) -> Import:
    rows = [question("k", words)]
    return accept_import(actor=actor, imported=propose(split, actor, rows, update=update))


def stream(split: Split, actor: Actor, words: str = "Which?") -> ImportLedger:
    line = b'{"id": "k", "question": "%s"}' % words.encode()
    return import_rows(
        actor=actor, environment=split.environment, split=split, rows=read_tasks([line])
    )


def the_task(environment: Environment) -> Task:
    return get_task_by_key(OPERATOR, environment, "k")


def told(row: Import) -> list[str]:
    """The notes of its one row that speak of the archive, by code."""
    (line,) = ledger_page(OPERATOR, row).lines
    return [note.code for note in line.notes if note.code == "archived"]


@pytest.fixture
def archived_by_undo(split: Split, author: Actor, environment: Environment, cast: Cast) -> Task:
    """A task that an import made and a session plays: so the undo could only archive it."""
    row = bring(split, author)
    Session.objects.create(
        sid="s",
        api_key=cast.harness_key.row,
        project=cast.project,
        environment=environment,
        revision=the_task(environment).current,
    )
    assert undo_import(actor=author, imported=row).archived == 1
    return the_task(environment)


@pytest.mark.parametrize("status", ["draft", "archived"])
def test_a_status_that_a_person_gave_since_stays(
    split: Split, author: Actor, environment: Environment, status: str
) -> None:
    bring(split, author)
    row = bring(split, author, "Other?", update=True)
    set_status(actor=author, task=the_task(environment), status=status)
    assert undo_import(actor=author, imported=row).restored == 1
    task = the_task(environment)
    assert task.status == status
    assert content_of(task.current).messages[0].text == "Which?"  # type: ignore[arg-type]


def test_a_task_that_a_person_fetched_from_the_archive_stays_in_use(
    split: Split, author: Actor, environment: Environment
) -> None:
    bring(split, author)
    archive_task(actor=author, task=the_task(environment))
    row = bring(split, author, "Other?", update=True)
    assert the_task(environment).status == "archived"
    set_status(actor=author, task=the_task(environment), status="ready")
    undo_import(actor=author, imported=row)
    assert the_task(environment).status == "ready"


def test_a_ready_task_whose_former_content_is_incomplete_becomes_a_draft(
    split: Split, author: Actor, environment: Environment
) -> None:
    task = make_task(split=split, key="k", actor=author, content={"messages": []})
    archive_task(actor=author, task=task)
    row = bring(split, author, update=True)
    set_status(actor=author, task=the_task(environment), status="ready")
    undo_import(actor=author, imported=row)
    assert the_task(environment).status == "draft"


@pytest.mark.parametrize("update", [False, True])
def test_what_an_undo_archived_comes_back(
    split: Split, author: Actor, environment: Environment, archived_by_undo: Task, update: bool
) -> None:
    proposed = propose(split, author, [question("k")], update=update)
    assert (counts(proposed), told(proposed)) == ((0, 1, 0, 0), ["archived"])
    row = accept_import(actor=author, imported=proposed)
    assert (counts(row), told(row)) == ((0, 1, 0, 0), ["archived"])
    task = the_task(environment)
    assert (task.pk, task.status) == (archived_by_undo.pk, "ready")
    split.refresh_from_db()
    assert (split.task_count, split.ready_count) == (1, 1)
    # That can be undone as well, and done again.
    assert undo_import(actor=author, imported=row).restored == 1
    assert the_task(environment).status == "archived"
    assert stream(split, author).updated == 1
    assert the_task(environment).status == "ready"


def test_what_an_undo_archived_comes_back_with_other_content(
    split: Split, author: Actor, environment: Environment, archived_by_undo: Task
) -> None:
    refused = stream(split, author, "Other?")
    assert refused.refused == 1
    assert "archived" in refused.lines[0].notes[-1].message
    row = bring(split, author, "Other?", update=True)
    assert (counts(row), told(row)) == ((0, 1, 0, 0), ["archived"])
    assert the_task(environment).status == "ready"
    undo_import(actor=author, imported=row)
    task = the_task(environment)
    assert (task.pk, task.status) == (archived_by_undo.pk, "archived")


@pytest.mark.parametrize("update", [False, True])
def test_what_a_person_archived_stays_so_and_is_told(
    split: Split, author: Actor, environment: Environment, update: bool
) -> None:
    bring(split, author)
    archive_task(actor=author, task=the_task(environment))
    row = bring(split, author, update=update)
    assert (counts(row), told(row)) == ((0, 0, 1, 0), ["archived"])
    (line,) = ledger_page(author, row).lines
    assert line.status == "archived"
    assert the_task(environment).status == "archived"


def test_a_note_of_the_proposal_is_not_kept_when_the_task_is_fetched_meanwhile(
    split: Split, author: Actor, environment: Environment
) -> None:
    bring(split, author)
    archive_task(actor=author, task=the_task(environment))
    proposed = propose(split, author, [question("k")])
    assert told(proposed) == ["archived"]
    set_status(actor=author, task=the_task(environment), status="ready")
    assert told(accept_import(actor=author, imported=proposed)) == []


def test_a_stream_that_never_came_to_its_end_is_undone(
    split: Split, author: Actor, environment: Environment
) -> None:
    """Whoever read it may have died: nothing tells, and its lease has long to go."""
    undone: list[Import] = []

    def lines() -> Iterator[bytes]:
        for number in range(3 * BATCH):
            if number == 2 * BATCH:
                row = Import.objects.get()
                assert (row.state, row.can_be_undone) == ("writing", True)
                undone.append(undo_import(actor=author, imported=row))
            yield b'{"id": "k%d", "question": "Which?"}\n' % number

    with pytest.raises(Conflict, match="ended while"):
        import_rows(actor=author, environment=environment, split=split, rows=read_tasks(lines()))
    (row,) = undone
    assert row.state == "undone"
    assert row.removed == row.created >= BATCH
    assert not Task.objects.exists()
    assert Import.objects.get().state == "undone"


def test_what_a_worker_still_writes_is_not_undone_and_says_so(split: Split, author: Actor) -> None:
    row = propose(split, author, [question("k")])
    Import.objects.filter(pk=row.pk).update(state="writing", created=1)
    with pytest.raises(Conflict, match="still being written"):
        undo_import(actor=author, imported=row)
