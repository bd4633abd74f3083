from collections.abc import Iterator
from functools import cached_property
from typing import ClassVar, Literal

from pydantic import Field

from apps.dialogue.blocks import Role
from apps.dialogue.solver.builders.base import Builder, BuilderTemplate
from apps.dialogue.solver.conversation import Conversation
from apps.dialogue.solver.termination import Stop, TerminationCondition, stop_if
from apps.dialogue.specification import SpecModel
from apps.dialogue.templating import Template, compile_template


class ExtraInputMessage(SpecModel):
    """A message for one call only; it never enters the conversation."""

    REFUSED_KEYS: ClassVar[dict[str, str]] = {
        "terminate_if": "an extra input message has no terminate_if: put it on the generate_message"
    }

    type: Literal["chat_message"]
    role: Role
    content: BuilderTemplate

    @cached_property
    def template(self) -> Template:
        return compile_template(self.content)


class GenerateMessage(Builder):
    """Calls another model, a simulated user or a judge, and appends the text of its reply.

    The model is sent the conversation as it is (no roles are flipped) and then the extra messages,
    which do not see each other; without ``include_conversation`` the extra messages alone.
    """

    type: Literal["generate_message"]
    model_key: str = Field(min_length=1)
    extra_input_messages: tuple[ExtraInputMessage, ...] = Field(min_length=1)
    include_conversation: bool = True
    output_role: Role | None = None
    terminate_if: TerminationCondition | None = None

    @property
    def condition(self) -> TerminationCondition | None:
        return self.terminate_if

    async def play(self, conversation: Conversation, path: str) -> Stop | None:
        extra = [
            conversation.text_message(each.role, conversation.render(each.template, path), path)
            for each in self.extra_input_messages
        ]
        reply = await conversation.ask(
            path,
            model_key=self.model_key,
            purpose="simulated",
            extra=extra,
            include_conversation=self.include_conversation,
        )
        text = reply.message.text
        message = conversation.text_message(self.output_role or "assistant", text, path)
        conversation.append(message, path, call=reply.call)
        return stop_if(self.terminate_if, text, path)

    def templates(self) -> Iterator[Template]:
        return (each.template for each in self.extra_input_messages)

    def model_keys(self) -> Iterator[str]:
        yield self.model_key
