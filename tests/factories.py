"""Rows for tests, made through the actions that the product itself uses."""

from typing import Any

from apps.accounts.models import Project
from apps.accounts.permissions import OPERATOR, Actor
from apps.tasks.actions import create_environment, create_split, create_task
from apps.tasks.models import Environment, Split, Task


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def message(role: str, *blocks: str | dict[str, Any]) -> dict[str, Any]:
    """A message on the wire; a plain text among ``blocks`` becomes a text block."""
    return {
        "role": role,
        "blocks": [text(block) if isinstance(block, str) else block for block in blocks],
    }


def call(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_call", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, *blocks: str | dict[str, Any], is_error: bool = False) -> dict[str, Any]:
    return {
        "type": "tool_result",
        "tool_call_id": call_id,
        "blocks": [text(block) if isinstance(block, str) else block for block in blocks],
        "is_error": is_error,
    }


def conversation() -> list[dict[str, Any]]:
    """Three messages: a question, a look-up with reasoning, its result."""
    return [
        message("user", "Where is my parcel? Order 7302."),
        message(
            "assistant",
            {"type": "reasoning", "text": "Look it up first."},
            call("call_1", "find_order", order="7302"),
        ),
        message("user", result("call_1", "held at the depot")),
    ]


def make_content(*messages: dict[str, Any], **attributes: Any) -> dict[str, Any]:
    """A task's content on the wire: these messages (or `conversation`) and attributes."""
    return {
        "messages": list(messages) or conversation(),
        "attributes": attributes or {"target": "depot"},
    }


def make_environment(
    *, project: Project, actor: Actor = OPERATOR, slug: str = "shop", **fields: Any
) -> Environment:
    return create_environment(actor=actor, project=project, slug=slug, **fields)


def make_split(
    *, environment: Environment, actor: Actor = OPERATOR, name: str = "train", **fields: Any
) -> Split:
    return create_split(actor=actor, environment=environment, name=name, **fields)


def make_task(
    *,
    split: Split,
    actor: Actor = OPERATOR,
    content: dict[str, Any] | None = None,
    **fields: Any,
) -> Task:
    """A task in ``split``; a draft unless ``status`` says otherwise."""
    return create_task(
        actor=actor,
        environment=split.environment,
        split=split,
        content=make_content() if content is None else content,
        **fields,
    )
