"""What a content would be sent as, and what would be refused of it. Nothing is saved."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from apps.accounts.errors import Invalid
from apps.accounts.permissions import Actor
from apps.dialogue.errors import DialogueError
from apps.dialogue.flattening import flatten
from apps.dialogue.message import Message
from apps.dialogue.pairing import Problem
from apps.dialogue.preflight import preflight
from apps.dialogue.provider_formats import FORMATS, convert
from apps.tasks.content import TaskContent
from apps.tasks.models import Environment
from apps.tasks.queries import tools

PROMPT: Final = "prompt"
"""The name, beside the providers' formats, of what ``/prompt`` serves."""

SERVED_FORMATS: Final = ("openai", "openrouter", "anthropic", "google")
"""The formats in which a harness may ask for the messages of a task."""


@dataclass(frozen=True, slots=True)
class Payload:
    """``value`` is what goes out; None if it is refused, and then ``refusal`` says why."""

    value: Any
    refusal: DialogueError | None = None


@dataclass(frozen=True, slots=True)
class Unserved:
    """A format in which a harness cannot be served a task, and the first reason."""

    format: str
    title: str
    problem: Problem


def check_formats(names: Sequence[str]) -> None:
    """`Invalid` at ``formats[i]`` for a name that is no format."""
    for index, name in enumerate(names):
        if name != PROMPT and name not in FORMATS:
            known = ", ".join((PROMPT, *FORMATS))
            raise Invalid(f"{name[:60]!a} is not one of {known}.", place=f"formats[{index}]")


def payload(messages: Sequence[Message], name: str) -> Payload:
    """A conversation as ``/prompt`` or a provider's format has it."""
    try:
        return Payload(flatten(messages) if name == PROMPT else convert(messages, name))
    except DialogueError as refusal:
        return Payload(None, refusal)


def sending_problems(content: TaskContent, name: str, offered: Sequence[Any]) -> list[Problem]:
    """All that ``/prompt`` (which carries everything) or a provider would refuse."""
    if name == PROMPT:
        return []
    return preflight(content.messages, name, tools=offered)


def offered_tools(actor: Actor, environment: Environment, content: TaskContent) -> list[Any]:
    """The tools that go out beside ``content``: its own, or those the environment lists."""
    if content.tools is not None:
        return content.tools
    return [{"name": tool.name} for tool in tools(actor, environment) if not tool.is_terminal]


def unserved(content: TaskContent) -> Iterator[Unserved]:
    """The formats that a harness may ask for and would be refused, each once."""
    for name in SERVED_FORMATS:
        problems = preflight(content.messages, name)
        if problems and problems[0].severity == "error":
            yield Unserved(name, FORMATS[name].title, problems[0])
