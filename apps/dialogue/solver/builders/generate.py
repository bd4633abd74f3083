from typing import Literal

from apps.dialogue.solver.builders.base import Builder
from apps.dialogue.solver.conversation import Conversation
from apps.dialogue.solver.termination import Stop, TerminationCondition, stop_if


class Generate(Builder):
    """Calls the evaluated model with the conversation and appends its reply, whole."""

    type: Literal["generate"]
    terminate_if: TerminationCondition | None = None

    @property
    def condition(self) -> TerminationCondition | None:
        return self.terminate_if

    async def play(self, conversation: Conversation, path: str) -> Stop | None:
        reply = await conversation.ask(path, model_key=None, purpose="evaluated")
        conversation.append(reply.message, path, call=reply.call, is_answer=True)
        return stop_if(self.terminate_if, reply.message.text, path)
