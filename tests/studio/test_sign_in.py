"""The way in and out."""

import pytest
from django.test import Client

from tests.cast import PASSWORD, Cast
from tests.studio.visitors import BROWSER, Visitor, words

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fresh_limits")]

LOGIN = "/accounts/login/"


@pytest.fixture
def stranger(cast: Cast) -> Client:
    return Client(headers=BROWSER)


def sign_in(client: Client, name: str, password: str) -> object:
    return client.post(LOGIN, {"login": name, "password": password})


def test_a_stranger_is_led_to_the_sign_in_and_back(stranger: Client) -> None:
    response = stranger.get("/projects/alpha/")
    assert response.status_code == 302
    assert response["Location"] == f"{LOGIN}?next=/projects/alpha/"
    page = stranger.get(response["Location"])
    assert 'name="next" value="/projects/alpha/"' in page.content.decode()
    there = stranger.post(
        LOGIN, {"login": "viewer", "password": PASSWORD, "next": "/projects/alpha/"}
    )
    assert there["Location"] == "/projects/alpha/"


def test_a_mail_address_is_as_good_as_a_name(stranger: Client) -> None:
    response = stranger.post(LOGIN, {"login": "viewer@example.org", "password": PASSWORD})
    assert response.status_code == 302


def test_a_wrong_password_is_said_without_saying_who_exists(stranger: Client) -> None:
    for name in ("viewer", "no-such-person"):
        response = stranger.post(LOGIN, {"login": name, "password": "wrong"})
        assert response.status_code == 200
        assert "That name and password do not belong together." in words(response)


def test_after_five_wrong_passwords_the_right_one_has_to_wait(stranger: Client) -> None:
    for _ in range(5):
        stranger.post(LOGIN, {"login": "viewer", "password": "wrong"})
    response = stranger.post(LOGIN, {"login": "viewer", "password": PASSWORD})
    assert response.status_code == 200
    assert "Too many failed attempts. Wait five minutes" in words(response)


def test_the_sign_in_of_the_operator_pages_is_the_same_throttled_one(stranger: Client) -> None:
    response = stranger.get("/admin/login/?next=/admin/")
    assert response.status_code == 302
    assert response["Location"].startswith(LOGIN)


def test_nobody_signs_up_by_themselves(stranger: Client) -> None:
    response = stranger.get("/accounts/signup/")
    assert "password1" not in response.content.decode()
    form = {"username": "eve", "password1": PASSWORD, "password2": PASSWORD}
    stranger.post("/accounts/signup/", form)
    assert not stranger.login(username="eve", password=PASSWORD)


def test_signing_out_takes_one_button(visit: Visitor) -> None:
    client = visit("viewer")
    page = client.get("/accounts/logout/")
    assert "Sign out" in words(page)
    assert client.get("/projects/").status_code == 200
    client.post("/accounts/logout/")
    assert client.get("/projects/").status_code == 302


def test_a_password_is_changed_by_who_knows_the_old_one(visit: Visitor) -> None:
    client = visit("viewer")
    address = "/accounts/password/change/"
    assert "Change password" in words(client.get(address))
    fresh = "a much longer phrase"
    wrong = {"oldpassword": "wrong", "password1": fresh, "password2": fresh}
    refused = client.post(address, wrong)
    assert refused.status_code == 200
    assert 'aria-invalid="true"' in refused.content.decode()
    assert client.post(address, {**wrong, "oldpassword": PASSWORD}).status_code == 302
    other = Client()
    assert other.login(username="viewer", password=fresh)
