"""Tool calls and their results belong together (rule C3 of the conversion rules).

Each result answers a call of the preceding assistant message, once; every call is answered by the
user messages before the next message that is not a user's; two calls of one message may not share
an id. A conversation may end with calls nobody has answered yet: the harness answers them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from apps.dialogue.blocks import ToolCallBlock, ToolResultBlock
from apps.dialogue.errors import PairingError
from apps.dialogue.message import Message

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong or noteworthy at a place like ``messages[2].blocks[0]``."""

    place: str
    message: str
    severity: Severity


@dataclass(slots=True)
class _Calls:
    """The calls of the last assistant message: id to place, and what became of them."""

    at: int = 0
    places: dict[str, str] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)

    def unanswered(self) -> Iterator[tuple[str, str]]:
        return ((i, place) for i, place in self.places.items() if i not in self.answered)


def pairing_problems(messages: Sequence[Message]) -> list[Problem]:
    """Return every problem in order; a call left open by the last message is a warning."""
    problems: list[Problem] = []
    calls = _Calls()
    for index, message in enumerate(messages):
        if message.role == "user":
            problems += _check_results(message, index, calls)
        else:
            problems += _left_open(calls)
            calls = _Calls(at=index)
            problems += _note_calls(message, index, calls)
    if calls.at == len(messages) - 1:
        problems += [
            Problem(place, f"the call {call_id!r} waits for its result", "warning")
            for call_id, place in calls.unanswered()
        ]
    else:
        problems += _left_open(calls)
    return problems


def check_pairing(messages: Sequence[Message]) -> None:
    """Raise ``PairingError`` for the first error of ``pairing_problems``."""
    for problem in pairing_problems(messages):
        if problem.severity == "error":
            raise PairingError(problem.message, place=problem.place)


def _note_calls(message: Message, index: int, calls: _Calls) -> Iterator[Problem]:
    for position, block in enumerate(message.blocks):
        if isinstance(block, ToolCallBlock):
            place = f"messages[{index}].blocks[{position}]"
            if block.id in calls.places:
                yield Problem(place, f"the id {block.id!r} is used by two calls here", "error")
            else:
                calls.places[block.id] = place


def _check_results(message: Message, index: int, calls: _Calls) -> Iterator[Problem]:
    for position, block in enumerate(message.blocks):
        if isinstance(block, ToolResultBlock):
            place = f"messages[{index}].blocks[{position}]"
            call_id = block.tool_call_id
            if call_id not in calls.places:
                fault = f"the result {call_id!r} answers no call of the assistant message before it"
                yield Problem(place, fault, "error")
            elif call_id in calls.answered:
                yield Problem(place, f"the call {call_id!r} is answered a second time", "error")
            calls.answered.add(call_id)


def _left_open(calls: _Calls) -> list[Problem]:
    return [
        Problem(
            place,
            f"the call {call_id!r} has no result, though the conversation goes on",
            "error",
        )
        for call_id, place in calls.unanswered()
    ]
