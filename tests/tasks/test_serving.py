"""What harnesses ask for all the time, read by hand-written statements: the same as by queries."""

import pytest

from apps.accounts.errors import Forbidden, NotFound
from apps.accounts.permissions import OPERATOR, Actor
from apps.tasks.actions import (
    ToolDraft,
    create_environment,
    rename_task,
    set_status,
    set_tools,
    update_environment,
)
from apps.tasks.models import Environment, Split
from apps.tasks.queries import ready_task_at, ready_task_by_key
from apps.tasks.serving import (
    grading_texts,
    served_environment,
    served_split,
    served_task_at,
    served_task_by_key,
)
from tests.cast import Cast
from tests.factories import make_task

TERMINAL = ToolDraft(name="reply", kind="answer", is_terminal=True, argument="text")


@pytest.fixture
def player(cast: Cast) -> Actor:
    return Actor(api_key=cast.harness_key.row)


def test_tasks_are_found_at_the_places_where_queries_find_them(
    cast: Cast, player: Actor, environment: Environment, split: Split
) -> None:
    for number in range(4):
        make_task(split=split, key=f"t{number}", status="ready" if number != 1 else "draft")
    split.refresh_from_db()
    served = served_split(player, cast.project, "Shop", "train")
    assert served.ready_count == 3
    for place in range(-1, 5):
        want = ready_task_at(player, environment, split, place)
        got = served_task_at(served, place)
        assert (got and (got.key, got.revision_id)) == (want and (want.key, want.current_id))


def test_tasks_are_found_by_their_keys_if_they_are_ready(
    cast: Cast, player: Actor, environment: Environment, split: Split
) -> None:
    task = make_task(split=split, key="one", status="ready")
    served = served_split(player, cast.project, "shop", "any")
    assert served.pk is None
    found = served_task_by_key(served, "one")
    assert found is not None
    assert found.revision_id == task.current_id
    assert (found.project_id, found.environment_id) == (cast.project.pk, environment.pk)
    for key in ("One", "two", "", "\0"):
        assert served_task_by_key(served, key) is None
        assert ready_task_by_key(player, environment, key) is None
    rename_task(actor=OPERATOR, task=task, key="two")
    assert served_task_by_key(served, "two") is not None
    set_status(actor=OPERATOR, task=task, status="archived")
    assert served_task_by_key(served, "two") is None


def test_without_a_name_the_default_environment_is_meant(
    cast: Cast, player: Actor, environment: Environment, split: Split
) -> None:
    assert served_split(player, cast.project, None, "train").environment_id == environment.pk
    other = create_environment(actor=OPERATOR, project=cast.project, slug="other")
    update_environment(actor=OPERATOR, environment=other, is_default=True)
    assert served_split(player, cast.project, None, "train").environment_id == other.pk


@pytest.mark.parametrize("name", ["ghost", "", "\0", "\u00e9", "sh%p"])
def test_an_unknown_environment_is_not_found(
    cast: Cast, player: Actor, environment: Environment, name: str
) -> None:
    with pytest.raises(NotFound):
        served_split(player, cast.project, name, "train")


def test_an_empty_project_has_no_default_environment(cast: Cast, player: Actor) -> None:
    with pytest.raises(NotFound, match="default"):
        served_split(player, cast.project, None, "train")


def test_who_may_not_serve_finds_nothing(cast: Cast, split: Split) -> None:
    may = {"harness_key", "admin_key", "operator", "owner", "author", "annotator", "viewer"}
    for name, actor in cast.actors().items():
        if name in may:
            assert served_split(actor, cast.project, "shop", "train").pk == split.pk
        else:
            with pytest.raises((NotFound, Forbidden)):
                served_split(actor, cast.project, "shop", "train")


def test_an_environment_is_one_object_until_it_or_its_tools_change(
    environment: Environment,
) -> None:
    first = served_environment(environment.pk)
    assert served_environment(environment.pk) is first
    set_tools(actor=OPERATOR, environment=environment, tools=[TERMINAL])
    second = served_environment(environment.pk)
    assert [tool.name for tool in second.tools] == ["reply"]
    assert second.tools[0].is_terminal is True
    scorers = [{"type": "string_equals", "ground_truth": "x"}]
    update_environment(actor=OPERATOR, environment=environment, scorers=scorers)
    third = served_environment(environment.pk)
    assert third.environment.scorers == scorers
    assert [tool.name for tool in third.tools] == ["reply"]
    assert [tool.name for tool in first.tools] == ["answer"]


def test_the_texts_of_a_revision_are_those_of_its_row(split: Split) -> None:
    task = make_task(split=split, status="ready")
    assert task.current is not None
    texts = grading_texts(task.current.pk)
    assert texts.content == task.current.content
    assert (texts.grader, texts.scripted) == (task.current.grader, task.current.scripted)
