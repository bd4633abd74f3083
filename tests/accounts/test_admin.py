"""The operator's back door opens for superusers alone, and shows no secret."""

import pytest
from django.contrib import admin
from django.test import Client

from apps.accounts.models import User
from apps.tasks.models import Task
from tests.cast import Cast


@pytest.fixture
def operator(cast: Cast) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root", password="correct horse"))
    return client


PAGES = [
    f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    for model in admin.site._registry
    if model._meta.app_label in {"accounts", "tasks"}
]


@pytest.mark.parametrize("page", PAGES)
def test_every_list_opens_for_the_operator(operator: Client, task: Task, page: str) -> None:
    assert operator.get(page).status_code == 200


@pytest.mark.parametrize("page", PAGES)
def test_nobody_else_gets_in(cast: Cast, page: str) -> None:
    client = Client()
    assert client.get(page).status_code == 302
    client.force_login(cast.owner)
    assert client.get(page).status_code == 302


def test_a_key_can_be_looked_at_and_not_be_changed(operator: Client, cast: Cast) -> None:
    page = f"/admin/accounts/apikey/{cast.admin_key.row.pk}/change/"
    shown = operator.get(page)
    assert shown.status_code == 200
    assert cast.admin_key.row.digest not in shown.content.decode()
    assert operator.post(page, {"name": "mine"}).status_code == 403


def test_content_cannot_be_changed_around_the_actions(operator: Client, task: Task) -> None:
    for page in (f"tasks/task/{task.pk}", f"tasks/revision/{task.current_id}"):
        assert operator.get(f"/admin/{page}/change/").status_code == 200
        assert operator.post(f"/admin/{page}/change/", {}).status_code == 403
        assert operator.post(f"/admin/{page}/delete/", {"post": "yes"}).status_code == 403


def test_a_person_can_be_added(operator: Client) -> None:
    password = "staple battery horse"
    made = operator.post(
        "/admin/accounts/user/add/",
        {
            "username": "newcomer",
            "password1": password,
            "password2": password,
            "usable_password": "true",
        },
    )
    assert made.status_code == 302
    assert User.objects.get(username="newcomer").check_password(password)
