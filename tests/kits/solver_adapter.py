"""The adapter that ``check_solver.py`` describes: a vector in, what the engine made of it out."""

import asyncio
from collections.abc import Iterable
from typing import Any

from apps.dialogue.errors import SpecError
from apps.dialogue.message import Message
from apps.dialogue.scripted_model import ScriptedModel
from apps.dialogue.solver.engine import play as play_sample
from apps.dialogue.solver.spec import parse_solver
from apps.dialogue.trace import Transcript


def play(vector: dict[str, Any]) -> dict[str, Any]:
    """Play a vector's builders with its sample and replies."""
    model = ScriptedModel(vector["replies"])
    transcript = Transcript()
    solver = {"type": "multi_turn_solver", "message_builders": vector["builders"]}
    try:
        parsed = parse_solver(solver)
    except SpecError as error:
        return _answer(transcript, model, f"invalid specification refused: {error}")
    sample = _with_traces(vector["builders"], vector.get("sample", {}))
    ending = asyncio.run(play_sample(parsed, sample, model, transcript))
    error = None if ending.succeeded else f"{ending.reason}: {ending.message}"
    return _answer(transcript, model, error)


def _answer(transcript: Transcript, model: ScriptedModel, error: str | None) -> dict[str, Any]:
    last = model.requests[-1].messages if model.requests else ()
    return {
        "messages": _short(transcript.messages),
        "calls": model.calls,
        "error": error,
        "last_request": _short(last),
    }


def _short(messages: Iterable[Message]) -> list[str]:
    return [f"{message.role[0]}:{message.text}" for message in messages]


def _with_traces(builders: list[dict[str, Any]], sample: dict[str, Any]) -> dict[str, Any]:
    """Turn the role and content dicts of trace columns into traces."""
    columns = {each["trace_column"] for each in builders if each.get("type") == "load_trace"}
    return {
        name: _trace(value) if name in columns and isinstance(value, list) else value
        for name, value in sample.items()
    }


def _trace(items: list[Any]) -> dict[str, Any]:
    return {"items": [_item(item) for item in items]}


def _item(item: Any) -> Any:
    if not isinstance(item, dict) or set(item) != {"role", "content"}:
        return item
    part = "output_text" if item["role"] == "assistant" else "input_text"
    content = item["content"]
    parts = [{"type": part, "text": content}] if isinstance(content, str) else content
    return {"type": "message", "id": "", "status": "completed", **item, "content": parts}
