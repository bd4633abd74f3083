"""Two answers to one conversation, one preferred: where the prompt ends and the answers begin."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.dialogue.blocks import ToolCallBlock, ToolResultBlock
from apps.dialogue.blocks.json_values import NotJson, json_object
from apps.dialogue.candidates import Candidate, Verdict
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.turns.sharegpt_turns import read_dialogue
from apps.dialogue.file_formats.turns.text_turns import text_turn
from apps.dialogue.message import Message

PAIR_COLUMNS = (
    ("chosen", "rejected"),
    ("chosen_messages", "rejected_messages"),
    ("chosen_response", "rejected_response"),
)
"""The names the two answers of a pair have; the first two that are not both null win."""

_OF_A_SIDE = re.compile(r"(chosen|rejected)[_-](.+)|(.+)[_-](chosen|rejected)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two answers as read: no messages where the row has none.

    ``name`` is its column, ``detail`` what else the row says of it.
    """

    name: str
    verdict: Verdict
    messages: tuple[Message, ...]
    model: str = ""
    detail: dict[str, Any] = field(default_factory=dict)

    def after(self, count: int) -> "Side":
        """Return the side without its first messages."""
        return Side(self.name, self.verdict, self.messages[count:], self.model, self.detail)


@dataclass(frozen=True, slots=True)
class Pair:
    """The chosen and the rejected answer, and the columns they were made of."""

    chosen: Side
    rejected: Side
    used: tuple[str, ...]

    def after(self, count: int) -> "Pair":
        """Return the pair without the first messages of both sides."""
        return Pair(self.chosen.after(count), self.rejected.after(count), self.used)

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.chosen, self.rejected


def pair_columns(row: dict[str, Any]) -> tuple[str, str] | None:
    """Return the names of the columns with the chosen and the rejected answer, if there are two."""
    for chosen, rejected in PAIR_COLUMNS:
        both = chosen in row and rejected in row
        if both and (row[chosen] is not None or row[rejected] is not None):
            return chosen, rejected
    return None


def read_pair(row: dict[str, Any], columns: tuple[str, str], notes: list[Note]) -> Pair:
    """Read both answers, each a text, a message or a list of messages.

    What the row says of one side alone (``score_chosen``, ``chosen_model``) goes with that side.
    """
    chosen, rejected = columns
    first = Side(chosen, "chosen", read_answer(row[chosen], notes, chosen))
    second = Side(rejected, "rejected", read_answer(row[rejected], notes, rejected))
    first, known = _with_remarks(row, first, notes)
    second, known_too = _with_remarks(row, second, notes)
    return Pair(first, second, (chosen, rejected, *known, *known_too))


def read_answer(value: object, notes: list[Note], place: str) -> tuple[Message, ...]:
    """Read an answer: a text, a message, or a list of messages; nothing for null."""
    if value is None or value == []:
        return ()
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        answer = text_turn("assistant", value, notes, place)
        if not answer.text.strip():
            notes.append(Note("kept", place, "the answer is empty", "empty_turn"))
        return (answer,)
    return read_dialogue(value, notes, place=place)


def common_prefix(first: Sequence[Message], second: Sequence[Message]) -> int:
    """Return how many messages both begin with and an answer follows in each that has one.

    The prompt never swallows the answer that ends a side, and never ends in calls that wait.
    """
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    for side in (first, second):
        if side and side[-1].role == "assistant":
            count = min(count, len(side) - 1)
    while count and any(isinstance(block, ToolCallBlock) for block in first[count - 1].blocks):
        count -= 1
    return count


def split_reply(messages: Sequence[Message]) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Split a conversation before the answer that ends it, which is empty where none does."""
    if messages and messages[-1].role == "assistant":
        return tuple(messages[:-1]), tuple(messages[-1:])
    return tuple(messages), ()


def split_pair(pair: Pair) -> tuple[tuple[Message, ...], Pair]:
    """Take the prompt from sides that both repeat it: the longest prefix they have in common.

    Raises ``ImportRefused`` where they have nothing in common.
    """
    chosen, rejected = pair.chosen.messages, pair.rejected.messages
    if not chosen or not rejected:
        prompt, _ = split_reply(chosen or rejected)
    else:
        prompt = chosen[: common_prefix(chosen, rejected)]
    if not prompt:
        raise ImportRefused(
            f"there is no prompt: {pair.chosen.name} and {pair.rejected.name} begin with "
            "different messages",
            place=pair.chosen.name,
        )
    return prompt, pair.after(len(prompt))


def pair_candidates(pair: Pair, notes: list[Note]) -> tuple[Candidate, ...]:
    """Return the answers of a pair as candidates, and note what a trainer would stumble over."""
    for side, other in (pair.sides, pair.sides[::-1]):
        if not side.messages:
            fault = "there is no answer on this side: the task has one candidate"
            notes.append(Note("kept", side.name, fault, "missing_side"))
            if side.detail or side.model:
                _give_away(side, other)
    chosen, rejected = pair.chosen.messages, pair.rejected.messages
    if chosen and chosen == rejected:
        fault = "both answers are the same"
        notes.append(Note("kept", pair.rejected.name, fault, "identical_pair"))
    elif chosen and rejected and _differ_early(chosen, rejected):
        fault = "the answers differ before their last turn"
        notes.append(Note("kept", pair.rejected.name, fault, "diverge_early"))
    return tuple(
        Candidate(side.messages, side.verdict, side.model, side.detail)
        for side in pair.sides
        if side.messages
    )


def _give_away(side: Side, other: Side) -> None:
    """Keep with the other side what the row says of a side that has no answer."""
    if other.messages:
        known = {"model": side.model} if side.model else {}
        for key, value in {**side.detail, **known}.items():
            other.detail.setdefault(f"{side.name}_{key}", value)


def _differ_early(chosen: Sequence[Message], rejected: Sequence[Message]) -> bool:
    """Tell whether a person speaks after the two have parted: a pair wants one answer a side."""
    count = common_prefix(chosen, rejected)
    return any(
        message.role == "user"
        and not any(isinstance(block, ToolResultBlock) for block in message.blocks)
        for message in (*chosen[count:], *rejected[count:])
    )


def side_of(name: str) -> str:
    """Return the verdict a column speaks of (``score_chosen``, ``chosen-rating``), or nothing."""
    if any(name in columns for columns in PAIR_COLUMNS):
        return ""
    found = _OF_A_SIDE.fullmatch(name)
    return (found[1] or found[4]) if found else ""


def _with_remarks(row: dict[str, Any], side: Side, notes: list[Note]) -> tuple[Side, list[str]]:
    """Give a side the columns that speak of it alone, without the name of the side."""
    own = [name for name in row if side_of(name) == side.verdict]
    if not own:
        return side, []
    found = {name: _OF_A_SIDE.fullmatch(name) for name in own}
    short = {name: (each[2] or each[3]) if each else name for name, each in found.items()}
    twice = {each for each in short.values() if list(short.values()).count(each) > 1}
    remarks = {name if short[name] in twice else short[name]: row[name] for name in own}
    model = remarks.pop("model") if isinstance(remarks.get("model"), str) else ""
    try:
        detail = json_object(remarks)
    except NotJson as error:
        raise ImportRefused(error.message, place=f"{side.name}{error.path}") from None
    notes.append(Note("kept", side.name, f"{', '.join(own)} kept with this answer"))
    return Side(side.name, side.verdict, side.messages, model, detail), own
