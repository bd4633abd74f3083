"""Changing environments, their tools and their splits."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from jsonschema import Draft202012Validator, SchemaError

from apps.accounts.actions import record
from apps.accounts.errors import Conflict, Invalid
from apps.accounts.models import Project
from apps.accounts.permissions import Actor, Right, require
from apps.dialogue.blocks.json_values import NotJson, json_object, text_fault
from apps.tasks.content import canonical_json
from apps.tasks.models import Environment, Split, SplitType, Tool, ToolKind
from apps.tasks.names import check_environment_slug, check_split_name
from apps.tasks.scoring import checked_scorers, checked_scripted

TOOL_NAME = re.compile(r"\A[A-Za-z0-9_.-]{1,128}\Z")
PLAYED_KINDS = (ToolKind.ANSWER, ToolKind.SCRIPTED)

DEFAULT_SCORERS: tuple[dict[str, Any], ...] = (
    {"type": "string_equals", "ground_truth": "{{ sample.target }}"},
)
"""How a new environment grades until somebody says otherwise."""


@dataclass(frozen=True, slots=True)
class ToolDraft:
    """A tool as it is asked for; the fields are those of `Tool`.

    ``input_schema`` is a JSON Schema object (None: no schema is announced). A scripted tool's
    ``config`` may hold ``results``, the same for all tasks: see `apps.tasks.scoring`.
    """

    name: str
    kind: str
    description: str = ""
    input_schema: dict[str, Any] | None = None
    argument: str | None = None
    is_terminal: bool = False
    ends_episode: bool = True
    config: dict[str, Any] = field(default_factory=dict)


DEFAULT_TOOLS = (
    ToolDraft(
        name="answer",
        kind=ToolKind.ANSWER,
        description="Grades the closing message and ends the episode.",
        argument="text",
        is_terminal=True,
    ),
)


@transaction.atomic
def create_environment(
    *,
    actor: Actor,
    project: Project,
    slug: str,
    name: str = "",
    description: str = "",
    scorers: Sequence[Mapping[str, Any]] = DEFAULT_SCORERS,
    tools: Sequence[ToolDraft | Mapping[str, Any]] = DEFAULT_TOOLS,
    offers_submit: bool = True,
    supports_score_group: bool = False,
) -> Environment:
    """A new environment; the first of a project becomes its default one.

    Raises `Invalid` for a name, scorer or tool that cannot be, `Conflict` if the name is taken.
    """
    require(actor, project, Right.AUTHOR)
    check_environment_slug(slug)
    _take_turns(project)
    row = Environment(
        project=project,
        slug=slug,
        name=_text(name.strip() or slug, 200, "name"),
        description=_text(description, 10_000, "description"),
        scorers=checked_scorers(scorers),
        offers_submit=offers_submit,
        supports_score_group=supports_score_group,
        is_default=not project.environments.filter(is_default=True).exists(),
    )
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise Conflict(
            f"There is an environment {slug!r} in {project.slug!r} already.", place="slug"
        ) from None
    Tool.objects.bulk_create(_checked_tools(row, tools))
    record(actor=actor, project=project, action="environment.create", subject=slug)
    return row


@transaction.atomic
def update_environment(
    *,
    actor: Actor,
    environment: Environment,
    name: str | None = None,
    description: str | None = None,
    scorers: Sequence[Mapping[str, Any]] | None = None,
    offers_submit: bool | None = None,
    supports_score_group: bool | None = None,
    is_default: bool | None = None,
) -> Environment:
    """Change what is given (None: unchanged); `Invalid` names the field that cannot be."""
    require(actor, environment.project, Right.AUTHOR)
    wanted: dict[str, Any] = {
        "name": None if name is None else _text(name.strip() or environment.slug, 200, "name"),
        "description": None if description is None else _text(description, 10_000, "description"),
        "scorers": None if scorers is None else checked_scorers(scorers),
        "offers_submit": offers_submit,
        "supports_score_group": supports_score_group,
    }
    if is_default is False and environment.is_default:
        raise Invalid(
            "A project keeps a default environment: make another one the default.",
            place="is_default",
        )
    if is_default and not environment.is_default:
        _take_turns(environment.project)
        Environment.objects.filter(project=environment.project_id, is_default=True).update(
            is_default=False
        )
        wanted["is_default"] = True
    changed = {
        key: value
        for key, value in wanted.items()
        if value is not None and value != getattr(environment, key)
    }
    if changed:
        for key, value in changed.items():
            setattr(environment, key, value)
        environment.save(update_fields=list(changed))
        record(
            actor=actor,
            project=environment.project,
            action="environment.update",
            subject=environment.slug,
            fields=sorted(changed),
        )
    return environment


@transaction.atomic
def set_tools(
    *,
    actor: Actor,
    environment: Environment,
    tools: Sequence[ToolDraft | Mapping[str, Any]],
) -> list[Tool]:
    """Replace the environment's tools by ``tools``, in that order; the same tools change nothing.

    Raises `Invalid` naming the tool and the field, like ``tools[1].input_schema``.
    """
    require(actor, environment.project, Right.AUTHOR)
    rows = _checked_tools(environment, tools)
    _take_turns(environment)
    there = list(environment.tools.order_by("position", "pk"))
    if list(map(_fields, rows)) == list(map(_fields, there)):
        return there
    environment.tools.all().delete()
    rows = Tool.objects.bulk_create(rows)
    record(
        actor=actor,
        project=environment.project,
        action="environment.tools",
        subject=environment.slug,
        tools=[row.name for row in rows],
    )
    return rows


@transaction.atomic
def create_split(
    *, actor: Actor, environment: Environment, name: str, split_type: str | None = None
) -> Split:
    """A new split at the end of the list.

    Without ``split_type`` a split named train, validation or test has that type, any other is for
    validation: the rule of OpenReward's server.
    """
    require(actor, environment.project, Right.AUTHOR)
    check_split_name(name)
    kind = split_type or (name if name in SplitType.values else SplitType.VALIDATION.value)
    if kind not in SplitType.values:
        raise Invalid(
            f"{kind[:60]!r} is not one of {', '.join(SplitType.values)}.", place="split_type"
        )
    _take_turns(environment)
    last = environment.splits.order_by("-position").first()
    try:
        with transaction.atomic():
            row = Split.objects.create(
                environment=environment,
                name=name,
                type=kind,
                position=0 if last is None else last.position + 1,
            )
    except IntegrityError:
        raise Conflict(
            f"There is a split {name!r} in {environment.slug!r} already.", place="name"
        ) from None
    record(
        actor=actor,
        project=environment.project,
        action="split.create",
        subject=f"{environment.slug}/{name}",
        type=kind,
    )
    return row


def _take_turns(row: Project | Environment) -> None:
    """Let changes that look at what ``row`` has follow one another, until the transaction ends."""
    type(row)._default_manager.select_for_update(no_key=True).get(pk=row.pk)


def _text(text: str, longest: int, place: str) -> str:
    if fault := text_fault(text):
        raise Invalid(f"The {place} {fault}.", place=place)
    if len(text) > longest:
        raise Invalid(
            f"The {place} has at most {longest} characters, not {len(text)}.", place=place
        )
    return text


def _draft(value: ToolDraft | Mapping[str, Any], index: int) -> ToolDraft:
    if isinstance(value, ToolDraft):
        return value
    try:
        return ToolDraft(**value)
    except TypeError:
        known = ", ".join(ToolDraft.__dataclass_fields__)
        raise Invalid(
            f"A tool has a name and a kind, and no other keys than {known}.",
            place=f"tools[{index}]",
        ) from None


def _checked_tools(
    environment: Environment, tools: Sequence[ToolDraft | Mapping[str, Any]]
) -> list[Tool]:
    rows = [_tool(environment, _draft(each, i), i) for i, each in enumerate(tools)]
    for index, row in enumerate(rows):
        if any(row.name == earlier.name for earlier in rows[:index]):
            raise Invalid(f"Two tools are named {row.name!r}.", place=f"tools[{index}].name")
        if row.is_terminal and any(earlier.is_terminal for earlier in rows[:index]):
            raise Invalid(
                "One tool at most takes the closing message.", place=f"tools[{index}].is_terminal"
            )
    return rows


def _fields(tool: Tool) -> list[Any]:
    return [getattr(tool, name) for name in ToolDraft.__dataclass_fields__]


def _tool(environment: Environment, draft: ToolDraft, index: int) -> Tool:
    place = f"tools[{index}]"
    if not TOOL_NAME.search(str(draft.name)):
        raise Invalid(
            "A tool's name is 1 to 128 letters, digits, dots, hyphens or underscores, not "
            f"{ascii(draft.name)[:60]}.",
            place=f"{place}.name",
        )
    if draft.kind not in PLAYED_KINDS:
        raise Invalid(
            f"{ascii(draft.kind)[:60]} is not one of {', '.join(PLAYED_KINDS)}.",
            place=f"{place}.kind",
        )
    if draft.is_terminal and draft.kind != ToolKind.ANSWER:
        raise Invalid(
            "Only an answer tool can take the closing message.", place=f"{place}.is_terminal"
        )
    schema = _schema(draft.input_schema, f"{place}.input_schema")
    _check_argument(draft, f"{place}.argument")
    values = asdict(draft)
    values["description"] = _text(draft.description, 10_000, f"{place}.description")
    values["input_schema"] = schema
    values["config"] = _config(draft, f"{place}.config")
    return Tool(environment=environment, position=index, **values)


def _schema(value: object, place: str) -> str:
    if value is None:
        return ""
    try:
        schema = json_object(value)
        Draft202012Validator.check_schema(schema)
    except NotJson as error:
        raise Invalid(f"The schema {error.message}.", place=place + error.path) from None
    except SchemaError as error:
        raise Invalid(
            f"This is not a JSON Schema: {error.message[:200]}", place=place + error.json_path[1:]
        ) from None
    return canonical_json(schema)


def _check_argument(draft: ToolDraft, place: str) -> None:
    if draft.argument is None:
        return
    if draft.kind != ToolKind.ANSWER or not draft.argument or len(draft.argument) > 128:
        raise Invalid(
            "Only an answer tool names the argument it grades, in 1 to 128 characters.",
            place=place,
        )
    properties = (draft.input_schema or {}).get("properties")
    if isinstance(properties, dict) and draft.argument not in properties:
        raise Invalid(
            f"The schema has no property {draft.argument!r}, which this tool grades.", place=place
        )


def _config(draft: ToolDraft, place: str) -> dict[str, Any]:
    try:
        config = json_object(draft.config)
    except NotJson as error:
        raise Invalid(f"The configuration {error.message}.", place=place + error.path) from None
    known = {"results"} if draft.kind == ToolKind.SCRIPTED else set()
    for key in config:
        if key not in known:
            raise Invalid(f"A tool of this kind has no {key!r}.", place=f"{place}.{key}")
    if "results" in config:
        config["results"] = checked_scripted({draft.name: config["results"]}, place)[draft.name]
    return config
