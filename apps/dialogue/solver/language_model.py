"""The port through which the engine reaches models. Its shipped fake is ``ScriptedModel``."""

from dataclasses import dataclass
from typing import Literal, Protocol

from apps.dialogue.completeness import CompleteReply
from apps.dialogue.message import Message

Purpose = Literal["evaluated", "simulated", "judge"]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call that the engine wants made.

    ``model_key`` is None for the evaluated model. ``path`` is the builder's place in the solver,
    ``ordinal`` the number of the call in its conversation, from 0: with the messages it identifies
    the call, so that a resumed conversation finds the reply that was paid already.
    """

    model_key: str | None
    purpose: Purpose
    path: str
    ordinal: int
    messages: tuple[Message, ...]


class LanguageModel(Protocol):
    async def reply(self, request: ModelRequest) -> CompleteReply:
        """Return a complete reply.

        Raises ``IncompleteReply`` for one that must not become a turn, ``ModelCallFailed`` when
        there is none, ``LimitReached`` when the call is not allowed any more.
        """
        ...
