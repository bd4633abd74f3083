"""The history of a conversation, bounded before it is sent (DESIGN, section 5).

A turn begins with a user message and ends before the next one that opens a new turn; a call and
its results are always in one turn, so a cut between turns never parts them. System messages are
instructions: they stay.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from apps.dialogue.blocks import ToolCallBlock, ToolResultBlock
from apps.dialogue.errors import ModelCallFailed
from apps.dialogue.message import Message

Policy = Literal["refuse", "trim"]


@dataclass(frozen=True, slots=True)
class Fitted:
    """The history to send; ``left_out`` are the positions of the messages that were cut."""

    messages: tuple[Message, ...]
    left_out: tuple[int, ...] = ()


def turn_starts(messages: Sequence[Message]) -> list[int]:
    """Return the positions at which a turn begins, in order: where a history may be cut.

    User messages that follow one another belong to one turn, and so does a user message that
    stands between a call and its result.
    """
    starts: list[int] = []
    open_calls: set[str] = set()
    fresh = True  # whether a user message here would begin a turn
    for index, message in enumerate(messages):
        if message.role == "user":
            answers = _answers(message)
            if fresh and not open_calls and not answers:
                starts.append(index)
            open_calls -= answers
            fresh = False
        elif message.role == "assistant":
            open_calls = _calls(message)
            fresh = True
    return starts


def keep_last_turns(messages: Sequence[Message], count: int) -> Fitted:
    """Keep the system messages and the last ``count`` turns."""
    if count < 0:
        raise ValueError(f"the number of turns to keep must not be negative: {count}")
    starts = turn_starts(messages)
    if count >= len(starts):
        return Fitted(tuple(messages))
    return _cut(messages, starts[-count] if count else len(messages))


def fit(
    messages: Sequence[Message],
    *,
    size: Callable[[Message], int],
    limit: int,
    policy: Policy = "refuse",
) -> Fitted:
    """Return the history that fits into ``limit``, measured by ``size`` in the same unit.

    ``refuse`` sends all or nothing; ``trim`` keeps the system messages and as many of the most
    recent complete turns as fit. Raises ``ModelCallFailed("context_window")`` if nothing may be
    sent: nothing was asked of the model then.
    """
    sizes = [size(message) for message in messages]
    total = sum(sizes)
    if total <= limit:
        return Fitted(tuple(messages))
    if policy == "trim":
        for start in turn_starts(messages):
            left_out = [i for i in range(start) if messages[i].role != "system"]
            if left_out and total - sum(sizes[i] for i in left_out) <= limit:
                return _cut(messages, start)
    raise ModelCallFailed(
        "context_window",
        f"the history has the size {total} and the limit is {limit}"
        + (", and its last turn alone does not fit" if policy == "trim" else ""),
    )


def _cut(messages: Sequence[Message], start: int) -> Fitted:
    left_out = tuple(i for i in range(start) if messages[i].role != "system")
    kept = tuple(each for i, each in enumerate(messages) if i >= start or each.role == "system")
    return Fitted(kept, left_out)


def _calls(message: Message) -> set[str]:
    return {block.id for block in message.blocks if isinstance(block, ToolCallBlock)}


def _answers(message: Message) -> set[str]:
    return {block.tool_call_id for block in message.blocks if isinstance(block, ToolResultBlock)}
