"""An import in steps: proposed, looked at, accepted or discarded, and undone."""

import json
from typing import Any

import pytest

from apps.accounts.errors import Conflict, Gone, Invalid, NotFound
from apps.accounts.models import AuditEntry
from apps.accounts.permissions import OPERATOR, Actor
from apps.dialogue.file_formats import read_tasks
from apps.episodes.models import Session
from apps.providers.actions import create_endpoint
from apps.runs.actions import launch, save_spec
from apps.tasks.actions import (
    accept_import,
    archive_task,
    change_import,
    discard_import,
    import_rows,
    propose_import,
    save_revision,
    undo_import,
)
from apps.tasks.models import Environment, Import, Revision, Split, Task
from apps.tasks.queries import (
    content_of,
    get_import,
    get_task_by_key,
    imports,
    ledger_line,
    ledger_page,
    proposed_content,
)
from apps.tasks.transfer_files import import_folder
from tests.api.world import SPEC
from tests.cast import Cast
from tests.factories import conversation, make_task


def propose(
    split: Split, actor: Actor, rows: list[Any] | bytes, name: str = "rows.jsonl", **options: Any
) -> Import:
    data = rows if isinstance(rows, bytes) else b"\n".join(json.dumps(r).encode() for r in rows)
    return propose_import(
        actor=actor,
        environment=split.environment,
        pieces=[data],
        file_name=name,
        split=options.pop("into", split.name),
        **options,
    )


def question(key: str, words: str = "Which?", **more: Any) -> dict[str, Any]:
    return {"id": key, "question": words, **more}


def counts(row: Import) -> tuple[int, int, int, int]:
    return row.created, row.updated, row.unchanged, row.refused


def test_a_proposal_tells_of_every_row_and_writes_nothing(split: Split, author: Actor) -> None:
    make_task(split=split, key="there", actor=author)
    rows = [question("a"), question("b"), {"nothing": 1}, question("a"), question("there")]
    row = propose(split, author, rows)
    assert (row.state, row.rows_read, counts(row)) == ("proposed", 5, (2, 0, 1, 2))
    assert set(Task.objects.values_list("key", flat=True)) == {"there"}
    page = ledger_page(author, row)
    assert [line.outcome for line in page.lines] == [
        "created", "created", "refused", "unchanged", "refused",
    ]  # fmt: skip
    assert page.lines[4].notes[-1].code == "key_collision"
    assert (page.lines[0].summary, page.lines[0].turns, page.lines[0].roles) == ("Which?", 1, "u")


def test_accepting_writes_what_was_proposed_and_forgets_the_file(
    split: Split, author: Actor, environment: Environment
) -> None:
    rows = [question("a", target="x"), {"id": "d", "messages": [{"role": "user", "content": ""}]}]
    row = propose(split, author, rows)
    proposed = [line.outcome for line in ledger_page(author, row).lines]
    row = accept_import(actor=author, imported=row)
    assert (row.state, row.has_file, row.decided) == ("done", False, 2)
    assert [line.outcome for line in ledger_page(author, row).lines] == proposed
    task = get_task_by_key(author, environment, "a").current
    assert task is not None
    assert content_of(task).attributes["target"] == "x"
    assert task.made_by_import_id == row.pk
    assert not (import_folder(row.pk) / "file").exists()
    assert AuditEntry.objects.get(action="task.import").detail["imported"] == row.pk
    assert accept_import(actor=author, imported=row).pk == row.pk
    with pytest.raises(Conflict):
        discard_import(actor=author, imported=row)


def test_a_proposal_and_an_import_agree_whatever_the_rows(split: Split, author: Actor) -> None:
    make_task(split=split, key="same", actor=author, content={"messages": conversation()})
    rows = [
        {"id": "same", "conversation": conversation()},
        question("new"),
        question("new", "Other?"),
        question("new", "Other?"),
        question("same", "Changed?"),
        question("same", "Changed?"),
        {"id": " bad", "question": "q"},
        question("z"),
    ]
    for update in (True, False):
        row = propose(split, author, rows, update=update)
        proposed = [(line.outcome, line.key) for line in ledger_page(author, row).lines]
        row = accept_import(actor=author, imported=row)
        written = [(line.outcome, line.key) for line in ledger_page(author, row).lines]
        assert written == proposed
        undo_import(actor=author, imported=row)


def test_the_proposed_conversation_of_any_row_can_be_seen(split: Split, author: Actor) -> None:
    row = propose(split, author, [question(f"k{n}", f"Number {n}?") for n in range(30)])
    for number in (0, 17, 29):
        content = proposed_content(author, row, number)
        assert content is not None
        assert content.messages[0].text == f"Number {number}?"
    with pytest.raises(NotFound):
        proposed_content(author, row, 30)
    row = accept_import(actor=author, imported=row)
    with pytest.raises(Gone):
        proposed_content(author, row, 3)


def test_a_ledger_is_paged_and_filtered(split: Split, author: Actor) -> None:
    rows: list[Any] = [question(f"k{n}") for n in range(10)]
    rows[3:3] = [{"nothing": 1}, {"question": "No key?"}, {"nothing": 2}]
    row = propose(split, author, rows)
    first = ledger_page(author, row, limit=5)
    second = ledger_page(author, row, after=first.next or 0, limit=100)
    assert [line.row for line in first.lines + second.lines] == list(range(13))
    assert (first.next, second.next) == (5, None)
    refused = ledger_page(author, row, outcome="refused", limit=1)
    assert [line.line for line in refused.lines] == [4]
    assert refused.next == 5
    assert [x.row for x in ledger_page(author, row, kind="invented").lines] == [4]
    assert [x.row for x in ledger_page(author, row, code="no_key").lines] == [4]
    assert ledger_page(author, row, code="unheard_of").lines == []
    assert dict(row.codes)["no_key"] == 1
    assert row.kinds["invented"] == 1
    assert ledger_line(author, row, 4).notes[-1].code == "no_key"
    with pytest.raises(Invalid):
        ledger_page(author, row, outcome="nonsense")


def test_a_new_split_is_made_when_it_is_accepted(
    split: Split, author: Actor, environment: Environment
) -> None:
    row = propose(split, author, [question("a")], into="validation")
    assert environment.splits.count() == 1
    accept_import(actor=author, imported=row)
    assert get_task_by_key(author, environment, "a").split.name == "validation"


def test_a_proposal_can_be_read_otherwise_and_discarded(split: Split, author: Actor) -> None:
    row = propose(split, author, [question("a")])
    row = change_import(actor=author, imported=row, split="test", format="attribute_rows")
    assert (row.state, row.split, row.created) == ("proposed", "test", 1)
    discard_import(actor=author, imported=row)
    assert not Import.objects.exists()
    assert not import_folder(row.pk).exists()
    with pytest.raises(NotFound):
        accept_import(actor=author, imported=row)


@pytest.mark.parametrize(
    "wrong", [{"format": "nonsense"}, {"into": "no split"}, {"mapping": {"what": 1}}]
)
def test_what_cannot_be_is_refused_before_anything_is_kept(
    split: Split, author: Actor, wrong: dict[str, Any]
) -> None:
    with pytest.raises((Invalid, ValueError)):
        propose(split, author, [question("a")], **wrong)
    assert not Import.objects.exists()


def test_an_empty_file_is_no_proposal(split: Split, author: Actor) -> None:
    for data in (b"", b"  \n\n"):
        with pytest.raises(Invalid):
            propose(split, author, data)
    assert not Import.objects.exists()


def test_imports_are_listed_the_newest_first(split: Split, author: Actor) -> None:
    pks = [propose(split, author, [question("a")]).pk for _ in range(3)]
    environment = split.environment
    assert [row.pk for row in imports(author, environment)] == pks[::-1]
    assert [row.pk for row in imports(author, environment, before=pks[1])] == pks[:1]
    assert get_import(author, environment, pks[0]).author == str(author)


def test_an_undo_removes_what_nobody_uses_and_archives_the_rest(
    split: Split, author: Actor, environment: Environment
) -> None:
    row = accept_import(
        actor=author, imported=propose(split, author, [question(f"k{n}") for n in range(5)])
    )
    edited = get_task_by_key(author, environment, "k1")
    save_revision(actor=author, task=edited, base=1, content={"messages": conversation()})
    row = undo_import(actor=author, imported=row)
    assert (row.state, row.removed, row.archived, row.restored, row.left) == ("undone", 4, 1, 0, 0)
    assert dict(Task.objects.values_list("key", "status")) == {"k1": "archived"}
    split.refresh_from_db()
    assert (split.task_count, split.ready_count) == (0, 0)
    entry = AuditEntry.objects.get(action="task.undo_import").detail
    assert (entry["removed"], entry["archived"]) == (4, 1)
    assert undo_import(actor=author, imported=row).removed == 4


def test_an_undo_gives_changed_tasks_their_former_content_and_status_back(
    split: Split, author: Actor, environment: Environment
) -> None:
    draft = make_task(split=split, key="draft", actor=author)
    ready = make_task(split=split, key="ready", actor=author, status="ready")
    later = make_task(split=split, key="later", actor=author)
    before = {task.key: task.current.content for task in (draft, ready, later) if task.current}
    row = accept_import(
        actor=author,
        imported=propose(
            split,
            author,
            [question("draft"), question("ready"), question("ready", "Twice?"), question("later")],
            update=True,
        ),
    )
    assert counts(row) == (0, 4, 0, 0)
    later = get_task_by_key(author, environment, "later")
    save_revision(actor=author, task=later, base=2, content={"messages": conversation()})
    row = undo_import(actor=author, imported=row)
    assert (row.removed, row.archived, row.restored, row.left) == (0, 0, 2, 1)
    for key, status in (("draft", "draft"), ("ready", "ready")):
        task = get_task_by_key(author, environment, key)
        assert task.status == status
        assert task.current is not None
        assert task.current.content == before[key]
    later.refresh_from_db()
    assert later.current is not None
    assert later.current.number == 3


def test_an_archived_task_stays_archived_through_import_and_undo(
    split: Split, author: Actor, environment: Environment
) -> None:
    archive_task(actor=author, task=make_task(split=split, key="a", actor=author))
    row = accept_import(actor=author, imported=propose(split, author, [question("a")], update=True))
    undo_import(actor=author, imported=row)
    assert get_task_by_key(author, environment, "a").status == "archived"


def test_a_streamed_import_can_be_undone_too(split: Split, author: Actor) -> None:
    rows = read_tasks([json.dumps(question("a")).encode()])
    ledger = import_rows(
        actor=author, environment=split.environment, split=split, rows=rows, file_name="a.jsonl"
    )
    assert ledger.imported is not None
    assert [x.key for x in ledger_page(author, ledger.imported).lines] == ["a"]
    assert undo_import(actor=author, imported=ledger.imported).removed == 1
    assert not Task.objects.exists()
    assert not Revision.objects.exists()


def test_an_undo_keeps_what_a_session_or_a_run_plays(
    split: Split, author: Actor, environment: Environment, cast: Cast
) -> None:
    row = accept_import(
        actor=author, imported=propose(split, author, [question(f"k{n}") for n in range(4)])
    )
    played = get_task_by_key(author, environment, "k0").current
    Session.objects.create(
        sid="s",
        api_key=cast.harness_key.row,
        project=cast.project,
        environment=environment,
        revision=played,
    )
    create_endpoint(
        actor=OPERATOR, project=cast.project, key="m", base_url="http://127.0.0.1:1", model="m"
    )
    archive_task(actor=author, task=get_task_by_key(author, environment, "k2"))
    archive_task(actor=author, task=get_task_by_key(author, environment, "k3"))
    launch(
        actor=author,
        project=cast.project,
        environment=environment,
        spec=save_spec(actor=author, project=cast.project, text=SPEC),
        evaluated="m",
    )
    row = undo_import(actor=author, imported=row)
    assert (row.state, row.removed, row.archived) == ("undone", 2, 2)
    assert dict(Task.objects.values_list("key", "status")) == {"k0": "archived", "k1": "archived"}
    assert Session.objects.get().revision == played
