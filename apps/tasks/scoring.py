"""How an environment's tools behave for one revision: its scorers and its authored results.

A scripted result is ``{"input": {...}, "blocks": [...], "delay_ms"?: int}`` or, for a tool that is
to fail, ``{"input": {...}, "raise": "why"}``: the first whose ``input`` equals the call's answers
it. A revision's own results come before the tool's.
"""

import json
from collections.abc import Mapping
from typing import Any

from apps.accounts.errors import Invalid
from apps.dialogue.blocks.json_values import NotJson, json_copy, json_object, kind_of
from apps.dialogue.errors import InvalidMessage, SpecError
from apps.dialogue.message import parse_message
from apps.dialogue.scoring import parse_scorers
from apps.tasks.models import Environment, Revision, Tool

LONGEST_DELAY_MS = 60_000
_RESULT_KEYS = {"input", "blocks", "delay_ms", "raise"}


def scorers_for(environment: Environment, revision: Revision) -> list[dict[str, Any]]:
    """The scorers that grade an answer to ``revision``: its own, else the environment's."""
    own: list[dict[str, Any]] = json.loads(revision.grader) if revision.grader else []
    return own or list(environment.scorers)


def scripted_results(tool: Tool, revision: Revision) -> list[dict[str, Any]]:
    """The authored results of ``tool`` for ``revision``, in the order in which they are tried."""
    own: dict[str, Any] = json.loads(revision.scripted) if revision.scripted else {}
    return [*own.get(tool.name, ()), *tool.config.get("results", ())]


def checked_scorers(value: object, place: str = "scorers") -> list[dict[str, Any]]:
    """The scorers as they are stored; `Invalid` names the first that cannot be."""
    if not isinstance(value, list | tuple):
        raise Invalid(f"Scorers are a list, not {kind_of(value)}.", place=place)
    try:
        stored: list[dict[str, Any]] = json_copy([_plain(each) for each in value])
        parse_scorers(stored, place)
    except NotJson as error:
        raise Invalid(f"A scorer {error.message}.", place=place + error.path) from None
    except SpecError as error:
        raise Invalid(error.message, place=error.place) from None
    return stored


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else value


def checked_scripted(value: object, place: str = "scripted") -> dict[str, list[dict[str, Any]]]:
    """Authored results by tool name, as they are stored; `Invalid` names the first wrong one."""
    try:
        by_tool = json_object(value)
    except NotJson as error:
        raise Invalid(f"Authored results: {error.message}.", place=place + error.path) from None
    for name, results in by_tool.items():
        if not isinstance(results, list):
            raise Invalid(f"A list of results, not {kind_of(results)}.", place=f"{place}.{name}")
        for index, result in enumerate(results):
            _check_result(result, f"{place}.{name}[{index}]")
    return by_tool


def _check_result(result: object, place: str) -> None:
    if not isinstance(result, dict) or not result.keys() <= _RESULT_KEYS:
        raise Invalid(f"A result has the keys {', '.join(sorted(_RESULT_KEYS))}.", place=place)
    if not isinstance(result.get("input"), dict):
        raise Invalid("The input that a call must equal is an object.", place=f"{place}.input")
    if ("raise" in result) == ("blocks" in result):
        raise Invalid("A result either has blocks or raises.", place=place)
    if "raise" in result and not isinstance(result["raise"], str):
        raise Invalid("Why it fails is a text.", place=f"{place}.raise")
    delay = result.get("delay_ms", 0)
    if type(delay) is not int or not 0 <= delay <= LONGEST_DELAY_MS:
        raise Invalid(
            f"A delay is 0 to {LONGEST_DELAY_MS} milliseconds.", place=f"{place}.delay_ms"
        )
    try:
        parse_message({"role": "system", "blocks": result.get("blocks", [])}, place)
    except InvalidMessage as error:
        raise Invalid(error.message, place=error.place) from None
