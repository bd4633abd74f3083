"""Calling tools and scoring groups: streams that can be resumed by their ``task_id``."""

from typing import Any

from django.http.response import HttpResponseBase

from apps.dialogue.message import parse_conversation
from apps.episodes.actions import run_call, run_group
from apps.episodes.queries import find_call, find_group
from apps.harness.bodies import Call, Group, read_body
from apps.harness.errors import UnknownAddress
from apps.harness.streams import call_events, event, stream
from apps.harness.visit import Visit
from apps.tasks.serving import served_environment

UNKNOWN_CALL = "unknown task_id"


def call(visit: Visit) -> HttpResponseBase:
    """Run a tool. Whatever is wrong with the call itself is a result, not a status."""
    episode = visit.episode_here
    wanted = read_body(visit.request, Call)
    if wanted.task_id is None:
        run = run_call(episode=episode, tool=wanted.name, given=wanted.input)
        return stream(call_events(run))
    known = find_call(episode, wanted.task_id)
    return stream(call_events(known) if known else [event("error", UNKNOWN_CALL)])


def score_group(visit: Visit) -> HttpResponseBase:
    """Grade the closing text of each candidate; the episode itself does not move."""
    episode = visit.episode_here
    if not served_environment(episode.environment_id).environment.supports_score_group:
        raise UnknownAddress(f"{episode.environment!r} does not score groups.")
    wanted = read_body(visit.request, Group)
    answers = [
        _closing_text(candidate.messages, f"candidates[{number}].messages")
        for number, candidate in enumerate(wanted.candidates)
    ]
    if wanted.task_id is None:
        return stream(call_events(run_group(episode=episode, answers=answers)))
    known = find_group(episode, wanted.task_id)
    return stream(call_events(known) if known else [event("error", UNKNOWN_CALL)])


def _closing_text(messages: list[Any], place: str) -> str | None:
    """The visible text of the last assistant message; None if there is none."""
    conversation = parse_conversation(messages, place)
    return next((m.text for m in reversed(conversation) if m.role == "assistant"), None)
