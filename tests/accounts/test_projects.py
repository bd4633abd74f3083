"""Projects and their members: roles, the last admin, the audit log."""

import itertools

import pytest
from django.db import IntegrityError, transaction

from apps.accounts.actions import create_project, remove_member, set_member
from apps.accounts.errors import Conflict, Forbidden, Invalid, NotFound
from apps.accounts.models import AuditEntry, Membership, Project, Role
from apps.accounts.permissions import OPERATOR, Actor, Right, may
from apps.accounts.queries import audit_entries, get_project, members
from tests.cast import Cast


@pytest.fixture
def owner(cast: Cast) -> Actor:
    return Actor(user=cast.owner)


def test_who_makes_a_project_is_its_admin(cast: Cast) -> None:
    made = create_project(actor=Actor(user=cast.viewer), slug="gamma")
    assert made.name == "gamma"
    assert [(m.user, m.role) for m in members(Actor(user=cast.viewer), made)] == [
        (cast.viewer, "admin")
    ]


def test_a_key_cannot_make_a_project(cast: Cast) -> None:
    with pytest.raises(Forbidden):
        create_project(actor=Actor(api_key=cast.admin_key.row), slug="gamma")


def test_nobody_cannot_make_a_project(db: None) -> None:
    with pytest.raises(Forbidden):
        create_project(actor=Actor(), slug="gamma")


@pytest.mark.parametrize("slug", ["", "Alpha", "a b", "-a", "a-", "a/b", "é", "x" * 65, "a\n"])
def test_a_project_has_a_name_that_addresses_can_hold(cast: Cast, slug: str) -> None:
    with pytest.raises(Invalid) as refusal:
        create_project(actor=OPERATOR, slug=slug)
    assert refusal.value.place == "slug"


def test_a_project_is_there_once(cast: Cast, owner: Actor) -> None:
    with pytest.raises(Conflict) as refusal:
        create_project(actor=owner, slug="beta")
    assert refusal.value.place == "slug"
    assert Project.objects.count() == 2


@pytest.mark.parametrize("slug", ["gamma", "", "\x00", "\ud800"])
def test_a_project_that_is_not_there_is_not_found(owner: Actor, slug: str) -> None:
    with pytest.raises(NotFound):
        get_project(owner, slug)


def test_a_strangers_project_is_not_found_as_if_it_were_not_there(cast: Cast) -> None:
    with pytest.raises(NotFound) as strange:
        get_project(Actor(user=cast.outsider), "alpha")
    with pytest.raises(NotFound) as missing:
        get_project(Actor(user=cast.outsider), "gamma")
    assert strange.value.message.replace("alpha", "gamma") == missing.value.message


def test_each_role_may_what_the_one_before_may_and_more(cast: Cast) -> None:
    people = [cast.viewer, cast.annotator, cast.author, cast.owner]
    granted = [
        {right for right in Right if may(Actor(user=person), cast.project, right)}
        for person in people
    ]
    assert all(less < more for less, more in itertools.pairwise(granted))
    assert granted[-1] == set(Right)


def test_a_role_can_be_changed_and_taken_away(cast: Cast, owner: Actor) -> None:
    set_member(actor=owner, project=cast.project, username="viewer", role=Role.AUTHOR)
    assert may(Actor(user=cast.viewer), cast.project, Right.AUTHOR)
    remove_member(actor=owner, project=cast.project, username="viewer")
    assert not any(may(Actor(user=cast.viewer), cast.project, right) for right in Right)


def test_the_last_admin_cannot_leave_or_step_down(cast: Cast, owner: Actor) -> None:
    for deed in (
        lambda: set_member(actor=owner, project=cast.project, username="owner", role="viewer"),
        lambda: remove_member(actor=owner, project=cast.project, username="owner"),
    ):
        with pytest.raises(Invalid, match="only admin") as refusal:
            deed()
        assert refusal.value.place == "role"
    set_member(actor=owner, project=cast.project, username="author", role="admin")
    remove_member(actor=owner, project=cast.project, username="owner")
    assert not may(owner, cast.project, Right.VIEW)


@pytest.mark.parametrize(
    ("username", "role", "place"),
    [
        ("nobody-here", "viewer", "username"),
        ("\x00", "viewer", "username"),
        ("viewer", "king", "role"),
    ],
)
def test_a_member_that_cannot_be_is_refused_at_its_place(
    cast: Cast, owner: Actor, username: str, role: str, place: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        set_member(actor=owner, project=cast.project, username=username, role=role)
    assert refusal.value.place == place


def test_who_is_no_member_cannot_be_removed(cast: Cast, owner: Actor) -> None:
    for username in ("outsider", "nobody-here", "\x00"):
        with pytest.raises(Invalid):
            remove_member(actor=owner, project=cast.project, username=username)


def test_every_change_is_in_the_audit_log_with_who_made_it(cast: Cast, owner: Actor) -> None:
    AuditEntry.objects.all().delete()
    set_member(actor=owner, project=cast.project, username="viewer", role="author")
    remove_member(
        actor=Actor(api_key=cast.admin_key.row), project=cast.project, username="annotator"
    )
    lines = audit_entries(owner, cast.project)
    assert [(line.actor, line.action, line.subject, line.detail) for line in lines] == [
        ("key admin", "member.remove", "annotator", {}),
        ("owner", "member.set", "viewer", {"role": "author"}),
    ]


def test_an_audit_line_of_another_project_is_not_shown(cast: Cast, owner: Actor) -> None:
    assert {line.project for line in audit_entries(owner, cast.project)} == {cast.project}


def test_the_database_knows_the_roles_and_one_membership_each(cast: Cast) -> None:
    for fields in (
        {"role": "viewer", "user": cast.viewer},
        {"role": "king", "user": cast.outsider},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Membership.objects.create(project=cast.project, **fields)
