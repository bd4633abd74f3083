"""The scripted demo model: an OpenAI-compatible endpoint without any intelligence behind it.

It lets everything run with no key. Its behaviour is the model's name; the same request always gets
the same reply. Nothing it says is the work of a model, and every reply says so.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.providers.demo_capitals import country_in

LABEL = "Scripted demo model: prepared replies, no model behind them"
FINGERPRINT = "turnwright-scripted-demo"
CHARACTERS_PER_TOKEN = 4

_CONFIRMED = ("yes", "correct", "right", "exactly", "that is right", "that's right")
_ASKS = ("is that right?", "did i understand", "please confirm", "can you confirm", "correct?")


@dataclass(frozen=True, slots=True)
class _Turn:
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class _Reply:
    text: str | None
    finish: str = "stop"
    refusal: str | None = None


class _BadRequest(ValueError):
    """A request that no OpenAI-compatible server takes; the text is the answer's message."""


def chat_completion(body: object) -> tuple[int, dict[str, Any]]:
    """Answer one Chat Completions request: an HTTP status and the JSON to send with it.

    Pure and deterministic; a request that is wrong gets 400 or 404 in OpenAI's shape of errors.
    """
    try:
        model, turns = _read(body)
    except _BadRequest as error:
        return 400, _error(str(error), "invalid_request_error")
    behaviour = MODELS.get(model)
    if behaviour is None:
        known = ", ".join(MODELS)
        return 404, _error(
            f"There is no scripted model {model[:80]!r}; there are {known}.",
            "invalid_request_error",
            "model_not_found",
        )
    return 200, _completion(model, turns, behaviour.reply(turns))


def _read(body: object) -> tuple[str, list[_Turn]]:
    if not isinstance(body, Mapping):
        raise _BadRequest("The body must be a JSON object.")
    model, messages = body.get("model"), body.get("messages")
    if not isinstance(model, str) or not model:
        raise _BadRequest("'model' must be the name of a scripted model.")
    if not isinstance(messages, list) or not messages:
        raise _BadRequest("'messages' must be a list with at least one message.")
    if body.get("stream"):
        raise _BadRequest("The scripted demo model does not stream; leave 'stream' out.")
    return model, [_turn(message, index) for index, message in enumerate(messages)]


def _turn(message: object, index: int) -> _Turn:
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise _BadRequest(f"'messages[{index}]' must be an object with a role.")
    return _Turn(role=message["role"], text=_text(message.get("content"), index))


def _text(content: object, index: int) -> str:
    match content:
        case None:
            return ""
        case str():
            return content
        case list():
            texts = (part.get("text", "") for part in content if isinstance(part, Mapping))
            return "\n".join(text for text in texts if isinstance(text, str))
        case _:
            raise _BadRequest(f"'messages[{index}].content' must be a text or a list of parts.")


def _last(turns: Sequence[_Turn], role: str) -> str:
    return next((turn.text for turn in reversed(turns) if turn.role == role), "")


def _asks_for_confirmation(text: str) -> bool:
    lowered = text.lower()
    return any(words in lowered for words in _ASKS)


def _confirm_then_answer(turns: Sequence[_Turn]) -> _Reply:
    """Ask back once about a country in Europe; answer everything else at once."""
    question = _question(turns)
    country = country_in(question)
    confirmed = _asks_for_confirmation(_last(turns, "assistant")) and _confirms(turns)
    if country and country.continent == "Europe" and not confirmed:
        return _Reply(f"You would like to know: {question} Is that right?")
    if country and "capital" in question.lower():
        return _Reply(country.capital)
    return _Reply(country.continent if country else "Unknown")


def _question(turns: Sequence[_Turn]) -> str:
    """What was asked: the last user text that is more than a yes."""
    for turn in reversed(turns):
        if turn.role == "user" and turn.text.strip() and not _is_yes(turn.text):
            return turn.text.strip()
    return ""


def _confirms(turns: Sequence[_Turn]) -> bool:
    return _is_yes(_last(turns, "user"))


def _is_yes(text: str) -> bool:
    said = text.strip().lower().rstrip(".!")
    return said in _CONFIRMED or said.startswith(("yes,", "yes "))


def _judge(turns: Sequence[_Turn]) -> _Reply:
    return _Reply("Yes" if _asks_for_confirmation(_last(turns, "assistant")) else "<done>")


def _echo(turns: Sequence[_Turn]) -> _Reply:
    return _Reply(_last(turns, "user").strip() or "(nothing was said)")


def _refuse(turns: Sequence[_Turn]) -> _Reply:
    return _Reply(None, refusal="This scripted model refuses everything.")


def _truncate(turns: Sequence[_Turn]) -> _Reply:
    return _Reply("This scripted reply stops in the mid", finish="length")


def _empty(turns: Sequence[_Turn]) -> _Reply:
    return _Reply("")


@dataclass(frozen=True, slots=True)
class ScriptedModel:
    """One behaviour of the demo endpoint and what a person reads about it."""

    description: str
    reply: Callable[[Sequence[_Turn]], _Reply]


MODELS: dict[str, ScriptedModel] = {
    "confirm-then-answer": ScriptedModel(
        "Knows capitals; asks for a confirmation first when the country is in Europe",
        _confirm_then_answer,
    ),
    "judge": ScriptedModel(
        "Says Yes if the assistant's last message asks for a confirmation, else <done>", _judge
    ),
    "echo": ScriptedModel("Repeats the last user message", _echo),
    "refuse": ScriptedModel("Refuses every request", _refuse),
    "truncate": ScriptedModel("Stops in the middle of a reply (finish reason: length)", _truncate),
    "empty": ScriptedModel("Replies with an empty text", _empty),
}


def _completion(model: str, turns: Sequence[_Turn], reply: _Reply) -> dict[str, Any]:
    asked = json.dumps([model, *([turn.role, turn.text] for turn in turns)])
    prompt = _tokens(sum(len(turn.text) for turn in turns))
    answer = _tokens(len(reply.text or reply.refusal or ""))
    return {
        "id": f"chatcmpl-demo-{hashlib.sha256(asked.encode()).hexdigest()[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": reply.text, "refusal": reply.refusal},
                "logprobs": None,
                "finish_reason": reply.finish,
            }
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": answer,
            "total_tokens": prompt + answer,
        },
        "system_fingerprint": FINGERPRINT,
        "scripted": LABEL,
    }


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_PER_TOKEN)


def _error(message: str, kind: str, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
