"""The demo project: two environments, the scripted models, a solver; and the first way in.

Only what is missing is made. What somebody has changed stays as they left it.
"""

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import transaction

from apps.accounts.actions import create_api_key, create_project, record
from apps.accounts.errors import NotFound, Refusal
from apps.accounts.models import Project, Scope, User
from apps.accounts.permissions import OPERATOR, Actor
from apps.accounts.queries import get_project
from apps.providers.actions import create_endpoint
from apps.providers.addresses import DEMO
from apps.providers.queries import endpoints
from apps.runs.actions import save_spec
from apps.runs.queries import specs
from apps.tasks.actions import load_bundle
from apps.tasks.queries import environments

SLUG = "demo"
KEY_NAME = "demo"
DATA = Path(__file__).parent / "demo_data"
SCRIPTED = {
    "demo": ("confirm-then-answer", "Demo: asks back, then answers"),
    "demo-judge": ("judge", "Demo: the person who asked"),
    "demo-echo": ("echo", "Demo: echo"),
}


@dataclass(frozen=True, slots=True)
class Welcome:
    """What was newly made: the password of `admin` and the text of a key are shown this once.

    ``made`` names the pieces of the demo; ``warning`` says what could not be made and why.
    """

    password: str
    key: str
    made: tuple[str, ...]
    warning: str = ""

    def lines(self) -> list[str]:
        """The ways in, for a person to read; empty if none is new."""
        told = []
        if self.password:
            told.append(f"  sign in   admin / {self.password}   (until you change it)")
        if self.key:
            told.append(f"  API key   {self.key}   (project {SLUG})")
        return told


@transaction.atomic
def make_demo() -> Welcome:
    """Make what is missing of the demo project, and of the ways in if there are none."""
    password = _first_admin()
    made: list[str] = []
    project = _project(made)
    key = _first_key(project)
    _environments(project, made)
    for endpoint, (model, name) in SCRIPTED.items():
        _endpoint(project, made, endpoint, base_url=DEMO, model=model, display_name=name)
    _solver(project, made)
    warning = _openai(project, made)
    welcome = Welcome(password, key, tuple(made), warning)
    if welcome.lines():
        _keep("\n".join(welcome.lines()) + "\n")
    return welcome


def login_file() -> Path:
    """Where the first ways in can be read again, by the operator alone."""
    return Path(settings.VAR) / "first-login.txt"


def _first_admin() -> str:
    """The password of the first person, who is made if there is nobody; else an empty text."""
    if User.objects.exists():
        return ""
    password = secrets.token_urlsafe(12)
    User.objects.create_superuser("admin", password=password)
    record(actor=OPERATOR, project=None, action="user.create", subject="admin")
    return password


def _project(made: list[str]) -> Project:
    try:
        return get_project(OPERATOR, SLUG)
    except NotFound:
        first = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
        made.append(f"project {SLUG}")
        return create_project(
            actor=Actor(user=first) if first else OPERATOR, slug=SLUG, name="Demo"
        )


def _first_key(project: Project) -> str:
    if project.api_keys.exists():
        return ""
    scopes = (Scope.HARNESS, Scope.READ, Scope.WRITE)
    return create_api_key(actor=OPERATOR, project=project, name=KEY_NAME, scopes=scopes).secret


def _environments(project: Project, made: list[str]) -> None:
    bundle = json.loads((DATA / "bundle.json").read_text(encoding="utf-8"))
    there = {environment.slug for environment in environments(OPERATOR, project)}
    missing = [each for each in bundle["environments"] if each["name"] not in there]
    if missing:
        load_bundle(actor=OPERATOR, project=project, bundle={**bundle, "environments": missing})
        made += [f"environment {each['name']}" for each in missing]


def _endpoint(
    project: Project,
    made: list[str],
    key: str,
    *,
    base_url: str,
    model: str,
    display_name: str,
) -> None:
    if not endpoints(OPERATOR, project, archived=True).filter(key=key).exists():
        create_endpoint(
            actor=OPERATOR,
            project=project,
            key=key,
            base_url=base_url,
            model=model,
            display_name=display_name,
        )
        made.append(f"model {key}")


def _openai(project: Project, made: list[str]) -> str:
    """An endpoint for the operator's own key; why it could not be made, or an empty text."""
    taken = endpoints(OPERATOR, project, archived=True).filter(key="openai").exists()
    if taken or not settings.OPENAI_API_KEY:
        return ""
    try:
        create_endpoint(
            actor=OPERATOR,
            project=project,
            key="openai",
            base_url=settings.OPENAI_BASE_URL,
            model=settings.OPENAI_MODEL,
            display_name="OpenAI",
            secret=settings.OPENAI_API_KEY,
        )
    except Refusal as refusal:
        return f"The endpoint 'openai' was not made: {refusal.message}"
    made.append("model openai")
    return ""


def _solver(project: Project, made: list[str]) -> None:
    text = (DATA / "clarify-capitals.yaml").read_text(encoding="utf-8")
    if not specs(OPERATOR, project).filter(key="clarify-capitals").exists():
        save_spec(actor=OPERATOR, project=project, text=text)
        made.append("solver clarify-capitals")


def _keep(text: str) -> None:
    path = login_file()
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
