"""Loading a bundle: everything in it or nothing, and a second time nothing changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from apps.accounts.actions import record
from apps.accounts.errors import Invalid, NotFound
from apps.accounts.models import Project
from apps.accounts.permissions import Actor, Right, require
from apps.tasks.actions.bulk import BATCH, NewTask, insert_tasks
from apps.tasks.actions.environments import (
    ToolDraft,
    create_environment,
    create_split,
    set_tools,
    update_environment,
)
from apps.tasks.actions.tasks import check_status, move_task, save_revision
from apps.tasks.bundles import (
    FORMAT,
    OWN_ENVIRONMENT_KEYS,
    OWN_KEY,
    BundledTask,
    check_keys,
    check_kind,
    task_of,
    tool_of,
)
from apps.tasks.content import canonical_json, store
from apps.tasks.models import Environment, Split, Task
from apps.tasks.queries import get_environment
from apps.tasks.scoring import checked_scorers, checked_scripted

_KEYS = {"format", "owner", "default_environment", "environments"}
_ENVIRONMENT_KEYS = {
    "name", "description", "splits", "tools", "score_group", "tasks", "offers_submit", OWN_KEY,
}  # fmt: skip


@dataclass(slots=True)
class BundleReport:
    """What a loading did, counted; ``environments`` are the slugs in the bundle's order."""

    environments: list[str] = field(default_factory=list)
    created: int = 0
    updated: int = 0
    unchanged: int = 0


def owner_of(bundle: object) -> str:
    """The project that a bundle names; `Invalid` if it is not a bundle at all."""
    checked = check_keys(bundle, _KEYS, {"environments"}, "bundle")
    if checked.get("format", FORMAT) != FORMAT:
        raise Invalid(f"The format is not {FORMAT!r}.", place="format")
    return str(check_kind(checked.get("owner", ""), str, "owner"))


@transaction.atomic
def load_bundle(*, actor: Actor, project: Project, bundle: Mapping[str, Any]) -> BundleReport:
    """Make the environments of ``bundle`` in ``project``, or bring them up to it.

    What is there and not in the bundle stays. Raises `Invalid` with a place like
    ``environments[0].tasks.train[3].conversation[1].blocks[0]``, and then nothing was changed.
    """
    require(actor, project, Right.AUTHOR)
    owner_of(bundle)
    report = BundleReport()
    for index, each in enumerate(check_kind(bundle["environments"], list, "environments")):
        _load_environment(actor, project, each, f"environments[{index}]", report)
    default = bundle.get("default_environment")
    if default is not None:
        environment = get_environment(
            actor, project, check_kind(default, str, "default_environment"), Right.AUTHOR
        )
        update_environment(actor=actor, environment=environment, is_default=True)
    return report


def _load_environment(
    actor: Actor, project: Project, value: object, place: str, report: BundleReport
) -> None:
    given = check_keys(value, _ENVIRONMENT_KEYS, {"name"}, place)
    own = check_keys(given.get(OWN_KEY, {}), OWN_ENVIRONMENT_KEYS, set(), f"{place}.{OWN_KEY}")
    slug = check_kind(given["name"], str, f"{place}.name")
    wanted = {
        "name": check_kind(own.get("title", slug), str, f"{place}.{OWN_KEY}.title"),
        "description": check_kind(given.get("description", ""), str, f"{place}.description"),
        "scorers": checked_scorers(own.get("scorers", []), f"{place}.{OWN_KEY}.scorers"),
        "offers_submit": check_kind(
            given.get("offers_submit", False), bool, f"{place}.offers_submit"
        ),
        "supports_score_group": check_kind(
            given.get("score_group", False), bool, f"{place}.score_group"
        ),
    }
    tools = [
        ToolDraft(**tool_of(tool, f"{place}.tools[{index}]"))
        for index, tool in enumerate(check_kind(given.get("tools", []), list, f"{place}.tools"))
    ]
    try:
        environment = get_environment(actor, project, slug, Right.AUTHOR)
    except NotFound:
        environment = create_environment(
            actor=actor, project=project, slug=slug, tools=tools, **wanted
        )
    else:
        update_environment(actor=actor, environment=environment, **wanted)
        set_tools(actor=actor, environment=environment, tools=tools)
    splits = _splits(actor, environment, given.get("splits", []), f"{place}.splits")
    tasks = check_kind(given.get("tasks", {}), dict, f"{place}.tasks")
    for name, listed in tasks.items():
        if name not in splits:
            raise Invalid(f"{name!r} is none of the splits.", place=f"{place}.tasks.{name}")
        _load_tasks(actor, environment, splits[name], listed, f"{place}.tasks.{name}", report)
    report.environments.append(environment.slug)


def _splits(actor: Actor, environment: Environment, value: object, place: str) -> dict[str, Split]:
    there = {split.name: split for split in environment.splits.all()}
    for index, each in enumerate(check_kind(value, list, place)):
        given = check_keys(each, {"name", "type"}, {"name"}, f"{place}[{index}]")
        name = check_kind(given["name"], str, f"{place}[{index}].name")
        kind = given.get("type")
        if kind is not None:
            check_kind(kind, str, f"{place}[{index}].type")
        if name in there:
            continue
        try:
            there[name] = create_split(
                actor=actor, environment=environment, name=name, split_type=kind
            )
        except Invalid as error:
            field = "name" if error.place == "name" else "type"
            raise Invalid(error.message, place=f"{place}[{index}].{field}") from None
    return there


def _load_tasks(
    actor: Actor,
    environment: Environment,
    split: Split,
    value: object,
    place: str,
    report: BundleReport,
) -> None:
    listed = [
        task_of(each, f"{place}[{index}]")
        for index, each in enumerate(check_kind(value, list, place))
    ]
    known = {
        task.key: task
        for start in range(0, len(listed), BATCH)
        for task in Task.objects.select_related("current", "split").filter(
            environment=environment, key__in=[each.key for each in listed[start : start + BATCH]]
        )
    }
    new: dict[str, NewTask] = {}
    for each in listed:
        if each.key in new:
            raise Invalid(f"The id {each.key!r} is there twice.", place=f"{each.place}.id")
        if each.key in known:
            _bring_up_to(actor, environment, split, known[each.key], each, report)
        else:
            new[each.key] = _new_task(each)
    if new:
        Environment.objects.select_for_update().get(pk=environment.pk)
        insert_tasks(
            actor=actor,
            environment=environment,
            split=split,
            new=list(new.values()),
            message="From a bundle",
        )
        record(
            actor=actor,
            project=environment.project,
            action="task.bundle",
            subject=f"{environment.slug}/{split.name}",
            created=len(new),
        )
    report.created += len(new)


def _new_task(given: BundledTask) -> NewTask:
    try:
        check_status(given.status, given.content)
        grader = canonical_json(checked_scorers(given.grader, "grader")) if given.grader else ""
        scripted = (
            canonical_json(checked_scripted(given.scripted, "canned")) if given.scripted else ""
        )
    except Invalid as error:
        raise Invalid(error.message, place=f"{given.place}.{error.place}") from None
    return NewTask(
        key=given.key,
        status=given.status,
        content=given.content,
        stored=store(given.content, key=given.key, hidden=(grader, scripted)),
        grader=grader,
        scripted=scripted,
    )


def _bring_up_to(
    actor: Actor,
    environment: Environment,
    split: Split,
    task: Task,
    given: BundledTask,
    report: BundleReport,
) -> None:
    task.environment = environment
    new = _new_task(given)
    before = (task.current_id, task.status, task.split_id)
    move_task(actor=actor, task=task, split=split)
    save_revision(
        actor=actor,
        task=task,
        base=task.current.number if task.current else 0,
        content=given.content,
        message="From a bundle",
        status=new.status,
        grader=given.grader,
        scripted=given.scripted,
    )
    if (task.current_id, task.status, task.split_id) == before:
        report.unchanged += 1
    else:
        report.updated += 1
