"""Everything in the rooms of accounts and tasks, asked for by everybody: denied by default.

The table says who may; nobody else may. A query or action that is not in the table fails the last
test, so nothing is forgotten.
"""

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from apps.accounts import actions as account_actions
from apps.accounts import queries as account_queries
from apps.accounts.errors import Forbidden, NotFound
from apps.accounts.permissions import OPERATOR, Actor
from apps.tasks import actions as task_actions
from apps.tasks import queries as task_queries
from apps.tasks.models import Environment, Export, Import, Split, Task
from tests.cast import Cast
from tests.factories import make_content, make_environment, make_split, make_task

SERVERS = {"owner", "author", "annotator", "viewer", "operator", "harness_key", "admin_key"}
READERS = {
    "owner", "author", "annotator", "viewer", "operator", "read_key", "write_key", "admin_key",
}  # fmt: skip
AUTHORS = {"owner", "author", "operator", "write_key", "admin_key"}
ADMINS = {"owner", "operator", "admin_key"}
MEMBERS = SERVERS | READERS
"""Who belongs to the project; everybody else is told that there is no such thing."""

BUNDLE = {"environments": [{"name": "made", "splits": [{"name": "test"}]}]}


class Stage(NamedTuple):
    """What is asked for: rows of ``alpha``."""

    cast: Cast
    environment: Environment
    split: Split
    task: Task


def propose(stage: Stage, actor: Actor = OPERATOR) -> Import:
    return task_actions.propose_import(
        actor=actor,
        environment=stage.environment,
        pieces=[b'{"id": "new", "question": "Why?"}'],
        file_name="rows.jsonl",
        split="train",
    )


def written(stage: Stage) -> Import:
    return task_actions.accept_import(actor=OPERATOR, imported=propose(stage))


def kept(stage: Stage, actor: Actor = OPERATOR) -> Export:
    return task_actions.create_export(
        actor=actor, environment=stage.environment, format="openreward"
    )


QUERIES: dict[str, tuple[set[str], Callable[[Actor, Stage], Any]]] = {
    "accounts.get_project": (READERS, lambda a, s: account_queries.get_project(a, "alpha")),
    "accounts.members": (READERS, lambda a, s: account_queries.members(a, s.cast.project)),
    "accounts.api_keys": (ADMINS, lambda a, s: account_queries.api_keys(a, s.cast.project)),
    "accounts.get_api_key": (
        ADMINS,
        lambda a, s: account_queries.get_api_key(a, s.cast.project, s.cast.read_key.row.pk),
    ),
    "accounts.audit_entries": (
        ADMINS,
        lambda a, s: account_queries.audit_entries(a, s.cast.project),
    ),
    "tasks.environments": (READERS, lambda a, s: task_queries.environments(a, s.cast.project)),
    "tasks.get_environment": (
        READERS,
        lambda a, s: task_queries.get_environment(a, s.cast.project, "shop"),
    ),
    "tasks.default_environment": (
        SERVERS,
        lambda a, s: task_queries.default_environment(a, s.cast.project),
    ),
    "tasks.splits": (READERS, lambda a, s: task_queries.splits(a, s.environment)),
    "tasks.get_split": (READERS, lambda a, s: task_queries.get_split(a, s.environment, "train")),
    "tasks.tools": (READERS, lambda a, s: task_queries.tools(a, s.environment)),
    "tasks.list_tasks": (READERS, lambda a, s: task_queries.list_tasks(a, s.environment)),
    "tasks.get_task": (READERS, lambda a, s: task_queries.get_task(a, s.environment, s.task.pk)),
    "tasks.get_task_by_key": (
        READERS,
        lambda a, s: task_queries.get_task_by_key(a, s.environment, "task-1"),
    ),
    "tasks.neighbours": (READERS, lambda a, s: task_queries.neighbours(a, s.task)),
    "tasks.revisions": (READERS, lambda a, s: task_queries.revisions(a, s.task)),
    "tasks.get_revision": (READERS, lambda a, s: task_queries.get_revision(a, s.task, 1)),
    "tasks.ready_task_at": (
        SERVERS,
        lambda a, s: task_queries.ready_task_at(a, s.environment, s.split, 0),
    ),
    "tasks.ready_task_by_key": (
        SERVERS,
        lambda a, s: task_queries.ready_task_by_key(a, s.environment, "task-1"),
    ),
    "tasks.ready_specs": (
        SERVERS,
        lambda a, s: task_queries.ready_specs(a, s.environment, s.split),
    ),
    "tasks.ready_revision_ids": (
        READERS,
        lambda a, s: task_queries.ready_revision_ids(a, s.environment, s.split),
    ),
    "tasks.get_import": (
        AUTHORS,
        lambda a, s: task_queries.get_import(a, s.environment, propose(s).pk),
    ),
    "tasks.imports": (AUTHORS, lambda a, s: task_queries.imports(a, s.environment)),
    "tasks.ledger_page": (AUTHORS, lambda a, s: task_queries.ledger_page(a, propose(s))),
    "tasks.ledger_line": (AUTHORS, lambda a, s: task_queries.ledger_line(a, propose(s), 0)),
    "tasks.proposed_content": (
        AUTHORS,
        lambda a, s: task_queries.proposed_content(a, propose(s), 0),
    ),
    "tasks.first_values": (AUTHORS, lambda a, s: task_queries.first_values(a, propose(s))),
    "tasks.get_export": (
        READERS,
        lambda a, s: task_queries.get_export(a, s.environment, kept(s).pk),
    ),
    "tasks.exports": (READERS, lambda a, s: task_queries.exports(a, s.environment)),
    "tasks.open_export": (
        READERS,
        lambda a, s: task_queries.open_export(a, kept(s)).close(),
    ),
    "tasks.losses_page": (READERS, lambda a, s: task_queries.losses_page(a, kept(s))),
    "tasks.bundle_of": (AUTHORS, lambda a, s: task_queries.bundle_of(a, s.environment)),
}

ACTIONS: dict[str, tuple[set[str], Callable[[Actor, Stage], Any]]] = {
    "accounts.set_member": (
        ADMINS,
        lambda a, s: account_actions.set_member(
            actor=a, project=s.cast.project, username="outsider", role="viewer"
        ),
    ),
    "accounts.remove_member": (
        ADMINS,
        lambda a, s: account_actions.remove_member(
            actor=a, project=s.cast.project, username="viewer"
        ),
    ),
    "accounts.create_api_key": (
        ADMINS,
        lambda a, s: account_actions.create_api_key(
            actor=a, project=s.cast.project, name="new", scopes=["harness"]
        ),
    ),
    "accounts.revoke_api_key": (
        ADMINS,
        lambda a, s: account_actions.revoke_api_key(actor=a, key=s.cast.read_key.row),
    ),
    "tasks.create_environment": (
        AUTHORS,
        lambda a, s: task_actions.create_environment(
            actor=a, project=s.cast.project, slug="another"
        ),
    ),
    "tasks.update_environment": (
        AUTHORS,
        lambda a, s: task_actions.update_environment(
            actor=a, environment=s.environment, name="Other"
        ),
    ),
    "tasks.set_tools": (
        AUTHORS,
        lambda a, s: task_actions.set_tools(actor=a, environment=s.environment, tools=[]),
    ),
    "tasks.create_split": (
        AUTHORS,
        lambda a, s: task_actions.create_split(actor=a, environment=s.environment, name="new"),
    ),
    "tasks.create_task": (
        AUTHORS,
        lambda a, s: task_actions.create_task(
            actor=a, environment=s.environment, split=s.split, content=make_content()
        ),
    ),
    "tasks.save_revision": (
        AUTHORS,
        lambda a, s: task_actions.save_revision(
            actor=a, task=s.task, base=1, content={"messages": []}, status="draft"
        ),
    ),
    "tasks.restore_revision": (
        AUTHORS,
        lambda a, s: task_actions.restore_revision(actor=a, task=s.task, number=1, base=1),
    ),
    "tasks.set_status": (
        AUTHORS,
        lambda a, s: task_actions.set_status(actor=a, task=s.task, status="draft"),
    ),
    "tasks.archive_task": (AUTHORS, lambda a, s: task_actions.archive_task(actor=a, task=s.task)),
    "tasks.rename_task": (
        AUTHORS,
        lambda a, s: task_actions.rename_task(actor=a, task=s.task, key="renamed"),
    ),
    "tasks.move_task": (
        AUTHORS,
        lambda a, s: task_actions.move_task(actor=a, task=s.task, split=s.split),
    ),
    "tasks.import_rows": (
        AUTHORS,
        lambda a, s: task_actions.import_rows(
            actor=a, environment=s.environment, split=s.split, rows=[]
        ),
    ),
    "tasks.import_file": (
        AUTHORS,
        lambda a, s: task_actions.import_file(
            actor=a, environment=s.environment, split=s.split, stream=[b"{}"]
        ),
    ),
    "tasks.rehearse_import": (
        AUTHORS,
        lambda a, s: task_actions.rehearse_import(
            actor=a, environment=s.environment, split=s.split, stream=[b"{}"]
        ),
    ),
    "tasks.propose_import": (AUTHORS, lambda a, s: propose(s, a)),
    "tasks.change_import": (
        AUTHORS,
        lambda a, s: task_actions.change_import(actor=a, imported=propose(s), update=True),
    ),
    "tasks.accept_import": (
        AUTHORS,
        lambda a, s: task_actions.accept_import(actor=a, imported=propose(s)),
    ),
    "tasks.discard_import": (
        AUTHORS,
        lambda a, s: task_actions.discard_import(actor=a, imported=propose(s)),
    ),
    "tasks.undo_import": (
        AUTHORS,
        lambda a, s: task_actions.undo_import(actor=a, imported=written(s)),
    ),
    "tasks.create_export": (READERS, lambda a, s: kept(s, a)),
    "tasks.discard_export": (
        AUTHORS,  # of the operator's; everybody who may read may discard their own
        lambda a, s: task_actions.discard_export(actor=a, exported=kept(s)),
    ),
    "tasks.load_bundle": (
        AUTHORS,
        lambda a, s: task_actions.load_bundle(actor=a, project=s.cast.project, bundle=BUNDLE),
    ),
}
DEEDS = {**QUERIES, **ACTIONS}

FREE = {
    "accounts.visible_projects",  # answers each with their own, see below
    "accounts.digest_of", "accounts.key_for", "accounts.note_key_use",  # before anybody is known
    "accounts.record", "accounts.check_slug", "accounts.create_project",  # no project yet
    "tasks.content_of", "tasks.cursor_of", "tasks.owner_of",  # work on what was already given
}  # fmt: skip


@pytest.fixture
def stage(cast: Cast) -> Stage:
    environment = make_environment(project=cast.project)
    split = make_split(environment=environment)
    return Stage(cast, environment, split, make_task(split=split, status="ready"))


NAMES = [
    "owner", "author", "annotator", "viewer", "outsider", "nobody", "operator",
    "harness_key", "read_key", "write_key", "admin_key", "foreign_key",
]  # fmt: skip


@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize("name", NAMES)
def test_only_those_in_the_table_may(stage: Stage, name: str, deed: str) -> None:
    allowed, do = DEEDS[deed]
    actor = stage.cast.actors()[name]
    if name in allowed:
        do(actor, stage)
    elif name in MEMBERS:
        with pytest.raises(Forbidden):
            do(actor, stage)
    else:
        with pytest.raises(NotFound):
            do(actor, stage)


@pytest.mark.parametrize("name", NAMES)
def test_everybody_sees_their_own_projects_alone(stage: Stage, name: str) -> None:
    actor = stage.cast.actors()[name]
    seen = {project.slug for project in account_queries.visible_projects(actor)}
    if name == "operator":
        assert seen == {"alpha", "beta"}
    elif name == "nobody":
        assert seen == set()
    else:
        assert seen == ({"alpha"} if name in MEMBERS else {"beta"})


@pytest.mark.parametrize("deed", ["tasks.environments", "tasks.create_split"])
def test_who_was_deactivated_may_nothing(stage: Stage, deed: str) -> None:
    stage.cast.owner.is_active = False
    stage.cast.owner.save()
    with pytest.raises(NotFound):
        DEEDS[deed][1](Actor(user=stage.cast.owner), stage)


@pytest.mark.parametrize("deed", DEEDS)
def test_a_superuser_may_everything(stage: Stage, deed: str) -> None:
    stage.cast.outsider.is_superuser = True
    stage.cast.outsider.save()
    DEEDS[deed][1](Actor(user=stage.cast.outsider), stage)


def test_nothing_is_missing_from_the_table() -> None:
    modules: dict[str, list[ModuleType]] = {
        "accounts": [account_actions, account_queries],
        "tasks": [task_actions, task_queries],
    }
    public = {
        f"{room}.{name}"
        for room, listed in modules.items()
        for module in listed
        for name, member in vars(module).items()
        if inspect.isfunction(member)
        and not name.startswith("_")
        and member.__module__.startswith(module.__name__)
    }
    assert public == set(DEEDS) | FREE
