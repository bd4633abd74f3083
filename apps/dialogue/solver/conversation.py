"""A conversation under way: the state that builders work on."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from apps.dialogue.blocks import Role, TextBlock
from apps.dialogue.completeness import CompleteReply, Usage, usage_of
from apps.dialogue.errors import (
    DialogueError,
    IncompleteReply,
    LimitReached,
    ModelCallFailed,
    TemplateError,
)
from apps.dialogue.message import Message, text_message
from apps.dialogue.solver.ending import Ended, EndReason
from apps.dialogue.solver.language_model import LanguageModel, ModelRequest, Purpose
from apps.dialogue.solver.termination import Stop
from apps.dialogue.templating import Template
from apps.dialogue.trace import Mark, Transcript


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete reply and the position of its call in the trace."""

    message: Message
    call: int


class Conversation:
    """One sample being played: its data, the model, the transcript, the loops it is in.

    ``lacking`` is the ending that comes in place of the first call if the sample lacks something.
    """

    def __init__(
        self, sample: Mapping[str, Any], model: LanguageModel, transcript: Transcript
    ) -> None:
        self.transcript = transcript
        self.sample = sample
        self.lacking: Ended | None = None
        self.capped_loops: list[str] = []
        self._model = model
        self._loops: list[int] = []
        self._calls = 0

    @contextmanager
    def iteration(self, index: int) -> Iterator[None]:
        """Be in one iteration of a loop; the innermost one is ``loop_index`` (rule 7)."""
        self._loops.append(index)
        try:
            yield
        finally:
            self._loops.pop()

    def render(self, template: Template, path: str) -> str:
        """Render a builder's template; ends the conversation if it cannot be."""
        seen: dict[str, Any] = {"sample": self.sample, "messages": self.transcript.views}
        if self._loops:
            seen["loop_index"] = self._loops[-1]
        try:
            return template.render(seen)
        except TemplateError as error:
            raise Ended("template_error", path, error.message) from None

    def text_message(self, role: Role, text: str, path: str) -> Message:
        """Make a message of a rendered text; ends the conversation if it cannot be stored."""
        try:
            return text_message(role, text)
        except DialogueError as error:
            raise Ended("template_error", path, f"the rendered text {error.message}") from None

    def append(
        self, message: Message, path: str, *, call: int | None = None, is_answer: bool = False
    ) -> None:
        """Keep a message at the end of the conversation."""
        self.transcript.append(
            message, path, loops=self._loops, model_call=call, is_answer=is_answer
        )

    def settle(self, stop: Stop, mark: Mark) -> None:
        """Write a stop down; drop what came since ``mark`` unless it is to be kept (rule 3)."""
        dropped = None
        if not stop.condition.keep_iteration:
            dropped = self.transcript.discard_since(mark)
        data = {**stop.condition.model_dump(), "discarded": dropped and list(dropped)}
        self.transcript.write("custom", stop.path, {"name": "stop", "data": data})

    def reach_cap(self, path: str, iterations: int) -> None:
        """Write down that a loop reached its cap and the conversation goes on."""
        self.capped_loops.append(path)
        body = {"name": "max_iterations", "data": {"max_iterations": iterations}}
        self.transcript.write("custom", path, body)

    async def ask(
        self,
        path: str,
        *,
        model_key: str | None,
        purpose: Purpose,
        extra: Sequence[Message] = (),
        include_conversation: bool = True,
    ) -> Reply:
        """Call a model with the conversation and then the extra messages.

        Ends the conversation, with the call and what it cost in the trace, if no complete reply
        comes of it.
        """
        history = self.transcript.messages if include_conversation else ()
        request = ModelRequest(model_key, purpose, path, self._calls, (*history, *extra))
        if not request.messages:
            message = "empty request: there is no message to send to the model yet"
            raise Ended("template_error", path, message, model_key=model_key)
        if self.lacking is not None:
            # No call is paid for a sample that cannot be played to its end.
            raise self.lacking
        self._calls += 1
        body: dict[str, Any] = {
            "model_key": model_key,
            "purpose": purpose,
            "ordinal": request.ordinal,
            "loops": list(self._loops),
            "include_conversation": include_conversation,
            "extra_messages": [message.to_wire() for message in extra],
        }
        try:
            reply = _checked(await self._model.reply(request))
        except DialogueError as error:
            self.transcript.write("model_call_event", path, {**body, **_failure(error)})
            reason, message = _end_reason(error), error.message
            raise Ended(reason, path, message, model_key=model_key) from None
        outcome: dict[str, Any] = {
            "finish": reply.finish,
            "usage": _written(reply.usage),
            "error": None,
        }
        if purpose != "evaluated" and not _is_plain(reply.message):
            # Only its text enters the conversation; the rest is kept here.
            outcome["reply"] = reply.message.to_wire()
        entry = self.transcript.write("model_call_event", path, {**body, **outcome})
        return Reply(reply.message, entry.position)


def _checked(reply: CompleteReply) -> CompleteReply:
    """Make sure, whoever implements the model, that an empty reply is no turn (rule 8)."""
    if reply.message.role != "assistant" or not reply.message.text.strip():
        raise IncompleteReply("empty", "the reply has no text", response=reply.message.to_wire())
    return reply


def _is_plain(message: Message) -> bool:
    match message.blocks:
        case (TextBlock(detail=None),):
            return not message.detail
        case _:
            return False


def _failure(error: DialogueError) -> dict[str, Any]:
    reason, response = "refused", None
    if isinstance(error, IncompleteReply | ModelCallFailed):
        reason, response = error.reason, error.response
    elif isinstance(error, LimitReached):
        reason = "limit"
    usage = usage_of(response) if isinstance(response, Mapping) else None
    failed = {"reason": reason, "message": error.message}
    body = {"finish": None, "usage": _written(usage), "error": failed}
    return body if response is None else {**body, "response": response}


def _written(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    return {
        "input_tokens": usage.input_tokens,
        "cached_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
    }


def _end_reason(error: DialogueError) -> EndReason:
    match error:
        case IncompleteReply():
            return "incomplete_reply"
        case LimitReached():
            return "limit"
        case ModelCallFailed(reason="context_window"):
            return "context_window"
        case ModelCallFailed(reason="cancelled"):
            return "cancelled"
        case _:
            return "provider_error"
