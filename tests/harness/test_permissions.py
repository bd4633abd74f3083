"""Who may use the protocol: a matrix of every address and every kind of key."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.actions import create_api_key, create_project, revoke_api_key
from apps.accounts.models import ApiKey, Project, Scope
from apps.accounts.permissions import OPERATOR
from tests.harness.conftest import key_of
from tests.harness.harnesses import Harness

SPLIT = {"split": "test"}
CALL = {"name": "submit", "input": {"answer": "42"}}
OUTSIDE: list[tuple[str, str, Any]] = [
    ("GET", "/list_environments", None),
    ("POST", "/create_session", {}),
    ("GET", "/counter/tools", None),
    ("GET", "/counter/splits", None),
    ("POST", "/counter/tasks", SPLIT),
    ("POST", "/counter/num_tasks", SPLIT),
    ("POST", "/counter/task", {**SPLIT, "index": 0}),
    ("POST", "/counter/task_range", SPLIT),
]
IN_SESSION: list[tuple[str, str, Any]] = [
    ("POST", "/ping", None),
    ("GET", "/counter/prompt", None),
    ("GET", "/counter/messages", None),
    ("GET", "/counter/messages?format=openai", None),
    ("GET", "/counter/task_tools", None),
    ("POST", "/counter/call", CALL),
    ("POST", "/counter/score_group", {"candidates": []}),
]
ENDINGS: list[tuple[str, str, Any]] = [("POST", "/delete", None), ("POST", "/delete_session", None)]
BARE: list[tuple[str, str, Any]] = [("GET", "/prompt", None), ("POST", "/call", CALL)]
EVERYWHERE = [*OUTSIDE, *IN_SESSION, *ENDINGS, *BARE, ("POST", "/v1/rollouts", {"events": []})]


@pytest.fixture
def session(harness: Harness) -> str:
    return harness.session("counter", "sum")


@pytest.mark.parametrize(("method", "path", "body"), [*EVERYWHERE, ("POST", "/create", SPLIT)])
def test_without_a_good_key_there_is_no_service(
    harness: Harness, session: str, method: str, path: str, body: Any
) -> None:
    """401 and nothing else: it is the only status that the clients understand."""
    for key in (None, "", " ", "no-such-key", "x" * 3000, "kit/x", "\u00e9"):
        heard = Harness(key).ask(method, path, session, body)
        assert heard.status == 401
        assert heard.headers["WWW-Authenticate"].startswith("Bearer")
        assert not (key or "").strip() or key not in heard.detail
    assert harness.post("/ping", session).status == 200


@pytest.mark.parametrize(("method", "path", "body"), EVERYWHERE)
def test_a_key_that_may_not_serve_harnesses_is_no_good_here(
    kit: Project, session: str, method: str, path: str, body: Any
) -> None:
    for scopes in ([Scope.READ], [Scope.WRITE], [Scope.READ, Scope.WRITE]):
        assert Harness(key_of(kit, *scopes)).ask(method, path, session, body).status == 401


@pytest.mark.parametrize(("method", "path", "body"), OUTSIDE)
def test_a_key_with_the_right_is_served(kit: Project, method: str, path: str, body: Any) -> None:
    for scope in (Scope.HARNESS, Scope.ADMIN):
        assert Harness(key_of(kit, scope)).ask(method, path, None, body).status == 200


@pytest.mark.parametrize(("method", "path", "body"), IN_SESSION)
def test_a_session_belongs_to_the_key_that_opened_it(
    other: Harness, harness: Harness, session: str, method: str, path: str, body: Any
) -> None:
    assert other.ask(method, path, session, body).status == 404
    assert harness.post("/ping", session).status == 200


@pytest.mark.parametrize("path", ["/delete", "/delete_session"])
def test_another_key_cannot_end_a_session(
    other: Harness, harness: Harness, session: str, path: str
) -> None:
    assert other.post(path, session).status == 200, "it cannot even tell that there is one"
    assert harness.post("/ping", session).status == 200


def test_another_key_cannot_create_an_opened_session(other: Harness, harness: Harness) -> None:
    sid = harness.opened()
    body = {"split": "test", "index": 0}
    assert other.post("/create", sid, body).status == 404
    assert harness.post("/create", sid, body).status == 200


@pytest.mark.parametrize(("method", "path", "body"), [*OUTSIDE[2:], *IN_SESSION])
def test_another_project_is_not_there(session: str, method: str, path: str, body: Any) -> None:
    """Whatever its key may do at home."""
    elsewhere = create_project(actor=OPERATOR, slug="elsewhere")
    stranger = Harness(key_of(elsewhere, *Scope.values))
    for deployment in (None, "kit/counter", "elsewhere/counter"):
        heard = stranger.ask(method, path, session, body, X_DEPLOYMENT=deployment)
        assert heard.status == 404
    assert stranger.get("/list_environments").json == []


@pytest.mark.parametrize("path", ["/counter/splits", "/splits", "/prompt", "/counter/prompt"])
def test_a_key_serves_its_own_project_alone(harness: Harness, session: str, path: str) -> None:
    create_project(actor=OPERATOR, slug="elsewhere")
    assert harness.get(path, session, X_DEPLOYMENT="kit/counter").status == 200
    assert harness.get(path, session, X_DEPLOYMENT="KIT/Counter").status == 200
    assert harness.get(path, session, X_DEPLOYMENT="elsewhere/counter").status == 404


@pytest.mark.parametrize(("method", "path", "body"), [*OUTSIDE, *IN_SESSION])
def test_revoking_or_expiring_a_key_ends_its_service_at_once(
    kit: Project, method: str, path: str, body: Any
) -> None:
    made = create_api_key(actor=OPERATOR, project=kit, name="short", scopes=[Scope.HARNESS])
    visitor = Harness(made.secret)
    sid = visitor.session("counter", "sum")
    ApiKey.objects.filter(pk=made.row.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert visitor.ask(method, path, sid, body).status == 401
    ApiKey.objects.filter(pk=made.row.pk).update(expires_at=None)
    assert visitor.post("/ping", sid).status == 200
    revoke_api_key(actor=OPERATOR, key=made.row)
    assert visitor.ask(method, path, sid, body).status == 401


def test_a_bearer_token_is_a_key_too(harness: Harness) -> None:
    nobody = Harness(None)
    bearer = f"Bearer {harness.secret}"
    assert nobody.get("/counter/splits", AUTHORIZATION=bearer).status == 200
    assert nobody.get("/counter/splits", AUTHORIZATION=bearer.lower()).status == 401
    assert nobody.get("/counter/splits", AUTHORIZATION=f"Basic {harness.secret}").status == 401


@pytest.mark.parametrize("path", ["/api/v1/projects/", "/api/v1/projects/kit/environments/"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_the_scope_of_harnesses_manages_nothing(harness: Harness, method: str, path: str) -> None:
    assert harness.ask(method, path, None, {"slug": "mine", "name": "Mine"}).status in (
        403,
        404,
        405,
    )


def test_the_use_of_a_key_is_remembered(harness: Harness) -> None:
    harness.get("/list_environments")
    assert ApiKey.objects.filter(last_used_at__isnull=False).count() == 1
