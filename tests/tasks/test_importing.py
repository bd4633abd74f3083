"""Rows become tasks: every row is accounted for, and a bad one never stops a good one."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.accounts.errors import Invalid
from apps.accounts.models import AuditEntry
from apps.accounts.permissions import Actor
from apps.dialogue.file_formats import ReadRow, read_tasks
from apps.tasks.actions import (
    ImportLedger,
    LedgerLine,
    archive_task,
    bulk,
    deciding,
    import_rows,
    importing,
)
from apps.tasks.models import Environment, Revision, Split, Task
from apps.tasks.queries import content_of, get_task_by_key, list_tasks
from tests.factories import conversation, make_split, make_task

GOLDEN = Path(__file__).parent / "golden" / "mixed.jsonl"


@pytest.fixture
def imported(split: Split, author: Actor) -> ImportLedger:
    return _import(split, author, GOLDEN.read_bytes())


def _import(split: Split, actor: Actor, data: bytes | list[Any], **options: Any) -> ImportLedger:
    if isinstance(data, list):
        data = b"\n".join(json.dumps(row).encode() for row in data)
    return import_rows(
        actor=actor,
        environment=split.environment,
        split=split,
        rows=read_tasks([data]),
        **options,
    )


def _refusals(ledger: ImportLedger) -> list[tuple[int, str]]:
    return [
        (line.line, next(n.place for n in line.notes if n.kind == "refused"))
        for line in ledger.lines
        if line.outcome == "refused"
    ]


def test_good_rows_become_tasks_and_bad_ones_are_named_with_their_line(
    imported: ImportLedger, environment: Environment, author: Actor
) -> None:
    assert _refusals(imported) == [(3, ""), (7, "key"), (9, "")]
    assert (imported.created, imported.refused, imported.drafts) == (6, 3, 1)
    tasks = list_tasks(author, environment).rows
    assert [task.key for task in tasks[:2]] == ["river", "parcel"]
    assert [task.key for task in tasks[3:]] == ["7", "half", "last"]
    assert tasks[2].key.startswith("row-")
    assert tasks[2].tags == ["greeting"]


def test_a_row_that_is_not_complete_becomes_a_draft_and_says_why(
    imported: ImportLedger, environment: Environment, author: Actor
) -> None:
    line = next(line for line in imported.lines if line.key == "half")
    assert (line.outcome, line.status) == ("created", "draft")
    assert line.notes[-1].place == "messages[0].blocks[0]"
    assert get_task_by_key(author, environment, "river").status == "ready"


def test_content_arrives_whole_with_the_order_of_its_keys(
    imported: ImportLedger, environment: Environment, author: Actor
) -> None:
    parcel = get_task_by_key(author, environment, "parcel").current
    assert parcel is not None
    content = content_of(parcel)
    block = content.messages[1].blocks[1]
    assert block.type == "tool_call"
    assert list(block.input) == ["zip", "order"]
    assert content.attributes == {"target": "depot"}
    last = get_task_by_key(author, environment, "last").current
    assert last is not None
    assert content_of(last).messages[0].text == "Ünïcödé \u2028 welcome?"


def test_what_an_import_writes_is_what_an_author_would_have_saved(
    imported: ImportLedger, environment: Environment, author: Actor, split: Split
) -> None:
    by_import = get_task_by_key(author, environment, "parcel")
    assert by_import.current is not None
    content = content_of(by_import.current)
    by_hand = make_task(
        split=split, key="by hand", content=content.to_wire(), status="ready", actor=author
    )
    assert by_hand.current is not None
    apart = {"id", "task_id", "created_at", "message", "spec_body", "made_by_import_id"}
    one, two = (
        {
            name: value
            for name, value in Revision.objects.filter(pk=pk).values().get().items()
            if name not in apart
        }
        for pk in (by_import.current.pk, by_hand.current.pk)
    )
    assert one == two
    for name in ("status", "summary", "turns", "tags", "updated_by"):
        assert getattr(by_import, name) == getattr(by_hand, name)
    assert by_import.search_text.text == by_hand.search_text.text.replace("by hand", "parcel")


def test_the_same_file_again_changes_nothing(
    imported: ImportLedger, split: Split, author: Actor
) -> None:
    before = list(Task.objects.values())
    again = _import(split, author, GOLDEN.read_bytes())
    assert (again.created, again.updated, again.unchanged) == (0, 0, 6)
    assert list(Task.objects.values()) == before
    assert Revision.objects.count() == 6


def test_the_counters_follow_an_import(imported: ImportLedger, split: Split) -> None:
    split.refresh_from_db()
    assert (split.task_count, split.ready_count) == (6, 5)


def test_a_known_key_with_other_content_is_refused_by_name(
    imported: ImportLedger, split: Split, author: Actor, environment: Environment
) -> None:
    ledger = _import(split, author, [{"id": "river", "question": "Which?"}])
    assert "'river'" in ledger.lines[0].notes[-1].message
    river = get_task_by_key(author, environment, "river").current
    assert river is not None
    assert (river.number, ledger.refused) == (1, 1)


def test_an_update_saves_the_next_revision(
    imported: ImportLedger, split: Split, author: Actor, environment: Environment
) -> None:
    rows = [{"id": "river", "question": "Which?"}, {"id": "last", "question": "New?"}]
    ledger = _import(split, author, rows, update=True)
    assert (ledger.updated, ledger.created) == (2, 0)
    river = get_task_by_key(author, environment, "river").current
    assert river is not None
    assert (river.number, content_of(river).messages[0].text) == (2, "Which?")


def test_an_update_leaves_an_archived_task_archived(
    imported: ImportLedger, split: Split, author: Actor, environment: Environment
) -> None:
    archive_task(actor=author, task=get_task_by_key(author, environment, "river"))
    _import(split, author, [{"id": "river", "question": "Which?"}], update=True)
    assert get_task_by_key(author, environment, "river").status == "archived"


def test_a_key_of_another_split_is_refused_with_its_name(
    imported: ImportLedger, environment: Environment, author: Actor
) -> None:
    other = make_split(environment=environment, name="test")
    ledger = _import(other, author, [{"id": "last", "question": "Ünïcödé \u2028 welcome?"}])
    assert "'train'" in ledger.lines[0].notes[-1].message


def test_a_grader_of_the_task_does_not_make_the_same_row_differ(
    split: Split, author: Actor
) -> None:
    grader = [{"type": "string_equals", "ground_truth": "x"}]
    content = {"messages": conversation(), "attributes": {"target": "depot"}}
    make_task(split=split, key="k", content=content, grader=grader)
    row = {"id": "k", "conversation": conversation(), "target": "depot"}
    assert _import(split, author, [row]).unchanged == 1
    assert _import(split, author, [{**row, "target": "hub"}], update=True).updated == 1
    revision = Revision.objects.get(number=2)
    assert '"x"' in revision.grader


def test_rows_of_many_batches_keep_their_order_and_their_second_thoughts(
    split: Split, author: Actor, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deciding, "BATCH", 4)
    monkeypatch.setattr(importing, "MOST_LINES", 3)
    rows: list[Any] = [{"id": f"k{n}", "question": f"Question {n}?"} for n in range(11)]
    rows[2:2] = [
        {"id": "k1", "question": "Another?"},
        {"nothing": 1},
        {"id": "k0", "question": "Question 0?"},
    ]
    seen: list[LedgerLine] = []
    ledger = _import(split, author, rows, on_line=seen.append)
    assert [line.line for line in seen] == list(range(1, 15))
    assert (ledger.created, ledger.refused, ledger.unchanged, ledger.read) == (11, 2, 1, 14)
    assert [task.key for task in list_tasks(author, environment).rows] == [
        f"k{n}" for n in range(11)
    ]
    assert (len(ledger.lines), ledger.lines_left_out) == (5, 9)


@pytest.mark.parametrize(
    "row",
    [
        {"id": "x" * 201, "question": "q"},
        {"id": " a", "question": "q"},
        {"question": "q", "tags": ["x" * 65]},
        "a text",
        7,
    ],
)
def test_a_row_that_cannot_be_stored_is_refused_and_the_next_goes_on(
    split: Split, author: Actor, row: Any
) -> None:
    good = [{"id": "good", "question": "Still here?"}, {"id": "too", "question": "Here?"}]
    ledger = _import(split, author, [good[0], row, good[1]])
    assert [line.outcome for line in ledger.lines] == ["created", "refused", "created"]


@pytest.mark.parametrize(
    "row",
    [
        {"id": "a\x00b", "question": "q"},
        {"id": "a", "question": "\ud800"},
        {"id": "a", "question": "q", "score": float("nan")},
    ],
)
def test_what_no_database_holds_is_cleaned_with_a_note(
    split: Split, author: Actor, row: Any
) -> None:
    ledger = _import(split, author, [row, {"id": "good", "question": "Still here?"}])
    assert (ledger.refused, ledger.created) == (0, 2)
    assert any(
        note.code in {"nul_char", "lone_surrogate", "non_finite"} for note in ledger.lines[0].notes
    )


def test_what_was_read_before_a_file_breaks_off_is_kept_and_accounted_for(
    split: Split, author: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deciding, "BATCH", 2)

    def broken() -> Iterator[ReadRow]:
        yield from read_tasks([b'{"id": "a", "question": "q"}\n{"id": "b", "question": "q"}\n'])
        yield from read_tasks([b'{"id": "c", "question": "q"}\n'])
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        import_rows(actor=author, environment=split.environment, split=split, rows=broken())
    assert set(Task.objects.values_list("key", flat=True)) == {"a", "b"}
    assert AuditEntry.objects.filter(action="task.import").get().detail["created"] == 2


def test_an_import_is_one_audit_line(imported: ImportLedger) -> None:
    assert imported.imported is not None
    assert AuditEntry.objects.filter(action__startswith="task.").get().detail == {
        "imported": imported.imported.pk,
        "created": 6,
        "updated": 0,
        "unchanged": 0,
        "refused": 3,
    }


def test_a_split_of_another_environment_is_refused(
    split: Split, author: Actor, environment: Environment
) -> None:
    other = Environment.objects.create(project=environment.project, slug="else", name="Else")
    with pytest.raises(Invalid):
        import_rows(actor=author, environment=other, split=split, rows=[])


def test_a_batch_costs_the_same_few_statements_whatever_its_size(
    split: Split, author: Actor, django_assert_max_num_queries: Any
) -> None:
    rows = [{"id": f"k{n}", "question": f"Question {n}?"} for n in range(bulk.BATCH)]
    with django_assert_max_num_queries(19):
        assert _import(split, author, rows).created == bulk.BATCH
