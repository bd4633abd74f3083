"""What a provider would refuse of a conversation, all of it, before anything is sent.

An error is what the conversion refuses: ``convert`` raises if, and only if, a conversation has one,
because the same writer finds both. A warning is what the provider's own API answers with 400, for
every model or for some, though its format carries it, and what goes out changed. A new target is
one module here and one entry in ``CAUTIONS``.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from apps.dialogue.errors import ConversionRefused, DialogueError
from apps.dialogue.message import Message, parse_conversation
from apps.dialogue.pairing import Problem
from apps.dialogue.preflight import anthropic, chat, google, responses
from apps.dialogue.preflight.tools import ToolRules, tool_problems
from apps.dialogue.provider_formats import FORMATS
from apps.dialogue.provider_formats.base import Turn, lay_out

Cautions = Callable[[Sequence[Turn]], Iterator[Problem]]

CAUTIONS: Final[dict[str, tuple[Cautions, ToolRules]]] = {
    "openai": (chat.openai_cautions, chat.TOOLS),
    "openrouter": (chat.openrouter_cautions, chat.TOOLS),
    "anthropic": (anthropic.cautions, anthropic.TOOLS),
    "google": (google.cautions, google.TOOLS),
    "responses": (responses.cautions, responses.TOOLS),
}

APIS: Final = {"chat_completions": "openai", "responses": "responses"}
"""The APIs of model endpoints, and the format in which each is sent a conversation."""

_INDEX: Final = re.compile(r"\[(\d+)\]")

TARGETS: Final = (*FORMATS, *(api for api in APIS if api not in FORMATS))


def preflight(
    messages: Sequence[Message | Mapping[str, Any]],
    target: str,
    *,
    tools: Sequence[Any] | None = None,
) -> list[Problem]:
    """Return everything ``target`` would refuse, errors first, each kind in conversation order.

    ``messages`` are messages or canonical wire dicts, ``target`` is a provider format or the API of
    an endpoint. ``tools`` are the definitions offered beside the conversation, where they are
    known: a definition that the provider refuses is an error at ``tools[i]``. All other places are
    like ``messages[2].blocks[0]``, or ``messages`` for the whole. Raises ``ConversionRefused`` for
    a target that does not exist and nothing else: what is no conversation at all is a problem too.
    """
    name = APIS.get(target, target)
    if name not in FORMATS:
        raise ConversionRefused(f"unknown target {target!r}; there are {', '.join(TARGETS)}")
    try:
        conversation = parse_conversation(messages)
    except DialogueError as error:
        return [_error(error)]
    refused: list[DialogueError] = []
    FORMATS[name].write(conversation, refused.append)
    cautions, rules = CAUTIONS[name]
    found = [_error(each) for each in refused]
    found += cautions(lay_out(conversation, name, _pass_over))
    if tools is not None:
        found += tool_problems(conversation, tools, name, rules)
    return sorted(dict.fromkeys(found), key=_order)


def _error(error: DialogueError) -> Problem:
    return Problem(error.place, error.message, "error")


def _pass_over(_: DialogueError) -> None:
    """The writer has told of it already."""


def _order(problem: Problem) -> tuple[bool, bool, tuple[int, ...]]:
    steps = tuple(int(step) for step in _INDEX.findall(problem.place))
    return problem.severity != "error", problem.place.startswith("tools"), steps


__all__ = ["APIS", "CAUTIONS", "TARGETS", "Problem", "preflight"]
