"""The tools offered beside a conversation: what a provider refuses of their definitions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.dialogue.blocks import ToolCallBlock, ToolResultBlock
from apps.dialogue.message import Message
from apps.dialogue.pairing import Problem


@dataclass(frozen=True, slots=True)
class ToolRules:
    """``name`` is what a tool may be called. ``wants_tools`` marks a provider that refuses calls
    and results in a request that offers no tool."""

    name: re.Pattern[str]
    wants_tools: bool = False


def tool_problems(
    messages: Sequence[Message], tools: Sequence[Any], target: str, rules: ToolRules
) -> Iterator[Problem]:
    """Definitions that are refused, and calls of tools that are not offered.

    A definition is ``{"name": ...}``, or has it under ``function`` as Chat Completions has.
    """
    names: set[str] = set()
    for index, tool in enumerate(tools):
        name = _name_of(tool)
        place = f"tools[{index}]"
        if name is None:
            yield Problem(place, f"{target} wants a name on every tool", "error")
        elif not rules.name.fullmatch(name):
            fault = f"{target} wants tool names like {rules.name.pattern}, not {name!r}"
            yield Problem(place, fault, "error")
        elif name in names:
            yield Problem(place, f"{target} refuses two tools with the name {name!r}", "error")
        names |= {name} if name else set()
    yield from _use_of(messages, names, target, rules)


def _use_of(
    messages: Sequence[Message], names: set[str], target: str, rules: ToolRules
) -> Iterator[Problem]:
    told = set(names)
    for index, message in enumerate(messages):
        for position, block in enumerate(message.blocks):
            place = f"messages[{index}].blocks[{position}]"
            if rules.wants_tools and not names:
                if isinstance(block, ToolCallBlock | ToolResultBlock):
                    fault = f"{target} refuses tool calls where no tool is offered"
                    yield Problem(place, fault, "warning")
                    return
            elif isinstance(block, ToolCallBlock) and block.name not in told:
                told.add(block.name)
                fault = f"the tool {block.name!r} is called but not offered"
                yield Problem(place, fault, "warning")


def _name_of(tool: object) -> str | None:
    if not isinstance(tool, Mapping):
        return None
    held = tool.get("function")
    name = held.get("name") if isinstance(held, Mapping) else tool.get("name")
    return name if isinstance(name, str) and name else None
