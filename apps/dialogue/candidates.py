"""Answers to one conversation beside each other: preference pairs, rated completions.

A candidate is what might follow the messages of a task. Candidates are kept with the task for the
people who review it and for training; a harness never receives them.
"""

from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from apps.dialogue.blocks.json_values import NotJson, json_copy, json_object, kind_of, text_fault
from apps.dialogue.errors import InvalidMessage
from apps.dialogue.message import Message, conversation_to_wire, parse_conversation

Verdict = Literal["chosen", "rejected", ""]
_VERDICTS: Final = get_args(Verdict)
_KEYS: Final = ("messages", "verdict", "model", "detail")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One answer: the messages that follow the conversation, and what is known of them.

    ``verdict`` is what a person or a file said (empty: nothing), ``model`` who wrote it, and
    ``detail`` everything else, like scores and annotations.
    """

    messages: tuple[Message, ...]
    verdict: Verdict = ""
    model: str = ""
    detail: dict[str, Any] = field(default_factory=dict)

    def to_wire(self) -> dict[str, Any]:
        """The candidate as a fresh JSON object; `parse_candidates` reads it back."""
        return {
            "messages": conversation_to_wire(self.messages),
            "verdict": self.verdict,
            "model": self.model,
            "detail": json_copy(self.detail),
        }


def parse_candidates(value: object, place: str = "candidates") -> tuple[Candidate, ...]:
    """Read a list of candidates; raises ``InvalidMessage`` naming the place."""
    if not isinstance(value, list | tuple):
        raise InvalidMessage(f"must be a list of candidates, not {kind_of(value)}", place=place)
    return tuple(_candidate(each, f"{place}[{index}]") for index, each in enumerate(value))


def _candidate(wire: object, place: str) -> Candidate:
    if isinstance(wire, Candidate):
        return wire
    if not isinstance(wire, dict):
        raise InvalidMessage(f"must be an object, not {kind_of(wire)}", place=place)
    for key in wire:
        if key not in _KEYS:
            raise InvalidMessage("is not a key of this shape", place=f"{place}.{key}")
    verdict, model = wire.get("verdict", ""), wire.get("model", "")
    if verdict not in _VERDICTS:
        raise InvalidMessage("must be chosen, rejected or empty", place=f"{place}.verdict")
    if not isinstance(model, str) or text_fault(model):
        raise InvalidMessage("must be a text", place=f"{place}.model")
    try:
        detail = json_object(wire.get("detail") or {})
    except NotJson as error:
        raise InvalidMessage(error.message, place=f"{place}.detail{error.path}") from None
    messages = parse_conversation(wire.get("messages", ()), f"{place}.messages")
    if not messages:
        raise InvalidMessage("must hold a message", place=f"{place}.messages")
    return Candidate(messages, verdict, model, detail)
