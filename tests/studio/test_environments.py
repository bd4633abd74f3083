"""An environment's pages: tasks, tools and grading, splits, code to paste."""

import json
from typing import Any

import pytest

from apps.accounts.permissions import Actor
from apps.tasks.actions import archive_task
from apps.tasks.models import Environment, Split, Task
from apps.tasks.queries import get_environment, tools
from tests.cast import Cast
from tests.factories import make_content, make_split, make_task, message
from tests.studio.visitors import HTMX, Visitor, words

pytestmark = pytest.mark.django_db

SHOP = "/projects/alpha/environments/shop/"


@pytest.fixture
def many(split: Split, author: Actor) -> list[Task]:
    """120 ready tasks, ``task-000`` to ``task-119``."""
    return [
        make_task(
            actor=author,
            split=split,
            key=f"task-{number:03}",
            status="ready",
            content=make_content(message("user", f"Question {number} about parcels")),
        )
        for number in range(120)
    ]


def test_a_new_environment_can_be_filled_at_once(visit: Visitor, cast: Cast) -> None:
    client = visit("author")
    form = {"name": "Shop", "slug": "shop", "description": "A parcel desk."}
    response = client.post("/projects/alpha/new-environment/", form, follow=True)
    assert response.redirect_chain == [(SHOP, 302)]
    assert "No splits yet" in words(response)
    row = get_environment(Actor(user=cast.author), cast.project, "shop")
    assert [tool.name for tool in tools(Actor(user=cast.author), row)] == ["answer"]


@pytest.mark.parametrize(
    ("slug", "said"), [("shop", "already"), ("tasks", "a word of this server"), ("Ä", "cannot be")]
)
def test_an_environment_that_cannot_be_is_refused_beside_its_field(
    visit: Visitor, environment: Environment, slug: str, said: str
) -> None:
    form = {"name": "Second", "slug": slug}
    response = visit("author").post("/projects/alpha/new-environment/", form)
    assert response.status_code == 422
    assert said in response.context["form"].errors["slug"][0]


def test_tasks_are_listed_with_what_one_scans_for(visit: Visitor, task: Task) -> None:
    page = words(visit("viewer").get(SHOP))
    assert task.key in page
    assert "Where is my parcel? Order 7302." in page
    assert "Ready" in page
    assert "just now" in page


def test_pages_are_walked_there_and_back(visit: Visitor, many: list[Task]) -> None:
    client = visit("viewer")
    first = client.get(SHOP)
    assert "task-000" in words(first)
    assert "task-050" not in words(first)
    assert first.context["tasks"].previous is None
    second = client.get(f"{SHOP}?after={first.context['tasks'].next}")
    third = client.get(f"{SHOP}?after={second.context['tasks'].next}")
    assert [row.key for row in third.context["tasks"].rows][-1] == "task-119"
    assert third.context["tasks"].next is None
    back = client.get(f"{SHOP}?before={third.context['tasks'].previous}")
    assert [row.key for row in back.context["tasks"].rows] == [
        row.key for row in second.context["tasks"].rows
    ]


def test_a_search_looks_inside_messages_and_goes_along_to_the_next_page(
    visit: Visitor, many: list[Task]
) -> None:
    client = visit("viewer")
    found = client.get(f"{SHOP}?q=question+7+PARCELS")
    assert found.context["tasks"].rows[0].key == "task-007"
    wide = client.get(f"{SHOP}?q=parcels&split=train")
    assert "?split=train&amp;q=parcels&amp;after=" in wide.content.decode()
    nothing = client.get(f"{SHOP}?q=zebra")
    assert "No task matches" in words(nothing)
    assert "Show all tasks" in words(nothing)


def test_htmx_gets_the_table_alone(visit: Visitor, task: Task) -> None:
    client = visit("viewer")
    part = client.get(SHOP, headers=HTMX).content.decode()
    assert part.lstrip().startswith('<div id="tasks">')
    restored = client.get(SHOP, headers={**HTMX, "HX-History-Restore-Request": "true"})
    assert "<html" in restored.content.decode()


def test_archived_tasks_are_found_by_their_status(
    visit: Visitor, task: Task, author: Actor
) -> None:
    archive_task(actor=author, task=task)
    client = visit("viewer")
    assert task.key not in words(client.get(SHOP))
    assert task.key in words(client.get(f"{SHOP}?status=archived"))


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("split=nowhere", 404),
        ("status=lost", 422),
        ("after=nonsense", 422),
        ("before=1.x", 422),
        ("q=" + "x" * 300, 422),
        ("q=%00", 422),
        ("split=%00", 404),
    ],
)
def test_nonsense_in_the_filters_is_refused_by_name(
    visit: Visitor, task: Task, query: str, status: int
) -> None:
    assert visit("viewer").get(f"{SHOP}?{query}").status_code == status


def test_a_script_in_a_task_is_text(visit: Visitor, split: Split, author: Actor) -> None:
    content = make_content(message("user", "<script>alert(1)</script>"))
    make_task(actor=author, split=split, content=content, key="<b>bold</b>")
    page = visit("viewer").get(SHOP).content.decode()
    assert "<script>alert(1)" not in page
    assert "<b>bold</b>" not in page


def test_a_split_is_made_and_a_second_of_its_name_refused(
    visit: Visitor, environment: Environment
) -> None:
    client = visit("author")
    form = {"name": "hard", "split_type": "validation"}
    assert client.post(f"{SHOP}new-split/", form).status_code == 302
    assert [split.type for split in environment.splits.all()] == ["validation"]
    again = client.post(f"{SHOP}new-split/", form)
    assert again.status_code == 422
    assert "already" in again.context["form"].errors["name"][0]


class TestGrading:
    def form(self, **changes: Any) -> dict[str, Any]:
        scorers = [{"type": "includes", "ground_truth": "{{ sample.target }}"}]
        tool = {"name": "submit", "kind": "answer", "argument": "text"}
        form = {"name": "Shop", "scorers": json.dumps(scorers), "tools": json.dumps([tool])}
        return {**form, **changes}

    def test_everybody_reads_how_answers_are_graded(
        self, visit: Visitor, environment: Environment
    ) -> None:
        page = visit("viewer").get(f"{SHOP}grading/")
        assert "string_equals" in words(page)
        assert "closing message" in words(page)
        assert "<form" not in page.content.decode().split("<main")[1].split("</main>")[0]

    def test_what_is_shown_to_an_author_can_be_sent_back_unchanged(
        self, visit: Visitor, environment: Environment, author: Actor
    ) -> None:
        client = visit("author")
        shown = client.get(f"{SHOP}grading/").context["form"].initial
        before = [tool.name for tool in tools(author, environment)]
        response = client.post(f"{SHOP}grading/", {**shown, "offers_submit": "on"})
        assert response.status_code == 302
        assert [tool.name for tool in tools(author, environment)] == before

    def test_an_author_changes_it(
        self, visit: Visitor, environment: Environment, author: Actor
    ) -> None:
        assert visit("author").post(f"{SHOP}grading/", self.form()).status_code == 302
        environment.refresh_from_db()
        assert environment.scorers[0]["type"] == "includes"
        assert environment.offers_submit is False
        assert [tool.name for tool in tools(author, environment)] == ["submit"]

    @pytest.mark.parametrize(
        ("change", "field", "said"),
        [
            ({"scorers": "[}"}, "scorers", "line 1, column 2"),
            ({"scorers": "{}"}, "scorers", "a list in brackets"),
            ({"scorers": "[NaN]"}, "scorers", "NaN is not JSON"),
            ({"scorers": '[{"type": "guess"}]'}, "scorers", "guess"),
            ({"tools": '[{"name": "a b", "kind": "answer"}]'}, "tools", "letters, digits"),
            ({"tools": '[{"nam": 1}]'}, "tools", "no other keys"),
            ({"tools": "[1]"}, "tools", "tool"),
            ({"tools": "[" * 2000}, "tools", "not JSON"),
        ],
    )
    def test_what_cannot_be_is_refused_whole_and_beside_its_field(
        self,
        visit: Visitor,
        environment: Environment,
        change: dict[str, str],
        field: str,
        said: str,
    ) -> None:
        response = visit("author").post(f"{SHOP}grading/", self.form(**change))
        assert response.status_code == 422
        assert said in str(response.context["form"].errors[field])
        environment.refresh_from_db()
        assert environment.scorers[0]["type"] == "string_equals"

    def test_a_viewer_does_not_change_it(self, visit: Visitor, environment: Environment) -> None:
        response = visit("viewer").post(f"{SHOP}grading/", self.form())
        assert response.status_code == 403
        environment.refresh_from_db()
        assert environment.scorers[0]["type"] == "string_equals"


class TestConnect:
    def test_the_code_names_this_server_and_this_environment(
        self, visit: Visitor, task: Task, settings: Any
    ) -> None:
        settings.PUBLIC_URL = "https://turnwright.example"
        page = words(visit("viewer").get(f"{SHOP}connect/"))
        assert "OPENREWARD_SESSION_URL=https://turnwright.example" in page
        assert 'environments.get("alpha/shop")' in page
        assert 'list_tasks(split="train")' in page
        assert "X-Deployment: alpha/shop" in page
        assert '{"name": "answer", "input": {"text": "..."}}' in page

    def test_without_ready_tasks_it_says_that_nothing_is_served(
        self, visit: Visitor, environment: Environment
    ) -> None:
        make_split(environment=environment, name="test")
        assert "Nothing is ready to be served yet" in words(visit("viewer").get(f"{SHOP}connect/"))
