from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from apps.dialogue.blocks import Role
from apps.dialogue.solver.builders.base import Builder, BuilderTemplate
from apps.dialogue.solver.conversation import Conversation
from apps.dialogue.solver.termination import Stop, TerminationCondition, stop_if
from apps.dialogue.templating import Template, compile_template


class ChatMessage(Builder):
    """Appends a message rendered from a template. Its condition costs no call (rule 9)."""

    type: Literal["chat_message"]
    role: Role
    content: BuilderTemplate
    terminate_if: TerminationCondition | None = None

    @property
    def condition(self) -> TerminationCondition | None:
        return self.terminate_if

    @cached_property
    def template(self) -> Template:
        return compile_template(self.content)

    async def play(self, conversation: Conversation, path: str) -> Stop | None:
        text = conversation.render(self.template, path)
        conversation.append(conversation.text_message(self.role, text, path), path)
        return stop_if(self.terminate_if, text, path)

    def templates(self) -> Iterator[Template]:
        yield self.template
