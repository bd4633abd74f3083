"""A conversation laid out as every provider wants it: rules C2 to C7 of the conversion rules."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Never

from apps.dialogue.blocks import (
    Block,
    ImageBlock,
    ReasoningBlock,
    Role,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from apps.dialogue.errors import ConversionRefused, PairingError
from apps.dialogue.message import Message
from apps.dialogue.pairing import pairing_problems
from apps.dialogue.provider_formats.base.refusing import Refuse, refuse_at_once

ERROR_MARKER = "[tool_result (error)]"
"""Stands first in the result of a failed call where a format has no field for it (rule O6)."""

_MARK = 12
_ILLEGAL = re.compile("[^a-zA-Z0-9_-]")

LeadBlock = TextBlock | ImageBlock | ReasoningBlock | ToolCallBlock
"""What stands in a turn beside tool results."""


@dataclass(slots=True)
class Answer:
    """A tool result, moved to the turn right after its call; ``place`` is where it was stored."""

    result: ToolResultBlock
    place: str

    def text(self, turn: "Turn") -> str:
        """Return the texts of the result joined by a line feed; refuses images, by name."""
        texts = [block.text for block in self.result.blocks if isinstance(block, TextBlock)]
        if len(texts) < len(self.result.blocks):
            fault = (
                f"{turn.format_name} cannot carry an image in a tool result, "
                "which is text only there"
            )
            turn.refuse(ConversionRefused(fault, place=self.place))
        return "\n".join(texts)


@dataclass(slots=True)
class Turn:
    """A message with the results of the calls before it gathered in front (rule C4).

    ``index`` is the position of its message. ``asked`` is the assistant turn whose calls
    ``answers`` answer. ``ids`` holds, on an assistant turn, the call ids to write where they differ
    from the stored ones. ``gave_answers`` marks a user turn whose results went to an earlier one.
    ``refuse`` takes what the format cannot carry.
    """

    format_name: str
    refuse: Refuse
    index: int
    message: Message
    blocks: list[LeadBlock]
    calls: list[ToolCallBlock]
    answers: list[Answer] = field(default_factory=list)
    asked: "Turn | None" = None
    gave_answers: bool = False
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def role(self) -> Role:
        return self.message.role

    def call_id(self, call: ToolCallBlock) -> str:
        """The id to write for a call of this turn."""
        return self.ids.get(call.id, call.id)

    def answered_id(self, answer: Answer) -> str:
        """The id to write for an answer of this turn: the one its call got."""
        stored = answer.result.tool_call_id
        return self.asked.ids.get(stored, stored) if self.asked else stored

    def place(self, block: Block | None = None) -> str:
        """Return ``messages[i]``, or ``messages[i].blocks[j]`` of a block of the message."""
        place = f"messages[{self.index}]"
        for position, stored in enumerate(self.message.blocks):
            if stored is block:
                return f"{place}.blocks[{position}]"
        return place

    def refusal(self, fault: str, block: Block | None = None) -> ConversionRefused:
        """Return the error that says that the format <fault>, at a block or the message."""
        return ConversionRefused(f"{self.format_name} {fault}", place=self.place(block))

    def untaught(self, block: Never) -> ConversionRefused:
        """Return the refusal of a block type the format was not taught (mypy finds it first)."""
        return ConversionRefused(
            f"{self.format_name} was not taught the block {block!r}", place=self.place()
        )


def lay_out(
    messages: Sequence[Message], format_name: str, refuse: Refuse = refuse_at_once
) -> list[Turn]:
    """Return the turns of a conversation, results right after their calls and together.

    Refuses a message without content (C2, ``ConversionRefused``) and calls and results that do not
    belong together (C3, ``PairingError``).
    """
    split = [_split(format_name, refuse, message, index) for index, message in enumerate(messages)]
    if not any(turn.calls or answers for turn, answers in split):
        return [turn for turn, _ in split]
    for problem in pairing_problems(messages):
        if problem.severity == "error":
            refuse(PairingError(problem.message, place=problem.place))
    turns: list[Turn] = []
    last: Turn | None = None  # the last turn that is not a user's
    host: Turn | None = None  # the first user turn after it: results go there
    for turn, answers in split:
        if turn.role != "user":
            last, host = turn, None
        else:
            turn.asked = last
            host = host or turn
            host.answers += answers
            turn.gave_answers = host is not turn and bool(answers)
        if turn.blocks or turn.answers:
            turns.append(turn)
    return turns


def _split(
    format_name: str, refuse: Refuse, message: Message, index: int
) -> tuple[Turn, list[Answer]]:
    if not message.blocks:
        refuse(ConversionRefused("has no content", place=f"messages[{index}]"))
    blocks: list[LeadBlock] = []
    calls: list[ToolCallBlock] = []
    answers: list[Answer] = []
    for position, block in enumerate(message.blocks):
        if isinstance(block, ToolResultBlock):
            answers.append(Answer(block, f"messages[{index}].blocks[{position}]"))
        else:
            blocks.append(block)
            if isinstance(block, ToolCallBlock):
                calls.append(block)
    return Turn(format_name, refuse, index, message, blocks, calls), answers


def check_tool_names(turns: Sequence[Turn], legal: re.Pattern[str]) -> None:
    """Refuse tool names that the provider does not take (rule C7): they are never rewritten."""
    for turn in turns:
        for call in turn.calls:
            if not legal.fullmatch(call.name):
                fault = f"wants tool names like {legal.pattern}, not {call.name!r}"
                turn.refuse(turn.refusal(fault, call))


def marked_text(answer: Answer, text: str) -> str:
    """Put the error marker before the text of a failed call (rule O6)."""
    if not answer.result.is_error:
        return text
    return f"{ERROR_MARKER}\n{text}" if text else ERROR_MARKER


def leading_system(turns: Sequence[Turn]) -> tuple[str | None, Sequence[Turn]]:
    """Split off the system text in front (rule A2): its texts joined by a blank line, or None.

    A later system turn and an image in a system turn are refused.
    """
    first = next((i for i, turn in enumerate(turns) if turn.role != "system"), len(turns))
    texts: list[str] = []
    for turn in turns[:first]:
        for block in turn.blocks:
            if not isinstance(block, TextBlock):
                fault = f"takes text only in a system message, not a {block.type} block"
                turn.refuse(turn.refusal(fault, block))
            elif block.text:
                texts.append(block.text)
    for turn in turns[first:]:
        if turn.role == "system":
            fault = "takes system messages at the start of the conversation only"
            turn.refuse(turn.refusal(fault))
    return "\n\n".join(texts) or None, turns[first:]


def shorten_ids(turns: Sequence[Turn], longest: int) -> None:
    """Rewrite call ids of more than ``longest`` characters (rule C6), the same one the same way."""
    calls = [(turn, call.id) for turn in turns for call in turn.calls]
    taken = {call_id for _, call_id in calls if len(call_id) <= longest}
    rewritten: dict[str, str] = {}
    for turn, call_id in calls:
        if len(call_id) > longest:
            if call_id not in rewritten:
                rewritten[call_id] = _fresh(call_id, call_id[: longest - _MARK - 1], taken)
            turn.ids[call_id] = rewritten[call_id]


def clean_ids(turns: Sequence[Turn], legal: re.Pattern[str]) -> None:
    """Make call ids legal (rule C6) and unique in the whole conversation (rule C5).

    The first use of a legal id stays byte-identical.
    """
    calls = [(turn, call.id) for turn in turns for call in turn.calls]
    taken = {call_id for _, call_id in calls if legal.fullmatch(call_id)}
    used: set[str] = set()
    for turn, call_id in calls:
        if call_id in used or not legal.fullmatch(call_id):
            turn.ids[call_id] = _fresh(call_id, _ILLEGAL.sub("_", call_id), taken)
        used.add(call_id)


def _fresh(call_id: str, stem: str, taken: set[str]) -> str:
    """Return an unused id, made from the id itself: later turns never change earlier ids."""
    marks = (sha256(f"{i}:{call_id}".encode()).hexdigest() for i in itertools.count())
    fresh = next(each for mark in marks if (each := f"{stem}_{mark[:_MARK]}") not in taken)
    taken.add(fresh)
    return fresh
