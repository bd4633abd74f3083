"""What changed between two contents: turn by turn, block by block, word by word.

Turns and blocks have no ids. Those that are equal are found first; between them, those that share
most of their words are taken for the same one, edited.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal, TypeVar

from pydantic_core import to_json

from apps.dialogue.blocks import (
    Block,
    ImageBlock,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from apps.dialogue.message import Message
from apps.tasks.content import TaskContent, canonical_json
from apps.tasks.pictures import KINDS

Change = Literal["same", "added", "removed", "changed"]

MOST_PARTS = 4000
"""Words (else lines) that are compared one by one; longer texts are shown as one change."""
PUNCTUATION = '.,;:!?…()[]{}<>«»„“”‚‘"*/\\|@#$%^&+=~`–—-。、！？；：「」'  # noqa: RUF001
"""Stands apart from words in a comparison; apostrophes and underscores are inside of them."""
MOST_PAIRS = 40_000
ALIKE = 0.34
"""The share of common words from which a turn may be another one, edited."""
REWRITTEN = 0.01
"""Of the same kind at the same place, with other words: better than no twin at all."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of text that is in both versions, or in one of them."""

    change: Literal["same", "added", "removed"]
    text: str


@dataclass(frozen=True, slots=True)
class PictureChange:
    """A picture in both versions of a block, or in one of them: base64 and its kind."""

    change: Literal["same", "added", "removed"]
    data: str
    mime_type: str

    @property
    def source(self) -> str:
        """Its address, for an ``img``; empty for a kind that browsers do not show."""
        return f"data:{self.mime_type};base64,{self.data}" if self.mime_type in KINDS else ""


@dataclass(frozen=True, slots=True)
class BlockChange:
    """``pictures`` are those of an image or in a tool result; ``pieces`` tell of them in words."""

    change: Change
    type: str
    pieces: tuple[Piece, ...]
    pictures: tuple[PictureChange, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnChange:
    """``number`` and ``was_number`` count from 1; None where the turn is not in that version."""

    change: Change
    role: str
    was_role: str
    number: int | None
    was_number: int | None
    blocks: tuple[BlockChange, ...]


@dataclass(frozen=True, slots=True)
class FactChange:
    """A change of what is around the conversation: ``attributes``, ``tools``, ``tags``, notes."""

    name: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    turns: tuple[TurnChange, ...]
    facts: tuple[FactChange, ...]

    @property
    def changed_turns(self) -> int:
        return sum(turn.change != "same" for turn in self.turns)

    @property
    def is_empty(self) -> bool:
        return not self.facts and self.changed_turns == 0


def compare(before: TaskContent, after: TaskContent) -> Comparison:
    """Return what has to change in ``before`` to make it ``after``, unchanged turns included."""
    was, now = before.messages, after.messages
    places = {id(message): number for number, message in enumerate(was, start=1)}
    numbers = {id(message): number for number, message in enumerate(now, start=1)}
    turns = tuple(
        _turn(old, new, places.get(id(old)), numbers.get(id(new)))
        for old, new in _aligned(was, now, _message_key, _message_words, lambda m: m.role)
    )
    return Comparison(turns=turns, facts=tuple(_facts(before, after)))


def word_pieces(before: str, after: str) -> tuple[Piece, ...]:
    """Return ``after`` with what was added marked, and what was removed where it stood."""
    if before == after:
        return (Piece("same", after),) if after else ()
    for split in (_words, _lines):
        old, new = split(before), split(after)
        if max(map(_weight, (old, new))) <= MOST_PARTS:
            return tuple(_pieces(old, new))
    return tuple(_whole(before, after))


def _whole(before: str, after: str) -> Iterator[Piece]:
    """``before`` gone and ``after`` come; the space that both end with is neither."""
    tail = _common_space(before, after)
    end = -len(tail) if tail else None
    if before[:end]:
        yield Piece("removed", before[:end])
    if after[:end]:
        yield Piece("added", after[:end])
    if tail:
        yield Piece("same", tail)


def _common_space(before: str, after: str) -> str:
    length = 0
    for old, new in zip(reversed(before), reversed(after), strict=False):
        if old != new or not old.isspace():
            break
        length += 1
    return after[len(after) - length :]


def _weight(parts: list[str]) -> int:
    return sum(not part.isspace() for part in parts)


def _words(text: str) -> list[str]:
    marks = re.escape(PUNCTUATION)
    return re.findall(rf"\s+|[{marks}]|[^\s{marks}]+", text)


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _pieces(old: list[str], new: list[str]) -> Iterator[Piece]:
    # A space is no sameness by itself, only beside a word: it would be equal everywhere.
    matcher = SequenceMatcher(str.isspace, old, new, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            yield Piece("same", "".join(new[j1:j2]))
        else:
            yield from _whole("".join(old[i1:i2]), "".join(new[j1:j2]))


# ---- turns and blocks ----------------------------------------------------------------------------


def _turn(
    old: Message | None, new: Message | None, was_number: int | None, number: int | None
) -> TurnChange:
    blocks = tuple(
        _block(before, after)
        for before, after in _aligned(
            old.blocks if old else (),
            new.blocks if new else (),
            lambda block: canonical_json(block.to_wire()),
            lambda block: _word_set(block_text(block)),
            lambda block: block.type,
        )
    )
    was_role = old.role if old else ""
    same = old and new and _message_key(old) == _message_key(new)
    return TurnChange(
        change="same" if same else _change(old, new),
        role=new.role if new else was_role,
        was_role=was_role or (new.role if new else ""),
        number=number,
        was_number=was_number,
        blocks=blocks + tuple(_detail(old, new)),
    )


def _detail(old: Message | None, new: Message | None) -> Iterator[BlockChange]:
    """A turn's own detail, shown only where it is not the same on both sides."""
    before = indented_json(old.detail) if old and old.detail is not None else ""
    after = indented_json(new.detail) if new and new.detail is not None else ""
    if before != after:
        yield BlockChange("changed", "detail", word_pieces(before, after))


def _change(old: object, new: object) -> Change:
    if old is None:
        return "added"
    return "removed" if new is None else "changed"


def _block(old: Block | None, new: Block | None) -> BlockChange:
    before, after = block_text(old) if old else "", block_text(new) if new else ""
    kind = new.type if new else old.type if old else ""
    same = old is not None and new is not None and before == after
    change: Change = "same" if same else _change(old, new)
    return BlockChange(change, kind, word_pieces(before, after), tuple(_pictures(old, new)))


def _pictures(old: Block | None, new: Block | None) -> Iterator[PictureChange]:
    """The pictures of both, in order; what is gone before what came instead."""
    before, after = _pictures_in(old), _pictures_in(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            yield from (PictureChange("same", *each) for each in after[j1:j2])
        else:
            yield from (PictureChange("removed", *each) for each in before[i1:i2])
            yield from (PictureChange("added", *each) for each in after[j1:j2])


def _pictures_in(block: Block | None) -> list[tuple[str, str]]:
    match block:
        case ImageBlock():
            return [(block.data, block.mimeType)]
        case ToolResultBlock():
            return [pair for each in block.blocks for pair in _pictures_in(each)]
        case _:
            return []


def block_text(block: Block) -> str:
    """Everything a block holds, as text to read and compare; a picture by its size and digest."""
    detail = "" if block.detail is None else f"\ndetail {indented_json(block.detail)}"
    match block:
        case TextBlock():
            return block.text + detail
        case ReasoningBlock():
            seal = "" if block.signature is None else f"\nsignature {block.signature}"
            return block.text + seal + detail
        case ImageBlock():
            digest = hashlib.sha256(block.data.encode()).hexdigest()[:10]
            size = len(block.data) * 3 // 4
            return f"{block.mimeType}, {size:,} bytes, sha256 {digest}{detail}"
        case ToolCallBlock():
            return f"{block.name} ({block.id})\n{indented_json(block.input)}{detail}"
        case _:
            kind = "Error of" if block.is_error else "Answers"
            held = [block_text(each) for each in block.blocks]
            return "\n".join([f"{kind} {block.tool_call_id}", *held]) + detail


def indented_json(value: object) -> str:
    return to_json(value, indent=2).decode()


def _message_key(message: Message) -> str:
    return canonical_json(message.to_wire())


def _message_words(message: Message) -> frozenset[str]:
    return frozenset().union(*(_word_set(block_text(block)) for block in message.blocks))


def _word_set(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


# ---- aligning ------------------------------------------------------------------------------------


def _aligned(
    before: Sequence[Item],
    after: Sequence[Item],
    key: Callable[[Item], str],
    words: Callable[[Item], frozenset[str]],
    kind: Callable[[Item], str],
) -> Iterator[tuple[Item | None, Item | None]]:
    """Pair the items of two lists in order; None where one has no twin."""
    matcher = SequenceMatcher(
        None, [key(each) for each in before], [key(each) for each in after], autojunk=False
    )
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        old, new = before[i1:i2], after[j1:j2]
        if tag == "equal":
            yield from zip(old, new, strict=True)
        else:
            yield from _paired(old, new, _likeness(old, new, words, kind))


def _likeness(
    old: Sequence[Item],
    new: Sequence[Item],
    words: Callable[[Item], frozenset[str]],
    kind: Callable[[Item], str],
) -> list[list[float]]:
    if len(old) * len(new) > MOST_PAIRS:
        return [[0.0] * len(new) for _ in old]
    old_words, new_words = [words(each) for each in old], [words(each) for each in new]

    def alike(row: int, column: int) -> float:
        one, other = old_words[row], new_words[column]
        union = len(one | other)
        ratio = len(one & other) / union if union else 1.0
        same_kind = kind(old[row]) == kind(new[column])
        if ratio >= ALIKE:
            return ratio if same_kind else ratio * 0.9
        return REWRITTEN if same_kind else 0.0

    return [[alike(row, column) for column in range(len(new))] for row in range(len(old))]


def _paired(
    old: Sequence[Item], new: Sequence[Item], likeness: list[list[float]]
) -> Iterator[tuple[Item | None, Item | None]]:
    """The pairing in rising order with the highest sum of likeness."""
    best = _best_sums(likeness, len(new))
    row = column = 0
    while row < len(old) and column < len(new):
        here = likeness[row][column]
        if here > 0 and best[row][column] == here + best[row + 1][column + 1]:
            yield old[row], new[column]
            row, column = row + 1, column + 1
        elif best[row][column] == best[row + 1][column]:
            yield old[row], None
            row += 1
        else:
            yield None, new[column]
            column += 1
    for each in old[row:]:
        yield each, None
    for item in new[column:]:
        yield None, item


def _best_sums(likeness: list[list[float]], width: int) -> list[list[float]]:
    best = [[0.0] * (width + 1) for _ in range(len(likeness) + 1)]
    for row in range(len(likeness) - 1, -1, -1):
        for column in range(width - 1, -1, -1):
            paired = likeness[row][column] + best[row + 1][column + 1]
            best[row][column] = max(paired, best[row + 1][column], best[row][column + 1])
    return best


# ---- around the conversation ---------------------------------------------------------------------


def _facts(before: TaskContent, after: TaskContent) -> Iterator[FactChange]:
    for name in ("attributes", "tools", "tags", "notes"):
        old, new = _fact_text(getattr(before, name)), _fact_text(getattr(after, name))
        if old != new:
            yield FactChange(name, word_pieces(old, new))
    old, new = _candidates_text(before), _candidates_text(after)
    if old != new:
        yield FactChange("candidates", word_pieces(old, new))


def _candidates_text(content: TaskContent) -> str:
    """All candidates as text to read and compare: a heading each, its turns, its detail."""
    lines: list[str] = []
    for number, each in enumerate(content.candidates, start=1):
        lines.append(", ".join(filter(None, (f"Candidate {number}", each.verdict, each.model))))
        for message in each.messages:
            detail = "" if message.detail is None else f"\ndetail {indented_json(message.detail)}"
            lines += [f"{message.role}{detail}", *map(block_text, message.blocks)]
        lines += [indented_json(each.detail)] if each.detail else []
    return "\n".join(lines)


def _fact_text(value: Any) -> str:
    match value:
        case None:
            return ""
        case dict() if not value:
            return ""
        case str():
            return value
        case tuple():
            return ", ".join(value)
        case _:
            return indented_json(value)
