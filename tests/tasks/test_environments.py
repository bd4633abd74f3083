"""Environments, their tools and their splits."""

from typing import Any

import pytest

from apps.accounts.errors import Conflict, Invalid, NotFound
from apps.accounts.models import AuditEntry
from apps.accounts.permissions import Actor
from apps.tasks.actions import create_environment, create_split, set_tools, update_environment
from apps.tasks.models import Environment
from apps.tasks.names import RESERVED_SLUGS
from apps.tasks.queries import default_environment, environments, get_environment, splits, tools
from tests.cast import Cast
from tests.factories import make_environment

LOOK = {
    "name": "look",
    "kind": "scripted",
    "input_schema": {"type": "object", "properties": {"z": {}, "a": {}}},
}


def test_a_new_environment_can_be_served_at_once(environment: Environment, author: Actor) -> None:
    made = tools(author, environment)
    assert [(tool.name, tool.kind, tool.is_terminal) for tool in made] == [
        ("answer", "answer", True)
    ]
    assert environment.offers_submit
    assert environment.scorers[0]["type"] == "string_equals"


def test_the_first_environment_is_the_default_until_another_is_named(
    cast: Cast, author: Actor
) -> None:
    first = make_environment(project=cast.project, slug="first")
    second = make_environment(project=cast.project, slug="second")
    assert default_environment(author, cast.project) == first
    update_environment(actor=author, environment=second, is_default=True)
    assert default_environment(author, cast.project) == second
    with pytest.raises(Invalid):
        update_environment(actor=author, environment=second, is_default=False)
    assert [each.slug for each in environments(author, cast.project)] == ["first", "second"]


def test_an_empty_project_has_no_default_environment(cast: Cast, author: Actor) -> None:
    with pytest.raises(NotFound):
        default_environment(author, cast.project)


def test_an_environment_is_found_in_any_case(environment: Environment, author: Actor) -> None:
    assert get_environment(author, environment.project, "SHOP") == environment


@pytest.mark.parametrize("slug", ["shops", "", "sh\x00op", "\ud800", "x" * 5000])
def test_an_unknown_environment_is_not_found(
    environment: Environment, author: Actor, slug: str
) -> None:
    with pytest.raises(NotFound):
        get_environment(author, environment.project, slug)


def test_a_name_is_there_once_in_a_project(environment: Environment, cast: Cast) -> None:
    with pytest.raises(Conflict):
        make_environment(project=cast.project, slug="shop")
    assert make_environment(project=cast.other_project, slug="shop")


@pytest.mark.parametrize("slug", [*sorted(RESERVED_SLUGS)[:3], "Shop", "a b", "-a", "", "a/b"])
def test_a_name_that_no_address_can_hold_is_refused(cast: Cast, author: Actor, slug: str) -> None:
    with pytest.raises(Invalid) as refusal:
        create_environment(actor=author, project=cast.project, slug=slug)
    assert refusal.value.place == "slug"
    assert not Environment.objects.exists()


def test_the_words_of_the_protocol_are_reserved() -> None:
    assert {
        "create", "create_session", "delete", "delete_session", "ping", "health", "version",
        "list_environments", "v1", "api", "accounts", "admin", "static", "projects", "demo",
    } <= RESERVED_SLUGS  # fmt: skip


def test_only_what_changes_is_written_down(environment: Environment, author: Actor) -> None:
    AuditEntry.objects.all().delete()
    update_environment(actor=author, environment=environment, name="shop", offers_submit=True)
    assert not AuditEntry.objects.exists()
    update_environment(actor=author, environment=environment, name="Shop", offers_submit=False)
    assert AuditEntry.objects.get().detail == {"fields": ["name", "offers_submit"]}


def test_a_scorer_that_cannot_be_is_refused_at_its_place(
    environment: Environment, author: Actor
) -> None:
    for scorers, place in (
        ([{"type": "string_equal"}], "scorers[0]"),
        ([{"type": "string_equals", "ground_truth": "{{ sample."}], "scorers[0].ground_truth"),
        ([{"type": "regex", "ground_truth": "(a+)+"}], "scorers[0].ground_truth"),
        ({"type": "includes"}, "scorers"),
        ([{"type": "includes", "ground_truth": float("nan")}], "scorers"),
    ):
        with pytest.raises(Invalid) as refusal:
            update_environment(actor=author, environment=environment, scorers=scorers)  # type: ignore[arg-type]
        assert refusal.value.place.startswith(place)


def test_tools_are_replaced_as_a_list_that_keeps_its_order(
    environment: Environment, author: Actor
) -> None:
    submit = {"name": "submit", "kind": "answer", "argument": "answer"}
    set_tools(actor=author, environment=environment, tools=[LOOK, submit])
    rows = tools(author, environment)
    assert [row.name for row in rows] == ["look", "submit"]
    assert rows[0].input_schema == '{"type":"object","properties":{"z":{},"a":{}}}'


def test_the_same_tools_again_change_nothing(environment: Environment, author: Actor) -> None:
    before = set_tools(actor=author, environment=environment, tools=[LOOK])
    lines = AuditEntry.objects.count()
    assert set_tools(actor=author, environment=environment, tools=[LOOK]) == before
    assert AuditEntry.objects.count() == lines


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ([{"name": "a b", "kind": "answer"}], "tools[0].name"),
        ([{"name": "a", "kind": "http"}], "tools[0].kind"),
        ([{"name": "a", "kind": "scripted", "is_terminal": True}], "tools[0].is_terminal"),
        ([LOOK, LOOK], "tools[1].name"),
        (
            [
                {"name": "a", "kind": "answer", "is_terminal": True},
                {"name": "b", "kind": "answer", "is_terminal": True},
            ],
            "tools[1].is_terminal",
        ),
        ([{**LOOK, "input_schema": {"type": "objekt"}}], "tools[0].input_schema.type"),
        ([{**LOOK, "input_schema": []}], "tools[0].input_schema"),
        ([{**LOOK, "argument": "z"}], "tools[0].argument"),
        (
            [
                {
                    "name": "a",
                    "kind": "answer",
                    "argument": "b",
                    "input_schema": LOOK["input_schema"],
                }
            ],
            "tools[0].argument",
        ),
        ([{**LOOK, "config": {"url": "x"}}], "tools[0].config.url"),
        ([{**LOOK, "config": {"results": [{"input": 1}]}}], "tools[0].config.look[0].input"),
        ([{**LOOK, "description": "\x00"}], "tools[0].description"),
        ([{"kind": "answer"}], "tools[0]"),
        ([{**LOOK, "colour": "red"}], "tools[0]"),
    ],
)
def test_a_wrong_tool_is_refused_at_its_place_and_changes_nothing(
    environment: Environment, author: Actor, wrong: list[dict[str, Any]], place: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        set_tools(actor=author, environment=environment, tools=wrong)
    assert refusal.value.place == place
    assert [tool.name for tool in tools(author, environment)] == ["answer"]


def test_splits_keep_the_order_in_which_they_were_made(
    environment: Environment, author: Actor
) -> None:
    for name in ("train", "test", "hard"):
        create_split(actor=author, environment=environment, name=name)
    assert [(split.name, split.type) for split in splits(author, environment)] == [
        ("train", "train"),
        ("test", "test"),
        ("hard", "validation"),
    ]


def test_a_split_is_there_once_and_has_a_known_type(
    environment: Environment, author: Actor
) -> None:
    create_split(actor=author, environment=environment, name="hard", split_type="test")
    with pytest.raises(Conflict):
        create_split(actor=author, environment=environment, name="hard")
    with pytest.raises(Invalid):
        create_split(actor=author, environment=environment, name="soft", split_type="exam")


@pytest.mark.parametrize("name", ["train", "test", "hard", "2024-06", "v1.0_b", "x" * 64, "A"])
def test_a_split_has_a_name_that_fits_in_an_address(
    environment: Environment, author: Actor, name: str
) -> None:
    assert create_split(actor=author, environment=environment, name=name).name == name


@pytest.mark.parametrize(
    "name",
    ["", " a", "a\n", "x" * 65, "a b", "a/b", "..", "-a", "_a", ".a", "\u00fcbung", "a?b", "a\x00"],
)
def test_another_name_of_a_split_is_refused_by_name(
    environment: Environment, author: Actor, name: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        create_split(actor=author, environment=environment, name=name)
    assert refusal.value.place == "name"
    assert ascii(name)[:40].rstrip("'") in refusal.value.message
    assert not environment.splits.exists()
