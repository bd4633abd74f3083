"""The task editor: its page, saving, and the payloads of what is being written.

The page holds the conversation as the canonical JSON text of its revision; the editor sends back
JSON text in which everything a person did not touch is as it came.
"""

import json
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.errors import Conflict
from apps.accounts.permissions import Actor, Right, may
from apps.accounts.queries import get_project
from apps.dialogue.message import Message
from apps.dialogue.pairing import Problem
from apps.dialogue.token_counts import TokenCounts, count_tokens
from apps.studio.doors import exchange, page
from apps.studio.forms.task_document import PreviewedDocument, SavedDocument, read_sent
from apps.studio.reading import show_answers
from apps.tasks import actions, queries
from apps.tasks.content import canonical_json, parse_content, ready_problems
from apps.tasks.pictures import check_pictures
from apps.tasks.previews import (
    PROMPT,
    check_formats,
    offered_tools,
    payload,
    sending_problems,
    unserved,
)
from apps.tasks.queries import content_of, get_environment, get_revision, get_task

SHOWN_FORMATS = ("openai", "anthropic", "google", PROMPT)
LONGEST_SHOWN = 400
"""Characters of a text without a space (an image) that a payload on the screen shows."""


@require_safe
@page
def new_task(request: HttpRequest, actor: Actor, project: str, environment: str) -> HttpResponse:
    """The editor with nothing in it; the first save makes the task."""
    row = get_environment(actor, get_project(actor, project), environment, Right.AUTHOR)
    splits = [split.name for split in queries.splits(actor, row)]
    wanted = request.GET.get("split", "")
    document = {
        "number": 0,
        "content": "{}",
        "key": "",
        "split": wanted if wanted in splits else next(iter(splits), ""),
        "status": "draft",
    }
    save = reverse("studio:task_create", args=[row.project.slug, row.slug])
    editor = {**_editor(actor, row, splits), "document": document, "save": save, "history": ""}
    return _page(request, row, editor)


@require_safe
@page
def task(
    request: HttpRequest, actor: Actor, project: str, environment: str, pk: int
) -> HttpResponse:
    """The editor on the current revision of a task; for reading only where that is the right."""
    row = get_environment(actor, get_project(actor, project), environment)
    task = get_task(actor, row, pk)
    revision: Any = task.current
    splits = [split.name for split in queries.splits(actor, row)]
    place = [row.project.slug, row.slug, task.pk]
    editor = {
        **_editor(actor, row, splits),
        "document": _document(task),
        "save": reverse("studio:task_save", args=place),
        "history": reverse("studio:task_history", args=place),
    }
    return _page(
        request,
        row,
        editor,
        task=task,
        beside=queries.neighbours(actor, task),
        answers=show_answers(content_of(revision).candidates),
    )


def _page(
    request: HttpRequest, environment: Any, editor: dict[str, Any], **context: Any
) -> HttpResponse:
    context |= {"project": environment.project, "environment": environment, "editor": editor}
    return render(request, "studio/pages/task.html", context)


def _editor(actor: Actor, environment: Any, splits: list[str]) -> dict[str, Any]:
    """What the editor knows besides the document: rights, splits, tools, addresses."""
    place = [environment.project.slug, environment.slug]
    return {
        "environment": "/".join(place),
        "person": str(actor),
        "may_edit": may(actor, environment.project, Right.AUTHOR),
        "splits": splits,
        "tools": [tool.name for tool in queries.tools(actor, environment)],
        "formats": list(SHOWN_FORMATS),
        "preview": reverse("studio:task_preview", args=place),
    }


def _document(task: Any) -> dict[str, Any]:
    revision = task.current
    return {
        "number": revision.number,
        "content": revision.content,
        "key": task.key,
        "split": task.split.name,
        "status": task.status,
    }


@require_POST
@exchange
def create(request: HttpRequest, actor: Actor, project: str, environment: str) -> HttpResponse:
    """Save a conversation for the first time; answers 201 with the task's addresses."""
    row = get_environment(actor, get_project(actor, project), environment, Right.AUTHOR)
    sent = read_sent(request, SavedDocument)
    content = parse_content(sent.content)
    check_pictures(content.messages)
    task = actions.create_task(
        actor=actor,
        environment=row,
        split=sent.split,
        content=content,
        key=sent.key or None,
        status=sent.status,
        message=sent.message,
    )
    addresses = {
        name: reverse(f"studio:{view}", args=[row.project.slug, row.slug, task.pk])
        for name, view in (("page", "task"), ("save", "task_save"), ("history", "task_history"))
    }
    return JsonResponse({**_saved(task), "addresses": addresses}, status=201)


@require_POST
@exchange
def save(
    request: HttpRequest, actor: Actor, project: str, environment: str, pk: int
) -> HttpResponse:
    """Save over the revision the editor started from.

    409 with ``current`` and ``base`` when somebody else saved meanwhile: both contents whole, so
    that the editor can merge and show them.
    """
    row = get_environment(actor, get_project(actor, project), environment, Right.AUTHOR)
    task = get_task(actor, row, pk)
    sent = read_sent(request, SavedDocument)
    try:
        with transaction.atomic():
            _save(actor, task, sent)
    except Conflict as conflict:
        if conflict.current is None:
            raise
        return JsonResponse(_conflict(actor, get_task(actor, row, pk), sent, conflict), status=409)
    return JsonResponse(_saved(task))


def _save(actor: Actor, task: Any, sent: SavedDocument) -> None:
    content = parse_content(sent.content)
    check_pictures(content.messages, kept=content_of(task.current).messages)
    # The revision is written first: it is what tells a stale base from a current one.
    actions.save_revision(
        actor=actor,
        task=task,
        base=sent.base,
        content=content,
        message=sent.message,
        status=sent.status,
        key=sent.key,
    )
    if sent.split != task.split.name:
        actions.move_task(actor=actor, task=task, split=sent.split)


def _saved(task: Any) -> dict[str, Any]:
    """What the editor has to know; ``unserved`` are the formats that harnesses are refused."""
    revision = task.current
    told = unserved(content_of(revision)) if task.status == "ready" else ()
    return {
        "unserved": [each.format for each in told],
        "number": revision.number,
        "key": task.key,
        "split": task.split.name,
        "status": task.status,
        "tags": task.tags,
    }


def _conflict(actor: Actor, task: Any, sent: SavedDocument, conflict: Conflict) -> dict[str, Any]:
    current = task.current
    base = get_revision(actor, task, sent.base) if sent.base < current.number else current
    return {
        "message": conflict.message,
        "place": conflict.place,
        "current": {
            **_document(task),
            "author": current.author,
            "message": current.message,
            "saved_at": current.created_at.isoformat(),
        },
        "base": {"number": base.number, "content": base.content},
    }


@require_POST
@exchange
def preview(request: HttpRequest, actor: Actor, project: str, environment: str) -> HttpResponse:
    """What is wrong in a conversation, what providers would be sent of it and would refuse, and its
    tokens. Nothing is saved."""
    row = get_environment(actor, get_project(actor, project), environment)
    sent = read_sent(request, PreviewedDocument)
    check_formats(sent.formats)
    content = parse_content(sent.content)
    offered = offered_tools(actor, row, content)
    answer = {
        "problems": _told(ready_problems(content)),
        "lens": {name: _told(sending_problems(content, name, offered)) for name in SHOWN_FORMATS},
        "payloads": {name: _payload(name, content.messages) for name in sent.formats},
        "tokens": _tokens(count_tokens(content.messages)),
    }
    return JsonResponse(answer)


def _told(problems: Sequence[Problem]) -> list[dict[str, str]]:
    return [
        {"place": each.place, "message": each.message, "severity": each.severity}
        for each in problems
    ]


def _tokens(counts: TokenCounts) -> dict[str, Any]:
    """Of the whole and of each turn; ``exact`` names the tokenizer, null for an estimate."""
    return {
        "exact": counts.tokenizer if counts.exact else None,
        "tokens": counts.tokens,
        "images": counts.images,
        "turns": [turn.tokens for turn in counts.turns],
    }


def _payload(name: str, messages: Sequence[Message]) -> dict[str, Any]:
    """``{"json": text}`` as it would be sent, indented; or why this format refuses it."""
    made = payload(messages, name)
    if made.refusal is not None:
        return {"place": made.refusal.place, "message": made.refusal.message}
    written = json.loads(canonical_json(made.value))
    return {"json": json.dumps(_shortened(written), ensure_ascii=False, indent=2)}


def _shortened(value: Any) -> Any:
    """The same value with pictures cut short: nobody reads base64."""
    match value:
        case dict():
            return {key: _shortened(each) for key, each in value.items()}
        case list():
            return [_shortened(each) for each in value]
        case str() if len(value) > LONGEST_SHOWN and " " not in value:
            return f"{value[:60]}… ({len(value):,} characters)"
        case _:
            return value
