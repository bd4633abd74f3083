"""What a session plays: its conversation and its tools."""

import json

from django.http import HttpResponse

from apps.dialogue.message import parse_conversation
from apps.dialogue.provider_formats import convert
from apps.episodes.queries import messages_body, prompt_body
from apps.harness.answers import json_answer, ready_answer
from apps.harness.errors import WrongShape
from apps.harness.tool_list import tool_list
from apps.harness.visit import Visit
from apps.tasks.serving import served_environment

FORMATS = ("openai", "openrouter", "anthropic", "google")
"""The formats that the clients build themselves; here for harnesses without a client."""


def prompt(visit: Visit) -> HttpResponse:
    return ready_answer(prompt_body(visit.episode_here))


def messages(visit: Visit) -> HttpResponse:
    """The conversation as stored, or with ``?format=`` as the payload the client would build.

    `DialogueError` (422) if the format cannot carry the conversation.
    """
    stored = messages_body(visit.episode_here)
    form = visit.request.GET.get("format") if visit.request.META.get("QUERY_STRING") else None
    if form is None:
        return ready_answer(stored)
    if form not in FORMATS:
        raise WrongShape(f"format: {form[:40]!a} is not one of {', '.join(FORMATS)}.")
    return json_answer(convert(parse_conversation(json.loads(stored)), form))


def task_tools(visit: Visit) -> HttpResponse:
    return ready_answer(tool_list(served_environment(visit.episode_here.environment_id)))
