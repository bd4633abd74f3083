"""What stands around every page, and how errors look."""

import pytest
from django.test import Client, override_settings
from django.urls import path

from apps.accounts.models import User
from apps.config.urls import urlpatterns as addresses
from apps.studio import errors
from apps.tasks.models import Environment
from tests.cast import Cast
from tests.studio.visitors import BROWSER, HTMX, Visitor, tags, words

pytestmark = pytest.mark.django_db


def broken(request: object) -> None:
    raise RuntimeError("broken on purpose")


urlpatterns = [path("projects/broken/now/", broken), *addresses]
handler500 = errors.server_error


def test_the_theme_that_was_chosen_is_in_the_first_paint(visit: Visitor) -> None:
    client = visit("viewer")
    assert tags(client.get("/projects/"), "html") == ['<html lang="en">']
    client.cookies["theme"] = "dark"
    assert tags(client.get("/projects/"), "html") == ['<html lang="en" data-theme="dark">']
    client.cookies["theme"] = '"><script>'
    assert tags(client.get("/projects/"), "html") == ['<html lang="en">']


def test_the_switcher_shows_only_ones_own_projects(visit: Visitor) -> None:
    page = words(visit("viewer").get("/projects/alpha/"))
    assert "Alpha" in page
    assert "Beta" not in page


def test_the_rail_says_where_one_is(visit: Visitor) -> None:
    page = visit("viewer").get("/projects/alpha/models/").content.decode()
    assert page.count('aria-current="page">') >= 1
    assert '/projects/alpha/models/" aria-current="page"' in page


@pytest.mark.parametrize(
    ("path", "section"),
    [
        ("", "/projects/alpha/"),
        ("environments/shop/grading/", "/projects/alpha/"),
        ("environments/shop/connect/", "/projects/alpha/"),
        ("solvers/", "/projects/alpha/solvers/"),
        ("new-model/", "/projects/alpha/models/"),
        ("runs/new/", "/projects/alpha/runs/"),
    ],
)
def test_every_page_has_its_place_in_the_rail(
    visit: Visitor, environment: Environment, path: str, section: str
) -> None:
    page = visit("owner").get(f"/projects/alpha/{path}").content.decode()
    assert f'href="{section}" aria-current="page"' in page


def test_a_folded_rail_is_folded_in_the_first_paint(visit: Visitor) -> None:
    client = visit("viewer")
    client.cookies["rail"] = "narrow"
    assert 'data-rail="narrow"' in tags(client.get("/projects/"), "html")[0]
    client.cookies["rail"] = "nonsense"
    assert "data-rail" not in tags(client.get("/projects/"), "html")[0]


def test_a_page_that_polls_after_the_session_ended_goes_to_the_sign_in_whole(
    visit: Visitor,
) -> None:
    where = {"HX-Current-URL": "http://testserver/projects/alpha/runs/1/?ended=limit"}
    response = visit("nobody").get("/projects/alpha/runs/1/facts/", headers={**HTMX, **where})
    assert response.status_code == 401
    back = "/accounts/login/?next=%2Fprojects%2Falpha%2Fruns%2F1%2F%3Fended%3Dlimit"
    assert response["HX-Redirect"] == back
    stranger = {"HX-Current-URL": "https://elsewhere.example/x"}
    response = visit("nobody").get("/projects/alpha/", headers={**HTMX, **stranger})
    assert response["HX-Redirect"] == "/accounts/login/?next=%2Fx"


def test_the_only_project_is_home(visit: Visitor, cast: Cast) -> None:
    assert visit("viewer").get("/")["Location"] == "/projects/alpha/"
    User.objects.filter(pk=cast.viewer.pk).update(is_superuser=True)
    assert visit("viewer").get("/")["Location"] == "/projects/"


def test_a_page_that_is_not_there_says_so_with_a_way_on(visit: Visitor) -> None:
    response = visit("viewer").get("/projects/alpha/nowhere/")
    assert response.status_code == 404
    assert "There is nothing here" in words(response)
    assert "To your projects" in words(response)


def test_another_project_does_not_exist(visit: Visitor) -> None:
    response = visit("viewer").get("/projects/beta/")
    assert response.status_code == 404
    assert "There is no project 'beta'." in words(response)


def test_htmx_gets_one_plain_sentence(visit: Visitor) -> None:
    response = visit("viewer").get("/projects/beta/", headers=HTMX)
    assert response.status_code == 404
    assert response["Content-Type"].startswith("text/plain")
    assert response.content.decode() == "There is no project 'beta'."


def test_a_form_without_its_token_changes_nothing_and_says_why(cast: Cast) -> None:
    client = Client(enforce_csrf_checks=True, headers=BROWSER)
    client.force_login(cast.owner)
    response = client.post("/studio/new-project/", {"name": "Gamma", "slug": "gamma"})
    assert response.status_code == 403
    assert "nothing was changed" in words(response)
    assert client.get("/projects/gamma/").status_code == 404


@override_settings(ROOT_URLCONF="tests.studio.test_frame")
def test_a_fault_of_ours_is_admitted_without_detail(visit: Visitor) -> None:
    client = visit("viewer")
    client.raise_request_exception = False
    response = client.get("/projects/broken/now/")
    assert response.status_code == 500
    assert "Something broke on our side" in words(response)
    assert "on purpose" not in response.content.decode()
    partial = client.get("/projects/broken/now/", headers=HTMX)
    assert partial["Content-Type"].startswith("text/plain")


def test_pages_are_not_remembered_by_anything_on_the_way(visit: Visitor) -> None:
    assert "no-store" in visit("viewer").get("/projects/alpha/")["Cache-Control"]


def test_the_policy_of_a_page_allows_no_inline_script(visit: Visitor) -> None:
    response = visit("viewer").get("/projects/alpha/")
    assert "script-src 'self';" in response["Content-Security-Policy"]
    assert all("src=" in tag for tag in tags(response, "script"))


def test_the_palette_leads_to_the_pages_of_the_project(visit: Visitor) -> None:
    page = visit("viewer").get("/projects/alpha/").content.decode()
    assert 'data-address="/projects/alpha/runs/"' in page
    assert 'data-address="/projects/beta/"' not in page
