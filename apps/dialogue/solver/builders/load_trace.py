from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from apps.dialogue.blocks import ToolCallBlock
from apps.dialogue.errors import TemplateError, TraceError
from apps.dialogue.message import Message
from apps.dialogue.solver.builders.base import Builder
from apps.dialogue.solver.conversation import Conversation
from apps.dialogue.solver.ending import Ended
from apps.dialogue.solver.termination import Stop
from apps.dialogue.trace import trace_items_to_messages


class LoadTrace(Builder):
    """Appends the messages of a recorded trace, as they are (rule 12)."""

    REFUSED_KEYS: ClassVar[dict[str, str]] = {
        "terminate_if": "load_trace has no terminate_if: nothing is produced that could meet it"
    }

    type: Literal["load_trace"]
    trace_column: str = Field(min_length=1)

    async def play(self, conversation: Conversation, path: str) -> Stop | None:
        try:
            messages = trace_items_to_messages(conversation.sample[self.trace_column])
            _check_ids(conversation.transcript.messages, messages)
        except TraceError as error:
            fault = f"the column {self.trace_column!r} holds no usable trace: {error}"
            raise Ended("template_error", path, fault) from None
        for message in messages:
            conversation.append(message, path)
        return None

    def check(self, sample: Mapping[str, Any], path: str, later: Sequence[str]) -> None:
        if self.trace_column not in sample:
            columns = ", ".join(sample) or "none"
            fault = f"the sample has no column {self.trace_column!r} (columns: {columns})"
            raise TemplateError(fault, place=path)


def _check_ids(before: Iterable[Message], loaded: Iterable[Message]) -> None:
    twice = _call_ids(before) & _call_ids(loaded)
    if twice:
        raise TraceError(f"the call id {min(twice)!r} is already used in the conversation")


def _call_ids(messages: Iterable[Message]) -> set[str]:
    return {
        block.id
        for message in messages
        for block in message.blocks
        if isinstance(block, ToolCallBlock)
    }
