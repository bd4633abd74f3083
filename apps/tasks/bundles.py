"""A whole environment in one file: the words of the bundle, both ways.

A bundle is what a conversation kit is made of (``format: conversation-kit/1``): an owner, and
environments with splits, tools, graders and tasks. What it cannot say stands under the key
``turnwright`` of the environment or the task, so that a dump loads back as it was.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apps.accounts.errors import Invalid
from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import DialogueError
from apps.tasks.content import TaskContent, load_content, parse_content
from apps.tasks.models import Environment, Revision, Split, Task, TaskStatus, Tool, ToolKind
from apps.tasks.names import check_task_key

FORMAT = "conversation-kit/1"
OWN_KEY = "turnwright"
_TASK_KEYS = {"id", "conversation", "grader", "canned", OWN_KEY}
_OWN_TASK_KEYS = {"attributes", "tools", "tags", "notes", "status", "scorers", "candidates"}
OWN_ENVIRONMENT_KEYS = {"title", "scorers"}
_SCORER_OF_GRADER = {"equals": "string_equals", "includes": "includes", "regex": "regex"}
_GRADER_OF_SCORER = {scorer: grader for grader, scorer in _SCORER_OF_GRADER.items()}
_QUOTED = re.compile(r'\A\{\{ (".*") \}\}\Z', re.DOTALL)


@dataclass(frozen=True, slots=True)
class BundledTask:
    """A task as a bundle has it; ``grader`` and ``scripted`` are in our own words."""

    key: str
    content: TaskContent
    status: str
    grader: list[dict[str, Any]]
    scripted: dict[str, Any]
    place: str


# --- from a bundle ------------------------------------------------------------------------------


def check_keys(value: object, known: set[str], required: set[str], place: str) -> dict[str, Any]:
    """``value`` itself if it is an object of these keys; else `Invalid` at ``place``."""
    if not isinstance(value, dict):
        raise Invalid(f"An object is expected here, not {kind_of(value)}.", place=place)
    for key in required - value.keys():
        raise Invalid(f"{key!r} is missing.", place=place)
    for key in value.keys() - known:
        raise Invalid(f"{key!r} is not one of {', '.join(sorted(known))}.", place=f"{place}.{key}")
    return value


def check_kind(value: Any, kind: type, place: str) -> Any:
    """``value`` itself if it is of the JSON kind ``kind``; else `Invalid` at ``place``."""
    if type(value) is not kind:
        names = {str: "a text", bool: "true or false", list: "a list", dict: "an object"}
        raise Invalid(f"This must be {names[kind]}, not {kind_of(value)}.", place=place)
    return value


def tool_of(value: object, place: str) -> dict[str, Any]:
    """The fields of a `ToolDraft` for a bundle's tool of kind terminal, canned or submit."""
    known = {"name", "kind", "argument", "description", "input_schema", "ends_episode", "results"}
    tool = check_keys(value, known, {"name", "kind"}, place)
    kinds = {
        "terminal": ToolKind.ANSWER,
        "submit": ToolKind.ANSWER,
        "canned": ToolKind.SCRIPTED,
    }
    kind = check_kind(tool["kind"], str, f"{place}.kind")
    if kind not in kinds:
        raise Invalid(f"{kind[:60]!a} is not one of {', '.join(kinds)}.", place=f"{place}.kind")
    argument = tool.get("argument")
    return {
        "name": check_kind(tool["name"], str, f"{place}.name"),
        "kind": kinds[kind].value,
        "is_terminal": kind == "terminal",
        "argument": None if argument is None else check_kind(argument, str, f"{place}.argument"),
        "description": check_kind(tool.get("description", ""), str, f"{place}.description"),
        "input_schema": tool.get("input_schema"),
        "ends_episode": check_kind(tool.get("ends_episode", True), bool, f"{place}.ends_episode"),
        "config": {"results": tool["results"]} if "results" in tool else {},
    }


def task_of(value: object, place: str) -> BundledTask:
    """Read one task of a bundle; `Invalid` names the place inside it."""
    if not isinstance(value, dict):
        raise Invalid(f"A task is an object, not {kind_of(value)}.", place=place)
    if not isinstance(value.get("id"), str):
        raise Invalid("A task has an id, which is a text.", place=f"{place}.id")
    try:
        check_task_key(value["id"])
    except Invalid as error:
        raise Invalid(error.message, place=f"{place}.id") from None
    own = check_keys(value.get(OWN_KEY, {}), _OWN_TASK_KEYS, set(), f"{place}.{OWN_KEY}")
    inner = check_kind(own.get("attributes", {}), dict, f"{place}.{OWN_KEY}.attributes")
    scorers = check_kind(own.get("scorers", []), list, f"{place}.{OWN_KEY}.scorers")
    attributes = {key: each for key, each in value.items() if key not in _TASK_KEYS}
    try:
        content = parse_content(
            {
                "messages": value.get("conversation", []),
                "attributes": {**attributes, **inner},
                "tools": own.get("tools"),
                "tags": own.get("tags", []),
                "notes": own.get("notes", ""),
                **({"candidates": own["candidates"]} if "candidates" in own else {}),
            }
        )
    except DialogueError as error:
        inside = re.sub(r"\Amessages", "conversation", error.place)
        raise Invalid(error.message, place=f"{place}.{inside}") from None
    grader = value.get("grader")
    return BundledTask(
        key=value["id"],
        content=content,
        status=str(own.get("status", TaskStatus.READY)),
        grader=[*scorers, *([] if grader is None else [_scorer(grader, place)])],
        scripted=check_kind(value.get("canned", {}), dict, f"{place}.canned"),
        place=place,
    )


def _scorer(value: object, place: str) -> dict[str, Any]:
    grader = check_keys(
        value, {"type", "value", "ignore_case"}, {"type", "value"}, f"{place}.grader"
    )
    kind = _SCORER_OF_GRADER.get(str(grader["type"]))
    if kind is None:
        raise Invalid(
            f"{str(grader['type'])[:60]!r} is not one of {', '.join(_SCORER_OF_GRADER)}.",
            place=f"{place}.grader.type",
        )
    wanted = check_kind(grader["value"], str, f"{place}.grader.value")
    scorer: dict[str, Any] = {"type": kind, "ground_truth": verbatim(wanted)}
    if "ignore_case" in grader:
        if kind == "string_equals" and grader["ignore_case"]:
            raise Invalid(
                "'equals' compares letter by letter; 'includes' can ignore the case.",
                place=f"{place}.grader.ignore_case",
            )
        if kind != "string_equals":
            scorer["ignore_case"] = check_kind(
                grader["ignore_case"], bool, f"{place}.grader.ignore_case"
            )
    return scorer


def verbatim(text: str) -> str:
    """A template that renders as ``text``, whatever it holds."""
    if any(mark in text for mark in ("{{", "{%", "{#")):
        return f"{{{{ {json.dumps(text, ensure_ascii=False)} }}}}"
    return text


# --- to a bundle --------------------------------------------------------------------------------


def environment_to_bundle(
    environment: Environment, tools: list[Tool], splits: list[Split], tasks: list[Task]
) -> dict[str, Any]:
    """The environment as a bundle has it; ``tasks`` (with their revisions) in their order."""
    by_split: dict[int, list[dict[str, Any]]] = {split.pk: [] for split in splits}
    for task in tasks:
        if task.current is not None:
            by_split[task.split_id].append(task_to_bundle(task, task.current))
    bundled: dict[str, Any] = {
        "name": environment.slug,
        "description": environment.description,
        "splits": [{"name": split.name, "type": split.type} for split in splits],
        "tools": [_tool_to_bundle(tool) for tool in tools],
        "score_group": environment.supports_score_group,
        "tasks": {split.name: by_split[split.pk] for split in splits},
    }
    if environment.offers_submit:
        bundled["offers_submit"] = True
    own: dict[str, Any] = {}
    if environment.name != environment.slug:
        own["title"] = environment.name
    if environment.scorers:
        own["scorers"] = environment.scorers
    return {**bundled, OWN_KEY: own} if own else bundled


def _tool_to_bundle(tool: Tool) -> dict[str, Any]:
    if tool.kind == ToolKind.SCRIPTED:
        kind = "canned"
    else:
        kind = "terminal" if tool.is_terminal else "submit"
    bundled: dict[str, Any] = {"name": tool.name, "kind": kind}
    if tool.argument is not None:
        bundled["argument"] = tool.argument
    bundled["description"] = tool.description
    if tool.input_schema:
        bundled["input_schema"] = json.loads(tool.input_schema)
    if not tool.ends_episode:
        bundled["ends_episode"] = False
    return {**bundled, **tool.config}


def task_to_bundle(task: Task, revision: Revision) -> dict[str, Any]:
    content = load_content(revision.content)
    clashing = {k: v for k, v in content.attributes.items() if k in _TASK_KEYS}
    own: dict[str, Any] = {
        "attributes": clashing,
        "tools": content.tools,
        "tags": list(content.tags),
        "notes": content.notes,
        "candidates": [each.to_wire() for each in content.candidates],
        "status": "" if task.status == TaskStatus.READY else task.status,
    }
    bundled: dict[str, Any] = {
        "id": task.key,
        "conversation": [_without_nulls(each.to_wire()) for each in content.messages],
        **{k: v for k, v in content.attributes.items() if k not in clashing},
    }
    scorers = json.loads(revision.grader) if revision.grader else []
    grader = _grader(scorers[0]) if len(scorers) == 1 else None
    if grader is not None:
        bundled["grader"] = grader
    else:
        own["scorers"] = scorers
    if revision.scripted:
        bundled["canned"] = json.loads(revision.scripted)
    own = {key: value for key, value in own.items() if value or (key == "tools" and value == [])}
    return {**bundled, OWN_KEY: own} if own else bundled


def _grader(scorer: Mapping[str, Any]) -> dict[str, Any] | None:
    """The scorer in the words of a bundle; None if they cannot say it."""
    kind = _GRADER_OF_SCORER.get(scorer["type"])
    truth = _plain_text(scorer["ground_truth"])
    if (
        kind is None
        or truth is None
        or not scorer.keys() <= {"type", "ground_truth", "ignore_case"}
    ):
        return None
    grader = {"type": kind, "value": truth}
    return {**grader, "ignore_case": scorer["ignore_case"]} if "ignore_case" in scorer else grader


def _plain_text(template: str) -> str | None:
    """The text that `verbatim` made ``template`` from; None if it was not made so."""
    quoted = _QUOTED.match(template)
    try:
        text = str(json.loads(quoted[1])) if quoted else template
    except ValueError:
        return None
    return text if verbatim(text) == template else None


def _without_nulls(message: dict[str, Any]) -> dict[str, Any]:
    """A message without the keys that only say that there is nothing."""
    return {
        **{"role": message["role"], "blocks": list(_lean(message["blocks"]))},
        **({} if message["detail"] is None else {"detail": message["detail"]}),
    }


def _lean(blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for block in blocks:
        left_out = {
            key
            for key in ("detail", "signature", "is_error")
            if key in block and block[key] in (None, False)
        }
        lean = {"type": block["type"]}
        lean.update((k, v) for k, v in block.items() if k not in left_out)
        if block["type"] == "tool_result":
            lean["blocks"] = list(_lean(block["blocks"]))
        yield lean
