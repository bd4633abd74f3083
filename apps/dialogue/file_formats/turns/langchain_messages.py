"""Messages as LangChain writes them, as turns like those of Chat Completions.

Three spellings: the constructor (``{"lc": 1, "id": [..., "HumanMessage"], "kwargs": {...}}``), the
dictionary (``{"type": "human", "data": {...}}``) and the dump (``{"type": "human", "content"}``).
"""

from typing import Any, Final

from apps.dialogue.provider_formats.base import leftovers

_ROLES: Final = {
    "human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "function",
    "developer": "developer", "chat": "", "remove": "",
}  # fmt: skip
_KNOWN: Final = frozenset(
    {
        "type", "content", "role", "additional_kwargs", "tool_calls", "invalid_tool_calls",
        "tool_call_id", "status", "example", "tool_call_chunks", "chunk_position",
    }
)  # fmt: skip


def langchain_turn(value: object) -> dict[str, Any] | None:
    """Return a message as a turn, None for what LangChain did not write."""
    if not isinstance(value, dict):
        return None
    if "lc" in value and isinstance(value.get("kwargs"), dict):
        path = value.get("id")
        name = str(path[-1]) if isinstance(path, list) and path else ""
        kind = name.removesuffix("Chunk").removesuffix("Message").lower()
        return _turn(kind, value["kwargs"]) if kind in _ROLES else None
    written = value.get("type")
    if not isinstance(written, str) or "role" in value:
        return None
    kind = written.removesuffix("MessageChunk").removesuffix("Message").lower()
    if kind not in _ROLES:
        return None
    data = value.get("data")
    if isinstance(data, dict):
        return _turn(kind, data)
    return _turn(kind, value) if "content" in value else None


def _turn(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    extra = data.get("additional_kwargs")
    more = dict(extra) if isinstance(extra, dict) else {}
    turn: dict[str, Any] = {"role": _ROLES[kind] if _ROLES[kind] else data.get("role")}
    calls = data.get("tool_calls")
    content = data.get("content")
    if isinstance(calls, list) and calls:
        turn["tool_calls"] = [_call(call) for call in calls]
        more.pop("tool_calls", None)
        content = _without_calls(content, calls)
    turn["content"] = content
    if kind in ("tool", "function"):
        turn["tool_call_id"] = data.get("tool_call_id")
        if data.get("status") == "error":
            turn["is_error"] = True
    if data.get("invalid_tool_calls"):
        turn["invalid_tool_calls"] = data["invalid_tool_calls"]
    for key in ("tool_calls", "function_call", "reasoning_content", "refusal"):
        if more.get(key) is not None:
            turn.setdefault(key, more.pop(key))
    more = leftovers(more, ())
    rest = leftovers(data, _KNOWN)
    return {**rest, **({"additional_kwargs": more} if more else {}), **turn}


def _call(call: object) -> object:
    if not isinstance(call, dict) or "args" not in call:
        return call
    rest = {key: value for key, value in call.items() if key not in ("name", "args", "type")}
    return {
        **rest,
        "type": "function",
        "function": {"name": call.get("name"), "arguments": call["args"]},
    }


def _without_calls(content: object, calls: list[Any]) -> object:
    """Return content without the calls that stand in it too, as those of Anthropic do."""
    if not isinstance(content, list):
        return content
    ids = [call.get("id") for call in calls if isinstance(call, dict)]
    return [
        part
        for part in content
        if not (
            isinstance(part, dict)
            and part.get("type") in ("tool_use", "function_call", "tool_call")
            and (part.get("call_id") or part.get("id")) in ids
        )
    ]
