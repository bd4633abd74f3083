"""Members, keys and the audit log."""

from datetime import timedelta

import pytest
from django.utils import timezone

from apps.accounts.actions import record
from apps.accounts.models import ApiKey, Membership
from apps.accounts.permissions import OPERATOR
from apps.accounts.queries import key_for
from tests.cast import Cast
from tests.studio.visitors import HTMX, Visitor, words

pytestmark = pytest.mark.django_db

SETTINGS = "/projects/alpha/settings/"


def test_a_member_sees_the_members_and_nothing_of_keys(visit: Visitor) -> None:
    page = visit("viewer").get(SETTINGS)
    assert "annotator" in words(page)
    assert "API keys" not in words(page)
    assert "Audit log" not in words(page)
    assert 'name="role"' not in page.content.decode()


def test_an_admin_adds_changes_and_removes_a_member(visit: Visitor, cast: Cast) -> None:
    client = visit("owner")
    form = {"username": "outsider", "role": "viewer"}
    added = client.post(f"{SETTINGS}members/", form, follow=True)
    assert "outsider is a member now." in words(added)
    client.post(f"{SETTINGS}members/outsider/", {"role": "author"})
    membership = Membership.objects.get(project=cast.project, user=cast.outsider)
    assert membership.role == "author"
    asked = client.get(f"{SETTINGS}members/outsider/remove/")
    assert "outsider , author since" in words(asked)
    assert Membership.objects.filter(project=cast.project, user=cast.outsider).exists()
    client.post(f"{SETTINGS}members/outsider/remove/")
    assert not Membership.objects.filter(project=cast.project, user=cast.outsider).exists()


def test_a_person_who_does_not_exist_is_refused_beside_the_field(visit: Visitor) -> None:
    form = {"username": "no-one", "role": "viewer"}
    response = visit("owner").post(f"{SETTINGS}members/", form)
    assert response.status_code == 422
    assert response.context["member_form"].errors == {
        "username": ["There is no person named 'no-one'."]
    }


def test_the_last_admin_stays_and_it_is_said_why(visit: Visitor, cast: Cast) -> None:
    client = visit("owner")
    response = client.post(f"{SETTINGS}members/owner/remove/", follow=True)
    assert "is the only admin of" in words(response)
    assert Membership.objects.filter(project=cast.project, user=cast.owner).exists()


def test_a_keys_text_is_shown_once(visit: Visitor, cast: Cast) -> None:
    client = visit("owner")
    form = {"name": "trainer", "scopes": ["harness", "read"]}
    response = client.post(f"{SETTINGS}keys/", form)
    assert response.status_code == 200
    secret = response.context["new_key"].secret
    assert secret in response.content.decode()
    key = key_for(secret)
    assert key is not None
    assert (key.project, key.scopes) == (cast.project, ["harness", "read"])
    assert secret not in client.get(SETTINGS).content.decode()


def test_a_key_may_have_a_last_day(visit: Visitor, cast: Cast) -> None:
    tomorrow = (timezone.now() + timedelta(days=1)).date()
    form = {"name": "short", "scopes": ["harness"], "expires_at": tomorrow.isoformat()}
    visit("owner").post(f"{SETTINGS}keys/", form)
    key = ApiKey.objects.get(name="short")
    assert key.expires_at is not None
    assert key.expires_at.date() == tomorrow


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"name": "", "scopes": ["harness"]}, "name"),
        ({"name": "x", "scopes": []}, "scopes"),
        ({"name": "x", "scopes": ["everything"]}, "scopes"),
        ({"name": "x", "scopes": ["read"], "expires_at": "2020-01-01"}, "expires_at"),
    ],
)
def test_a_key_that_cannot_be_is_refused_beside_its_field(
    visit: Visitor, form: dict[str, object], field: str
) -> None:
    before = ApiKey.objects.count()
    response = visit("owner").post(f"{SETTINGS}keys/", form)
    assert response.status_code == 422
    assert field in response.context["key_form"].errors
    assert ApiKey.objects.count() == before


def test_revoking_is_asked_about_first_naming_what_is_lost(visit: Visitor, cast: Cast) -> None:
    key = cast.harness_key.row
    address = f"{SETTINGS}keys/{key.pk}/revoke/"
    client = visit("owner")
    assert f'href="{address}"' in client.get(SETTINGS).content.decode()
    asked = client.get(address)
    assert f"Revoke the key “{key.name}”?" in words(asked)
    assert key.prefix in words(asked)
    part = client.get(address, headers=HTMX).content.decode()
    assert part.lstrip().startswith('<dialog class="dialog" data-behaviour="modal"')
    assert f'action="{address}"' in part
    assert key_for(cast.harness_key.secret) is not None
    assert visit("author").get(address).status_code == 403


@pytest.mark.parametrize("rest", ["keys/", "members/", "members/viewer/"])
def test_addresses_of_forms_lead_back_to_the_settings(visit: Visitor, rest: str) -> None:
    response = visit("owner").get(f"{SETTINGS}{rest}")
    assert (response.status_code, response["Location"]) == (302, SETTINGS)


def test_who_is_no_member_cannot_be_removed(visit: Visitor) -> None:
    assert visit("owner").get(f"{SETTINGS}members/outsider/remove/").status_code == 404
    assert visit("owner").post(f"{SETTINGS}members/outsider/remove/").status_code == 404


def test_a_revoked_key_opens_nothing(visit: Visitor, cast: Cast) -> None:
    address = f"{SETTINGS}keys/{cast.harness_key.row.pk}/revoke/"
    response = visit("owner").post(address, follow=True)
    assert "no longer opens anything" in words(response)
    assert key_for(cast.harness_key.secret) is None


def test_a_key_of_another_project_is_not_there_to_revoke(visit: Visitor, cast: Cast) -> None:
    address = f"{SETTINGS}keys/{cast.foreign_key.row.pk}/revoke/"
    assert visit("owner").post(address).status_code == 404
    assert key_for(cast.foreign_key.secret) is not None


@pytest.mark.parametrize("pk", ["x", "9" * 30, "-1"])
def test_nonsense_in_the_address_is_refused_by_name(visit: Visitor, pk: str) -> None:
    response = visit("owner").post(f"{SETTINGS}keys/{pk}/revoke/")
    assert response.status_code == 422


def test_the_audit_log_is_walked_page_by_page(visit: Visitor, cast: Cast) -> None:
    for number in range(60):
        record(actor=OPERATOR, project=cast.project, action="test.line", subject=f"line {number}")
    client = visit("owner")
    first = client.get(SETTINGS)
    assert "line 59" in words(first)
    assert "line 5 " not in words(first)
    second = client.get(f"{SETTINGS}?before={first.context['audit'].next}")
    assert "line 5 " in words(second)
    assert client.get(f"{SETTINGS}?before=nonsense").status_code == 422
