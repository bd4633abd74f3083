"""Projects: the list, a new one, the page of one."""

import pytest

from apps.accounts.permissions import Actor
from apps.accounts.queries import get_project
from apps.tasks.models import Environment, Task
from tests.cast import Cast
from tests.studio.visitors import Visitor, words

pytestmark = pytest.mark.django_db

NEW = "/studio/new-project/"


def test_a_person_sees_the_projects_they_belong_to(visit: Visitor) -> None:
    page = words(visit("viewer").get("/projects/"))
    assert "Alpha" in page
    assert "beta" not in page


def test_without_a_project_the_page_says_what_one_is(visit: Visitor, cast: Cast) -> None:
    cast.viewer.memberships.all().delete()
    page = words(visit("viewer").get("/projects/"))
    assert "No projects yet" in page
    assert "Make the first one" in page


def test_who_makes_a_project_is_its_admin(visit: Visitor, cast: Cast) -> None:
    client = visit("viewer")
    response = client.post(NEW, {"name": "Gamma rays", "slug": "gamma"}, follow=True)
    assert response.redirect_chain == [("/projects/gamma/", 302)]
    assert "The project Gamma rays is ready." in words(response)
    project = get_project(Actor(user=cast.viewer), "gamma")
    assert project.memberships.get().role == "admin"


@pytest.mark.parametrize(
    ("slug", "said"),
    [
        ("Has Spaces", "cannot be a name here"),
        ("alpha", "There is a project 'alpha' already."),
        ("", "This field is required."),
    ],
)
def test_a_name_that_cannot_be_is_refused_beside_its_field(
    visit: Visitor, slug: str, said: str
) -> None:
    response = visit("owner").post(NEW, {"name": "Kept name", "slug": slug})
    assert response.status_code == 422
    assert said in words(response)
    assert response.context["form"].errors.keys() == {"slug"}
    assert 'value="Kept name"' in response.content.decode()


def test_an_empty_project_names_the_next_step(visit: Visitor) -> None:
    page = words(visit("author").get("/projects/alpha/"))
    assert "No environments yet" in page
    assert "Make an environment" in page
    assert "Make an environment" not in words(visit("viewer").get("/projects/alpha/"))


def test_environments_are_listed_with_their_counts(
    visit: Visitor, environment: Environment, task: Task
) -> None:
    page = words(visit("viewer").get("/projects/alpha/"))
    assert "alpha/shop default train 1 1" in page
