"""The demo: made once, whole, and never made over what somebody has changed."""

import asyncio
import io
import json
import stat

import pytest
from django.core.management import call_command

from apps.accounts.models import ApiKey, AuditEntry, Membership, User
from apps.accounts.permissions import OPERATOR, Actor
from apps.accounts.queries import get_project, key_for
from apps.dialogue.completeness import CompleteReply, complete_chat_reply
from apps.dialogue.scoring import Scored, ScoringContext
from apps.dialogue.solver.engine import play
from apps.dialogue.solver.language_model import ModelRequest
from apps.dialogue.solver.spec import parse_task_spec, resolve
from apps.dialogue.trace import Transcript
from apps.providers.demo import chat_completion
from apps.providers.models import ModelEndpoint
from apps.providers.queries import get_endpoint
from apps.runs.demo import login_file, make_demo
from apps.runs.queries import get_spec
from apps.tasks.actions import save_revision, update_environment
from apps.tasks.models import Revision, Task
from apps.tasks.queries import environments, get_environment, get_split, list_tasks, ready_specs

pytestmark = pytest.mark.django_db


def test_on_a_fresh_installation_everything_is_made() -> None:
    welcome = make_demo()
    project = get_project(OPERATOR, "demo")
    slugs = [environment.slug for environment in environments(OPERATOR, project)]
    assert slugs == ["capitals", "support"]
    for environment in environments(OPERATOR, project):
        assert {task.status for task in list_tasks(OPERATOR, environment).rows} == {"ready"}
    for key in ("demo", "demo-judge", "demo-echo"):
        assert get_endpoint(OPERATOR, project, key).base_url == "demo"
    assert get_spec(OPERATOR, project, "clarify-capitals").version == 1
    admin = User.objects.get()
    assert admin.check_password(welcome.password)
    assert Membership.objects.get().user == admin
    key = key_for(welcome.key)
    assert key is not None
    assert key.project == project


def test_a_second_start_changes_nothing() -> None:
    make_demo()
    tables = (Task, Revision, AuditEntry, ApiKey, User, ModelEndpoint)
    before = [list(table.objects.order_by("pk").values()) for table in tables]
    again = make_demo()
    assert (again.password, again.key, again.made, again.lines()) == ("", "", (), [])
    assert [list(table.objects.order_by("pk").values()) for table in tables] == before


def test_what_somebody_has_changed_stays_as_they_left_it() -> None:
    make_demo()
    project = get_project(OPERATOR, "demo")
    capitals = get_environment(OPERATOR, project, "capitals")
    update_environment(actor=OPERATOR, environment=capitals, description="Ours now")
    task = list_tasks(OPERATOR, capitals).rows[0]
    task.environment = capitals
    save_revision(actor=OPERATOR, task=task, base=1, content={"messages": []}, status="draft")
    make_demo()
    task.refresh_from_db()
    capitals.refresh_from_db()
    assert (task.status, capitals.description) == ("draft", "Ours now")


def test_the_ways_in_can_be_read_again_by_the_operator_alone() -> None:
    welcome = make_demo()
    written = login_file().read_text(encoding="utf-8")
    assert welcome.password in written
    assert welcome.key in written
    assert stat.S_IMODE(login_file().stat().st_mode) == 0o600


def test_where_people_are_already_nobody_is_added() -> None:
    User.objects.create_user("zoe", password="correct horse battery")
    welcome = make_demo()
    assert welcome.password == ""
    assert welcome.key
    assert User.objects.count() == 1


def test_an_openai_key_makes_an_endpoint_whenever_it_comes(settings: object) -> None:
    make_demo()
    project = get_project(OPERATOR, "demo")
    settings.OPENAI_API_KEY = "sk-very-secret"  # type: ignore[attr-defined]
    out = io.StringIO()
    call_command("load_demo", stdout=out)
    endpoint = get_endpoint(OPERATOR, project, "openai")
    assert endpoint.has_secret
    assert "sk-very-secret" not in endpoint.secret + out.getvalue()
    assert "model openai" in out.getvalue()


def test_an_endpoint_that_cannot_be_made_is_a_warning(settings: object) -> None:
    settings.OPENAI_API_KEY = "sk-x"  # type: ignore[attr-defined]
    settings.OPENAI_BASE_URL = "ftp://example.org"  # type: ignore[attr-defined]
    out, errors = io.StringIO(), io.StringIO()
    call_command("load_demo", stdout=out, stderr=errors)
    assert "'openai' was not made" in errors.getvalue()
    assert "Loaded the demo" in out.getvalue()


class _Scripted:
    """The demo's endpoints without the way over HTTP."""

    async def reply(self, request: ModelRequest) -> CompleteReply:
        model = "confirm-then-answer" if request.model_key is None else "judge"
        messages = [{"role": each.role, "content": each.text} for each in request.messages]
        status, body = chat_completion({"model": model, "messages": messages})
        assert status == 200
        return complete_chat_reply(body)


def test_the_demos_solver_leads_to_the_right_answer_in_every_task() -> None:
    make_demo()
    project = get_project(OPERATOR, "demo")
    resolved = resolve(
        parse_task_spec(get_spec(OPERATOR, project, "clarify-capitals").text),
        {"judge_model_key": "demo-judge"},
    )
    capitals = get_environment(OPERATOR, project, "capitals")
    split = get_split(Actor(user=User.objects.get()), capitals, "test")
    lengths = set()
    for spec in map(json.loads, ready_specs(OPERATOR, capitals, split)):
        transcript = Transcript()
        ending = asyncio.run(play(resolved.solver, spec, _Scripted(), transcript))
        scored = resolved.scorers[0].score(ScoringContext(sample=spec, answer=ending.answer))
        assert isinstance(scored, Scored)
        assert scored.values["is_correct"] is True
        lengths.add((spec["continent"] == "Europe", len(transcript.messages)))
    assert lengths == {(True, 5), (False, 3)}
