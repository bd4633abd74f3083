from decimal import Decimal
from typing import Any

import pytest

from apps.accounts.errors import Conflict, Forbidden, Invalid, NotFound
from apps.accounts.models import AuditEntry, Project
from apps.accounts.permissions import OPERATOR, Actor
from apps.providers import actions
from apps.providers.models import ModelEndpoint
from apps.providers.queries import endpoints, endpoints_by_key, get_endpoint
from apps.providers.secrets import decrypt
from tests.cast import Cast
from tests.kits.fake_openai import FakeOpenAI

MAY_ADMINISTER = {"owner", "admin_key", "operator"}
MAY_VIEW = MAY_ADMINISTER | {"author", "annotator", "viewer", "read_key", "write_key"}


def make(project: Project, key: str = "gpt", **changes: Any) -> ModelEndpoint:
    settings = {"base_url": "https://api.example.org/v1", "model": "gpt-5", **changes}
    return actions.create_endpoint(actor=OPERATOR, project=project, key=key, **settings)


def test_an_endpoint_keeps_its_secret_encrypted(cast: Cast) -> None:
    row = make(cast.project, secret="sk-1")
    assert row.has_secret
    assert "sk-1" not in row.secret
    assert decrypt(row.secret) == "sk-1"


def test_the_audit_line_of_a_change_names_the_fields_and_not_the_secret(cast: Cast) -> None:
    row = make(cast.project, secret="sk-1")
    actions.update_endpoint(actor=OPERATOR, endpoint=row, secret="sk-2", model="gpt-6")
    line = AuditEntry.objects.get(action="endpoint.update")
    assert line.detail == {"changed": ["model", "secret"]}


def test_a_change_without_a_secret_leaves_it_and_an_empty_one_removes_it(cast: Cast) -> None:
    row = make(cast.project, secret="sk-1")
    row = actions.update_endpoint(actor=OPERATOR, endpoint=row, display_name="The model")
    assert decrypt(row.secret) == "sk-1"
    row = actions.update_endpoint(actor=OPERATOR, endpoint=row, secret="")
    assert not row.has_secret


def test_a_stored_secret_is_not_sent_to_another_host_by_itself(cast: Cast) -> None:
    row = make(cast.project, secret="sk-1")
    with pytest.raises(Invalid) as refused:
        actions.update_endpoint(actor=OPERATOR, endpoint=row, base_url="https://evil.example/v1")
    assert refused.value.place == "secret"
    row.refresh_from_db()
    assert row.base_url == "https://api.example.org/v1"
    actions.update_endpoint(actor=OPERATOR, endpoint=row, base_url="https://api.example.org/v2")
    moved = actions.update_endpoint(
        actor=OPERATOR, endpoint=row, base_url="https://other.example/v1", secret="sk-2"
    )
    assert decrypt(moved.secret) == "sk-2"


def test_a_key_is_taken_once_in_a_project_and_free_in_another(cast: Cast) -> None:
    make(cast.project)
    with pytest.raises(Conflict) as refused:
        make(cast.project)
    assert refused.value.place == "key"
    make(cast.other_project)


@pytest.mark.parametrize(
    ("place", "changes"),
    [
        ("key", {"key": ""}),
        ("key", {"key": "-x"}),
        ("key", {"key": "a b"}),
        ("key", {"key": "x" * 65}),
        ("key", {"key": "../x"}),
        ("base_url", {"base_url": "nowhere"}),
        ("base_url", {"base_url": "https://example.org/" + "x" * 500}),
        ("model", {"model": " "}),
        ("model", {"model": "x\x00"}),
        ("api", {"api": "telepathy"}),
        ("secret", {"secret": "two words"}),
        ("secret", {"secret": "schlüssel"}),
        ("parameters", {"parameters": []}),
        ("parameters.messages", {"parameters": {"messages": []}}),
        ("parameters.stream", {"parameters": {"stream": True}}),
        ("parameters.n", {"parameters": {"n": 2}}),
        ("parameters.temperature", {"parameters": {"temperature": float("nan")}}),
        ("parameters.stop[0]", {"parameters": {"stop": ["\x00"]}}),
        ("timeout_seconds", {"timeout_seconds": 0}),
        ("timeout_seconds", {"timeout_seconds": "60"}),
        ("timeout_seconds", {"timeout_seconds": float("nan")}),
        ("max_retries", {"max_retries": -1}),
        ("max_retries", {"max_retries": True}),
        ("max_concurrent_requests", {"max_concurrent_requests": 0}),
        ("requests_per_minute", {"requests_per_minute": 2**31}),
        ("price_input", {"price_input": -1}),
        ("price_output", {"price_output": Decimal("Infinity")}),
        ("display_name", {"display_name": "x" * 201}),
    ],
)
def test_a_wrong_setting_is_refused_at_its_place(
    cast: Cast, place: str, changes: dict[str, Any]
) -> None:
    with pytest.raises(Invalid) as refused:
        make(cast.project, **changes)
    assert refused.value.place == place
    assert not ModelEndpoint.objects.exists()


def test_an_archived_endpoint_is_gone_and_its_secret_with_it(cast: Cast) -> None:
    row = actions.archive_endpoint(actor=OPERATOR, endpoint=make(cast.project, secret="sk-1"))
    assert not row.has_secret
    with pytest.raises(NotFound):
        get_endpoint(OPERATOR, cast.project, "gpt")
    assert list(endpoints(OPERATOR, cast.project)) == []
    assert [each.key for each in endpoints(OPERATOR, cast.project, archived=True)] == ["gpt"]
    assert endpoints_by_key(OPERATOR, cast.project, ["gpt"]) == {}


def test_who_may_see_endpoints_and_who_may_change_them(cast: Cast) -> None:
    row = make(cast.project)
    for name, actor in cast.actors().items():
        _expect(name in MAY_VIEW, lambda who=actor: endpoints(who, cast.project))
        _expect(name in MAY_VIEW, lambda who=actor: get_endpoint(who, cast.project, "gpt"))
        _expect(name in MAY_VIEW, lambda who=actor: endpoints_by_key(who, cast.project, ["gpt"]))
        changes = (
            lambda who: actions.update_endpoint(actor=who, endpoint=row, max_retries=1),
            lambda who: actions.archive_endpoint(actor=who, endpoint=row),
            lambda who: actions.create_endpoint(
                actor=who, project=cast.project, key="new", base_url="demo", model="echo"
            ),
        )
        for change in changes:
            _expect(name in MAY_ADMINISTER, lambda who=actor, do=change: do(who))
        ModelEndpoint.objects.filter(key="new").delete()
        ModelEndpoint.objects.filter(pk=row.pk).update(archived_at=None)


def _expect(allowed: bool, attempt: Any) -> None:
    if allowed:
        attempt()
    else:
        with pytest.raises((Forbidden, NotFound)):
            attempt()


def test_testing_an_endpoint_asks_it_for_one_reply(cast: Cast, server: FakeOpenAI) -> None:
    row = make(cast.project, base_url=server.url, model="echo", secret="sk-1")
    outcome = actions.test_endpoint(actor=Actor(user=cast.owner), endpoint=row)
    assert outcome.ok
    assert "OK" in outcome.reply
    assert outcome.latency_ms
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("model", "reason"), [("status-401", "authentication"), ("refuse", "refusal")]
)
def test_a_failed_test_says_why_and_nothing_of_the_secret(
    cast: Cast, server: FakeOpenAI, model: str, reason: str
) -> None:
    row = make(cast.project, base_url=server.url, model=model, secret="sk-1")
    outcome = actions.test_endpoint(actor=OPERATOR, endpoint=row)
    assert (outcome.ok, outcome.reason) == (False, reason)
    assert "sk-1" not in outcome.message


def test_only_those_who_manage_endpoints_may_test_them(cast: Cast, server: FakeOpenAI) -> None:
    row = make(cast.project, base_url=server.url, model="echo")
    for name, actor in cast.actors().items():
        if name not in MAY_ADMINISTER:
            with pytest.raises((Forbidden, NotFound)):
                actions.test_endpoint(actor=actor, endpoint=row)
    assert server.requests == []


@pytest.mark.parametrize("key", ["\ud800", "\x00"])
def test_a_key_that_no_text_can_be_names_no_endpoint(cast: Cast, key: str) -> None:
    with pytest.raises(NotFound):
        get_endpoint(OPERATOR, cast.project, key)
    assert endpoints_by_key(OPERATOR, cast.project, [key]) == {}
