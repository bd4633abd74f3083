"""Who may knock: keys, people signed in, nobody else."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.actions import create_api_key, revoke_api_key
from apps.accounts.permissions import OPERATOR
from tests.api.callers import Caller, nobody, signed_in, with_key
from tests.cast import PASSWORD, Cast


def test_a_key_is_recognised_in_either_header(cast: Cast) -> None:
    secret = cast.read_key.secret
    bearer = Caller(Client(headers={"authorization": f"bearer {secret}"}))
    for caller in (with_key(secret), bearer):
        assert caller.get("me/").json == {
            "kind": "key",
            "name": "read",
            "project": "alpha",
            "scopes": ["read"],
        }


def test_a_person_signed_in_to_the_studio_is_recognised(cast: Cast) -> None:
    found = signed_in(cast.author).get("me/").json
    assert found == {"kind": "person", "name": "author", "project": None, "scopes": []}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-api-key": "tw_unknown"},
        {"x-api-key": "\u00fcml\u00e4ut"},
        {"authorization": "Bearer "},
        {"authorization": "Basic YTpi"},
    ],
)
def test_without_a_usable_key_there_is_a_challenge(headers: dict[str, str]) -> None:
    heard = Caller(Client(headers=headers)).get("me/")
    assert heard.status == 401
    assert heard.headers["WWW-Authenticate"].startswith("Bearer")
    assert heard.problem["title"] == "Unauthorized"


def test_a_revoked_key_is_refused_at_once(cast: Cast) -> None:
    caller = with_key(cast.read_key.secret)
    assert caller.get("me/").status == 200
    revoke_api_key(actor=OPERATOR, key=cast.read_key.row)
    assert caller.get("me/").status == 401


def test_an_expired_key_is_refused(cast: Cast) -> None:
    past = timezone.now() - timedelta(seconds=1)
    made = create_api_key(
        actor=OPERATOR, project=cast.project, name="old", scopes=["read"], expires_at=past
    )
    assert with_key(made.secret).get("me/").status == 401


def test_the_use_of_a_key_is_remembered(cast: Cast) -> None:
    with_key(cast.read_key.secret).get("me/")
    cast.read_key.row.refresh_from_db()
    assert cast.read_key.row.last_used_at is not None


def test_a_cookie_alone_reads_but_changes_nothing(cast: Cast) -> None:
    client = Client(enforce_csrf_checks=True)
    client.login(username="owner", password=PASSWORD)
    caller = Caller(client)
    assert caller.get("projects/alpha/").status == 200
    refused = caller.post("projects/", {"slug": "gamma"})
    assert refused.status == 403
    assert "CSRF" in refused.problem["detail"]
    client.cookies["csrftoken"] = "a" * 32
    client.defaults["HTTP_X_CSRFTOKEN"] = "a" * 32
    assert caller.post("projects/", {"slug": "gamma"}).status == 201


def test_a_person_who_was_switched_off_is_nobody(cast: Cast) -> None:
    caller = signed_in(cast.author)
    cast.author.is_active = False
    cast.author.save()
    assert caller.get("projects/").status == 401


@pytest.mark.django_db
def test_an_unknown_caller_learns_nothing_about_addresses() -> None:
    assert nobody().get("projects/alpha/").status == 401
    assert nobody().get("projects/nowhere/").status == 401
