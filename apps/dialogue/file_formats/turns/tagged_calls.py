"""Calls of tools and their results that stand in a text between tags, as Hermes and Qwen do."""

import json
from dataclasses import dataclass
from typing import Any, Final

CALL_TAGS: Final = ("<tool_call>", "</tool_call>")
RESULT_TAGS: Final = ("<tool_response>", "</tool_response>")


@dataclass(frozen=True, slots=True)
class Tagged:
    """What stands between two tags, each time, and the text around."""

    inside: list[str]
    outside: str


def tagged(text: str, tags: tuple[str, str]) -> Tagged:
    """Take a text apart; a tag that is not closed is text like any other."""
    inside: list[str] = []
    outside: list[str] = []
    at = 0
    while (start := text.find(tags[0], at)) >= 0:
        end = text.find(tags[1], start)
        if end < 0:
            break
        outside.append(text[at:start])
        inside.append(text[start + len(tags[0]) : end].strip())
        at = end + len(tags[1])
    return Tagged(inside, "".join([*outside, text[at:]]))


def written_calls(texts: list[str]) -> list[dict[str, Any]]:
    """Return the calls that texts are, ``{"name", "arguments"}``; none where one is no call."""
    calls = []
    for each in texts:
        try:
            call = json.loads(each)
        except (ValueError, RecursionError):
            return []
        arguments = (
            call.get("arguments", call.get("parameters")) if isinstance(call, dict) else None
        )
        if not isinstance(arguments, dict) or not isinstance(call.get("name"), str):
            return []
        calls.append({"name": call["name"], "arguments": arguments})
    return calls


def calls_of_tools(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return calls the way Chat Completions has them, without ids."""
    return [{"type": "function", "function": call} for call in calls]
