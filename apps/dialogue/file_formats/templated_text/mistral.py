"""Mistral's templates with tools: ``[AVAILABLE_TOOLS]``, ``[TOOL_CALLS]``, ``[TOOL_RESULTS]``.

Versions 2 and 3 have calls and results as JSON; the later ones have ``[TOOL_CALLS]name[CALL_ID]id
[ARGS]{...}``, ``[TOOL_RESULTS]id[TOOL_CONTENT]text`` and ``[SYSTEM_PROMPT]``.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from apps.dialogue.file_formats.templated_text.said import TOOLS, Said
from apps.dialogue.file_formats.turns import decoded

_TOKEN: Final = re.compile(
    r"(\[/?(?:INST|AVAILABLE_TOOLS|TOOL_RESULTS|SYSTEM_PROMPT)\]|\[TOOL_CALLS\]|</s>)"
)
_NEW_CALL: Final = re.compile(
    r"\s*(?P<name>[^\s\[\]{}]+)(?:\[CALL_ID\](?P<id>[^\[\]]*))?\[ARGS\](?P<arguments>.*)", re.DOTALL
)
_NEW_RESULT: Final = re.compile(r"\s*(?P<id>[^\s\[\]{}]*)\[TOOL_CONTENT\](?P<text>.*)", re.DOTALL)

MARKER: Final = re.compile(r"\[(?:AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT)\]")


_ROLES: Final = {"INST": "user", "SYSTEM_PROMPT": "system", "AVAILABLE_TOOLS": TOOLS}


def split(text: str, stray: list[str]) -> Iterator[Said]:
    """Split a text into turns, calls, results and the tools."""
    held: Said | None = None
    for each in _turns(text, stray):
        if held and held.role == "assistant" and not held.wire and "tool_calls" in each.wire:
            held = replace(held, wire=each.wire)  # a text and the calls behind it
            continue
        if held:
            yield held
        held = each
    if held:
        yield held


def _turns(text: str, stray: list[str]) -> Iterator[Said]:
    lead, *rest = _TOKEN.split(text)
    stray.append(lead)
    calls: list[dict[str, Any]] = []
    for mark, following in zip(rest[::2], rest[1::2], strict=True):
        made = _calls(following) if mark == "[TOOL_CALLS]" else []
        calls += made
        if calls and not made:
            yield Said("assistant", "", wire={"tool_calls": calls})
            calls = []
        if not made:
            yield from _passage(mark.strip("[]"), following, stray)
    if calls:
        yield Said("assistant", "", wire={"tool_calls": calls})


def _passage(mark: str, text: str, stray: list[str]) -> Iterator[Said]:
    said = text.strip()
    if mark in _ROLES:
        yield Said(_ROLES[mark], text.strip(" ") if mark == "INST" else said)
    elif mark == "TOOL_RESULTS":
        yield from _results(text)
    elif mark == "TOOL_CALLS":  # that cannot be read
        yield Said("assistant", said)
    elif mark in ("/INST", "/TOOL_RESULTS"):
        answer = said.removesuffix("<s>").rstrip()
        if answer:
            yield Said("assistant", answer)
    else:
        stray.append(text)


def _calls(text: str) -> list[dict[str, Any]]:
    """Return calls as Chat Completions has them; none where one of them cannot be read."""
    if new := _NEW_CALL.fullmatch(text.strip()):
        arguments = decoded(new["arguments"])
        call = {"name": new["name"], "arguments": arguments, "id": new["id"]}
        return [_call(call)] if isinstance(arguments, dict) else []
    listed = decoded(text.strip())
    listed = [listed] if isinstance(listed, dict) else listed
    if not isinstance(listed, list) or not all(
        isinstance(each, dict)
        and isinstance(each.get("name"), str)
        and isinstance(each.get("arguments"), dict)
        for each in listed
    ):
        return []
    return [_call(each) for each in listed]


def _call(call: dict[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": call["arguments"]}
    given = {"id": call["id"]} if isinstance(call.get("id"), str) and call["id"] else {}
    return {**given, "type": "function", "function": function}


def _results(text: str) -> Iterator[Said]:
    if new := _NEW_RESULT.fullmatch(text):
        yield Said("tool", new["text"].strip(), wire=_answers(new["id"]))
        return
    listed = decoded(text.strip())
    for each in listed if isinstance(listed, list) else [listed]:
        if isinstance(each, dict) and "content" in each:
            told = {key: each[key] for key in ("content", "name") if each.get(key) is not None}
            yield Said("tool", "", wire={**told, **_answers(each.get("call_id"))})
        else:
            yield Said("tool", text.strip())


def _answers(call_id: object) -> dict[str, Any]:
    return {"tool_call_id": call_id} if isinstance(call_id, str) and call_id else {}
