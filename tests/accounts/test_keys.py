"""API keys: shown once, kept hashed, ended at once."""

from datetime import timedelta

import pytest
import time_machine
from django.core import serializers
from django.utils import timezone

from apps.accounts.actions import create_api_key, note_key_use, revoke_api_key
from apps.accounts.errors import Invalid, NotFound
from apps.accounts.models import ApiKey, AuditEntry
from apps.accounts.permissions import Actor, Right, may
from apps.accounts.queries import api_keys, get_project, key_for
from tests.cast import Cast


def test_a_keys_text_is_kept_nowhere(cast: Cast) -> None:
    rows = [*ApiKey.objects.all(), *AuditEntry.objects.all()]
    assert cast.admin_key.secret not in serializers.serialize("json", rows)
    assert cast.admin_key.secret.startswith(cast.admin_key.row.prefix)
    assert len(cast.admin_key.row.prefix) < 12


def test_two_keys_are_never_alike(cast: Cast) -> None:
    owner = Actor(user=cast.owner)
    made = {
        create_api_key(actor=owner, project=cast.project, name="same").secret for _ in range(20)
    }
    assert len(made) == 20


def test_a_key_opens_its_own_project_only(cast: Cast) -> None:
    key = key_for(cast.admin_key.secret)
    assert key is not None
    assert get_project(Actor(api_key=key), "alpha") == cast.project
    with pytest.raises(NotFound):
        get_project(Actor(api_key=key), "beta")


def test_a_revoked_key_opens_nothing_from_then_on(cast: Cast) -> None:
    owner = Actor(user=cast.owner)
    revoke_api_key(actor=owner, key=cast.read_key.row)
    assert key_for(cast.read_key.secret) is None
    ended = ApiKey.objects.get(pk=cast.read_key.row.pk).revoked_at
    revoke_api_key(actor=owner, key=ApiKey.objects.get(pk=cast.read_key.row.pk))
    assert ApiKey.objects.get(pk=cast.read_key.row.pk).revoked_at == ended
    assert AuditEntry.objects.filter(action="key.revoke").count() == 1
    assert cast.read_key.row in api_keys(owner, cast.project)


def test_an_expired_key_opens_nothing(cast: Cast) -> None:
    until = timezone.now() + timedelta(hours=1)
    made = create_api_key(
        actor=Actor(user=cast.owner), project=cast.project, name="short", expires_at=until
    )
    assert key_for(made.secret) == made.row
    with time_machine.travel(until, tick=False):
        assert key_for(made.secret) is None


@pytest.mark.parametrize("text", ["", "tw_", "tw_nonsense", "\x00", "\ud800", "é" * 5000])
def test_a_text_that_is_no_key_opens_nothing(cast: Cast, text: str) -> None:
    assert key_for(text) is None


@pytest.mark.parametrize(
    ("name", "scopes", "place"),
    [
        ("ok", ["root"], "scopes"),
        ("ok", [], "scopes"),
        ("", ["read"], "name"),
        ("  ", ["read"], "name"),
        ("x" * 101, ["read"], "name"),
        ("a\x00b", ["read"], "name"),
    ],
)
def test_a_key_that_cannot_be_is_refused_at_its_place(
    cast: Cast, name: str, scopes: list[str], place: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        create_api_key(actor=Actor(user=cast.owner), project=cast.project, name=name, scopes=scopes)
    assert refusal.value.place == place


def test_the_default_key_serves_harnesses_and_nothing_else(cast: Cast) -> None:
    made = create_api_key(actor=Actor(user=cast.owner), project=cast.project, name="harness")
    granted = {right for right in Right if may(Actor(api_key=made.row), cast.project, right)}
    assert granted == {Right.SERVE}


def test_scopes_add_up(cast: Cast) -> None:
    made = create_api_key(
        actor=Actor(user=cast.owner),
        project=cast.project,
        name="both",
        scopes=["harness", "read", "read"],
    )
    assert made.row.scopes == ["harness", "read"]
    granted = {right for right in Right if may(Actor(api_key=made.row), cast.project, right)}
    assert granted == {Right.SERVE, Right.VIEW}


def test_the_use_of_a_key_is_written_down_once_a_minute(cast: Cast) -> None:
    key = cast.harness_key.row
    with time_machine.travel("2030-01-01T12:00:00Z", tick=False) as clock:
        note_key_use(key=key)
        first = ApiKey.objects.get(pk=key.pk).last_used_at
        clock.shift(59)
        note_key_use(key=key)
        assert ApiKey.objects.get(pk=key.pk).last_used_at == first
        clock.shift(2)
        note_key_use(key=key)
        assert ApiKey.objects.get(pk=key.pk).last_used_at == timezone.now()
