"""Every address of the studio, asked for by everybody: denied by default.

The table says whose right an address needs. An address that is not in the table fails the last
test, so nothing is forgotten.
"""

from typing import Any

import pytest
from django.urls import reverse

from apps.accounts.permissions import OPERATOR
from apps.providers.actions import create_endpoint
from apps.runs.actions import launch, save_spec
from apps.studio.urls import urlpatterns
from apps.tasks.actions import create_export, propose_import
from apps.tasks.models import Task
from tests.cast import Cast
from tests.runs.stage import CLARIFY
from tests.studio.visitors import Visitor

pytestmark = pytest.mark.django_db

EVERYBODY = ("owner", "author", "annotator", "viewer", "outsider", "nobody")
MEMBERS = {"owner", "author", "annotator", "viewer"}
AUTHORS = {"owner", "author"}
ADMINS = {"owner"}

READ: dict[str, set[str]] = {
    "project": MEMBERS,
    "environment": MEMBERS,
    "grading": MEMBERS,
    "connect": MEMBERS,
    "task": MEMBERS,
    "task_history": MEMBERS,
    "revision": MEMBERS,
    "models": MEMBERS,
    "solvers": MEMBERS,
    "solver": MEMBERS,
    "runs": MEMBERS,
    "run": MEMBERS,
    "run_facts": MEMBERS,
    "run_samples": MEMBERS,
    "sample": MEMBERS,
    "settings": MEMBERS,
    "export": MEMBERS,
    "export_losses": MEMBERS,
    "export_page": MEMBERS,
    "export_progress": MEMBERS,
    "export_file": MEMBERS,
    "environment_new": AUTHORS,
    "split_new": AUTHORS,
    "import": AUTHORS,
    "imports": AUTHORS,
    "import_page": AUTHORS,
    "import_progress": AUTHORS,
    "task_new": AUTHORS,
    "solver_new": AUTHORS,
    "run_new": AUTHORS,
    "model_new": ADMINS,
    "model": ADMINS,
}
WRITE: dict[str, set[str]] = {
    "solver_check": MEMBERS,
    "environment_new": AUTHORS,
    "grading": AUTHORS,
    "split_new": AUTHORS,
    "import": AUTHORS,
    "task_create": AUTHORS,
    "import_change": AUTHORS,
    "import_accept": AUTHORS,
    "import_undo": AUTHORS,
    "import_discard": AUTHORS,
    "export": MEMBERS,
    "export_discard": AUTHORS,
    "task_preview": MEMBERS,
    "task_save": AUTHORS,
    "revision_restore": AUTHORS,
    "solver_new": AUTHORS,
    "solver": AUTHORS,
    "run_new": AUTHORS,
    "run_cancel": AUTHORS,
    "run_resume": AUTHORS,
    "model_new": ADMINS,
    "model": ADMINS,
    "model_test": ADMINS,
    "model_archive": ADMINS,
    "member_add": ADMINS,
    "member_change": ADMINS,
    "member_remove": ADMINS,
    "key_new": ADMINS,
    "key_revoke": ADMINS,
}
OF_NO_PROJECT = {"home", "projects", "project_new"}
"""For every signed-in person; they show what that person may see."""

BODIES: dict[str, dict[str, str]] = {
    "export": {"format": "openreward", "on_loss": "refuse"},
    "import_change": {"split": "train", "format": "auto"},
    "grading": {"name": "Shop", "scorers": "[]", "tools": "[]"},
    "solver": {"text": CLARIFY + "\n"},
    "solver_new": {"text": CLARIFY + "\n"},
}


@pytest.fixture
def addresses(cast: Cast, task: Task) -> dict[str, str]:
    """Every address of ``alpha``, by name."""
    for key in ("model", "judge"):
        create_endpoint(
            actor=OPERATOR,
            project=cast.project,
            key=key,
            base_url="http://127.0.0.1:1/v1",
            model="m",
        )
    spec = save_spec(actor=OPERATOR, project=cast.project, text=CLARIFY)
    run = launch(
        actor=OPERATOR,
        project=cast.project,
        environment=task.environment,
        spec=spec,
        evaluated="model",
    )
    imported = propose_import(
        actor=OPERATOR,
        environment=task.environment,
        pieces=[b'{"id": "p", "question": "One?"}'],
        file_name="p.jsonl",
        split="train",
    )
    exported = create_export(actor=OPERATOR, environment=task.environment, format="openreward")
    values: dict[str, Any] = {
        "import_pk": imported.pk,
        "export_pk": exported.pk,
        "project": "alpha",
        "environment": "shop",
        "pk": task.pk,
        "number": run.number,
        "position": 0,
        "username": "viewer",
        "key": "",
    }
    return {pattern.name: _address(pattern, values, cast) for pattern in urlpatterns}


def _address(pattern: Any, values: dict[str, Any], cast: Cast) -> str:
    wanted = dict(values)
    name = pattern.name
    wanted["key"] = "clarify" if name.startswith("solver") else "model"
    if name == "key_revoke":
        wanted["pk"] = cast.harness_key.row.pk
    for kind in ("import", "export"):
        if name.startswith(f"{kind}_"):
            wanted["pk"] = wanted[f"{kind}_pk"]
    given = {key: wanted[key] for key in pattern.pattern.converters}
    return reverse(f"studio:{name}", kwargs=given)


def _expect(name: str, person: str, may: set[str], status: int) -> None:
    if person == "nobody":
        assert status == 302, (name, status)
    elif person == "outsider":
        assert status == 404, (name, status)
    elif person in may:
        assert status not in {401, 403, 404, 405}, (name, status)
    else:
        assert status == 403, (name, status)


@pytest.mark.parametrize("person", EVERYBODY)
def test_reading(visit: Visitor, addresses: dict[str, str], person: str) -> None:
    client = visit(person)
    for name, may in READ.items():
        response = client.get(addresses[name])
        response.getvalue()  # a file is closed once it is read
        _expect(name, person, may, response.status_code)


@pytest.mark.parametrize("person", [who for who in EVERYBODY if who not in ADMINS])
def test_writing(visit: Visitor, addresses: dict[str, str], person: str) -> None:
    client = visit(person)
    for name, may in WRITE.items():
        _expect(name, person, may, client.post(addresses[name], BODIES.get(name, {})).status_code)


@pytest.mark.parametrize("name", sorted(OF_NO_PROJECT))
def test_a_stranger_signs_in_first(visit: Visitor, addresses: dict[str, str], name: str) -> None:
    assert visit("nobody").get(addresses[name]).status_code == 302
    assert visit("outsider").get(addresses[name]).status_code in {200, 302}


def test_every_address_is_in_the_table() -> None:
    known = set(READ) | set(WRITE) | OF_NO_PROJECT
    assert {pattern.name for pattern in urlpatterns} == known


@pytest.mark.parametrize(
    "nonsense", ["%00", "x" * 400, "%ED%A0%80", "%F0%9F%A6%9C", "%2e%2e", "a b"]
)
def test_nonsense_in_an_address_is_not_found(
    visit: Visitor, addresses: dict[str, str], nonsense: str
) -> None:
    client = visit("owner")
    for pattern in urlpatterns:
        for name, converter in pattern.pattern.converters.items():
            if type(converter).__name__ != "StringConverter":
                continue
            given = {
                key: ("alpha" if key == "project" else "1") for key in pattern.pattern.converters
            }
            address = reverse(f"studio:{pattern.name}", kwargs={**given, name: "NONSENSE"})
            address = address.replace("NONSENSE", nonsense)
            for ask in (client.get, client.post):
                status = ask(address).status_code
                assert status in {302, 404, 405, 422}, (address, status)
