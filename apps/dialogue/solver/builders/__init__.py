"""The message builders: one module each, one entry in ``BUILDERS`` and in the unions."""

from typing import Annotated, Final

from pydantic import Field

from apps.dialogue.solver.builders.base import Builder
from apps.dialogue.solver.builders.chat_message import ChatMessage
from apps.dialogue.solver.builders.generate import Generate
from apps.dialogue.solver.builders.generate_message import ExtraInputMessage, GenerateMessage
from apps.dialogue.solver.builders.load_trace import LoadTrace
from apps.dialogue.solver.builders.loop import Loop

LoopBuilder = Annotated[
    ChatMessage | Generate | GenerateMessage | Loop, Field(discriminator="type")
]
"""What may stand inside a loop: ``load_trace`` may not (rule 12)."""

MessageBuilder = Annotated[
    ChatMessage | Generate | GenerateMessage | Loop | LoadTrace, Field(discriminator="type")
]

BUILDERS: Final[dict[str, type[Builder]]] = {
    "chat_message": ChatMessage,
    "generate": Generate,
    "generate_message": GenerateMessage,
    "loop": Loop,
    "load_trace": LoadTrace,
}

Loop.model_rebuild(_types_namespace={"LoopBuilder": LoopBuilder})

__all__ = [
    "BUILDERS",
    "Builder",
    "ChatMessage",
    "ExtraInputMessage",
    "Generate",
    "GenerateMessage",
    "LoadTrace",
    "Loop",
    "LoopBuilder",
    "MessageBuilder",
]
