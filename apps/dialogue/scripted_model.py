"""The shipped fake of the engine's ``LanguageModel``: prepared replies, nothing sent anywhere."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from apps.dialogue.completeness import CompleteReply, complete_chat_reply
from apps.dialogue.errors import ModelCallFailed
from apps.dialogue.message import Message

EVALUATED: Final = "main"
"""The key of the evaluated model's replies."""


class Asked(Protocol):
    """What is looked at of a request."""

    @property
    def model_key(self) -> str | None: ...

    @property
    def messages(self) -> tuple[Message, ...]: ...


class ScriptedModel:
    """Gives each model its prepared replies in order and remembers what it was asked.

    ``replies`` holds a list by model key, the evaluated model's under "main". A reply is a text; a
    mapping with ``text`` and perhaps ``finish`` (default ``stop``), ``refusal``, ``reasoning`` and
    ``usage``, which goes through the same checks as a Chat Completions response; a ready
    ``CompleteReply``; or an exception to raise. Running out is a ``ModelCallFailed``.
    """

    def __init__(self, replies: Mapping[str, Sequence[Any]]) -> None:
        self.requests: list[Any] = []
        self._replies = {key: deque(prepared) for key, prepared in replies.items()}

    @property
    def calls(self) -> list[str]:
        """The model keys in the order in which they were called."""
        return [request.model_key or EVALUATED for request in self.requests]

    async def reply(self, request: Asked) -> CompleteReply:
        """Return the next prepared reply of the model asked."""
        self.requests.append(request)
        prepared = self._replies.get(request.model_key or EVALUATED)
        if not prepared:
            model = request.model_key or "the evaluated model"
            raise ModelCallFailed("bad_response", f"no reply is prepared for {model}")
        return _spoken(prepared.popleft())


def _spoken(prepared: Any) -> CompleteReply:
    match prepared:
        case CompleteReply():
            return prepared
        case BaseException():
            raise prepared
        case str():
            return complete_chat_reply(_response({"text": prepared}))
        case Mapping():
            return complete_chat_reply(_response(prepared))
        case _:
            raise TypeError(f"{prepared!r} is not a prepared reply")


def _response(prepared: Mapping[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": prepared.get("text")}
    for key, name in (("refusal", "refusal"), ("reasoning", "reasoning_content")):
        if prepared.get(key) is not None:
            message[name] = prepared[key]
    choice = {"index": 0, "finish_reason": prepared.get("finish", "stop"), "message": message}
    return {"choices": [choice], "usage": prepared.get("usage")}
