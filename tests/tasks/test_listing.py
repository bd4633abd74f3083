"""Lists of tasks: their order, their pages, what a search finds, what is served."""

import json

import pytest

from apps.accounts.errors import Invalid, NotFound
from apps.accounts.permissions import Actor
from apps.tasks.actions import archive_task, save_revision
from apps.tasks.models import Environment, Split, Task
from apps.tasks.queries import (
    get_split,
    get_task,
    get_task_by_key,
    list_tasks,
    neighbours,
    ready_revision_ids,
    ready_specs,
    ready_task_at,
    ready_task_by_key,
)
from tests.factories import call, make_content, make_split, make_task, message


@pytest.fixture
def seven(split: Split) -> list[Task]:
    """Seven tasks: the third a draft, the fifth archived, the others ready."""
    statuses = ["ready", "ready", "draft", "ready", "archived", "ready", "ready"]
    return [
        make_task(split=split, key=f"t{number}", status=status)
        for number, status in enumerate(statuses, 1)
    ]


def _keys(tasks: list[Task]) -> list[str]:
    return [task.key for task in tasks]


@pytest.mark.parametrize("size", [1, 2, 3, 6, 50])
def test_pages_show_every_task_once_in_order_and_lead_back(
    environment: Environment, author: Actor, seven: list[Task], size: int
) -> None:
    shown, pages, after = [], [], None
    while True:
        page = list_tasks(author, environment, after=after, limit=size)
        pages.append(_keys(page.rows))
        shown += pages[-1]
        if page.next is None:
            break
        after = page.next
    assert shown == ["t1", "t2", "t3", "t4", "t6", "t7"]
    while page.previous is not None:
        page = list_tasks(author, environment, before=page.previous, limit=size)
        assert _keys(page.rows) == pages[pages.index(_keys(page.rows))]
    assert page.rows[0].key == "t1"


def test_a_page_stays_right_while_tasks_are_added_and_archived(
    environment: Environment, author: Actor, seven: list[Task], split: Split
) -> None:
    page = list_tasks(author, environment, limit=2)
    archive_task(actor=author, task=seven[0])
    make_task(split=split, key="t8")
    after = list_tasks(author, environment, after=page.next, limit=2)
    assert _keys(after.rows) == ["t3", "t4"]


@pytest.mark.parametrize(
    "cursor", ["", "x", "1", "1.", ".1", "1.x", "٣.1", "9" * 30 + ".1", "-1.2"]
)
def test_a_text_that_is_no_cursor_is_refused(
    environment: Environment, author: Actor, cursor: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        list_tasks(author, environment, after=cursor)
    assert refusal.value.place == "cursor"


def test_a_list_can_be_of_one_split_and_one_status(
    environment: Environment, author: Actor, seven: list[Task]
) -> None:
    other = make_split(environment=environment, name="test")
    make_task(split=other, key="elsewhere")
    assert _keys(list_tasks(author, environment, split="test").rows) == ["elsewhere"]
    assert _keys(list_tasks(author, environment, split="train", status="draft").rows) == ["t3"]
    assert len(list_tasks(author, environment).rows) == 7
    with pytest.raises(NotFound):
        list_tasks(author, environment, split="nowhere")
    with pytest.raises(Invalid):
        list_tasks(author, environment, status="done")


def test_a_search_finds_every_word_wherever_it_was_said(
    environment: Environment, author: Actor, split: Split
) -> None:
    make_task(split=split, key="straße", content=make_content(message("user", "100% Ünïcode_x")))
    make_task(
        split=split,
        key="tools",
        content=make_content(
            message("user", "Look"),
            message(
                "assistant",
                {"type": "reasoning", "text": "Thinking hard"},
                call("c", "find_order", order=["A-77"]),
            ),
            target="Lisbon",
        ),
    )

    def found(search: str) -> list[str]:
        return _keys(list_tasks(author, environment, search=search).rows)

    assert found("ünïCODE_X 100%") == ["straße"]
    assert found("STRASSE") == ["straße"]
    assert found("hard a-77 find_order lisbon") == ["tools"]
    assert found("hard 100%") == []
    assert found("%") == ["straße"]
    assert found("") == ["straße", "tools"]


def test_a_search_sees_the_current_revision_only(
    environment: Environment, author: Actor, task: Task
) -> None:
    save_revision(actor=author, task=task, base=1, content=make_content(message("user", "New")))
    assert list_tasks(author, environment, search="parcel").rows == []
    assert list_tasks(author, environment, search="new").rows == [task]


@pytest.mark.parametrize("search", ["\x00", "\ud800", "x" * 201])
def test_a_search_that_cannot_be_is_refused(
    environment: Environment, author: Actor, search: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        list_tasks(author, environment, search=search)
    assert refusal.value.place == "search"


def test_a_task_is_found_by_its_number_and_by_its_key(
    environment: Environment, author: Actor, task: Task
) -> None:
    assert get_task(author, environment, task.pk) == task
    assert get_task_by_key(author, environment, "task-1") == task
    for pk in (task.pk + 1, 10**30):
        with pytest.raises(NotFound):
            get_task(author, environment, pk)
    for key in ("task-2", "\x00", "\ud800"):
        with pytest.raises(NotFound):
            get_task_by_key(author, environment, key)


def test_neighbours_are_those_of_the_split_without_archived_ones(
    author: Actor, seven: list[Task]
) -> None:
    beside = neighbours(author, seven[3])
    assert (beside.previous, beside.next) == (seven[2], seven[5])
    assert neighbours(author, seven[0]).previous is None
    assert neighbours(author, seven[6]).next is None


def test_what_is_served_is_the_ready_tasks_in_order(
    environment: Environment, author: Actor, seven: list[Task]
) -> None:
    split = get_split(author, environment, "train")
    served = [ready_task_at(author, environment, split, index) for index in range(-1, 7)]
    assert [task and task.key for task in served] == [
        None, "t1", "t2", "t4", "t6", "t7", None, None,
    ]  # fmt: skip
    assert ready_task_at(author, environment, split, 10**30) is None
    assert [json.loads(each)["id"] for each in ready_specs(author, environment, split)] == [
        "t1", "t2", "t4", "t6", "t7",
    ]  # fmt: skip
    assert [json.loads(s)["id"] for s in ready_specs(author, environment, split, 1, 3)] == [
        "t2",
        "t4",
    ]
    assert ready_specs(author, environment, split, 5, 10**30) == []
    assert ready_revision_ids(author, environment, split) == [
        task.current_id for task in seven if task.status == "ready"
    ]


def test_a_draft_and_an_archived_task_are_not_served_by_key_either(
    environment: Environment, author: Actor, seven: list[Task]
) -> None:
    assert ready_task_by_key(author, environment, "t1") == seven[0]
    for key in ("t3", "t5", "t99", "\x00"):
        assert ready_task_by_key(author, environment, key) is None


def test_the_counters_are_what_counting_would_say(seven: list[Task], split: Split) -> None:
    split.refresh_from_db()
    assert (split.task_count, split.ready_count) == (6, 5)
