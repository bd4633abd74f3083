"""Anthropic Messages: ``{"system", "messages", "tools": [{"name", "input_schema"}]}``.

Also a request of a batch (``params``), a logged call (``request`` and ``response``), and an answer
alone: a message, or the result of a batch (``{"custom_id", "result": {"type", "message"}}``).
"""

from typing import Any, Final

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import DialogueError, ImportRefused
from apps.dialogue.file_formats.base import (
    Loss,
    Note,
    RowFormat,
    TaskContent,
    check_written,
    content_of,
    row_of,
    with_key,
)
from apps.dialogue.file_formats.turns import with_tools, write_anthropic_tools
from apps.dialogue.message import Message, make_message
from apps.dialogue.provider_formats import FORMATS, import_anthropic
from apps.dialogue.provider_formats.base import leftovers

_OWN_BLOCKS: Final = frozenset({"thinking", "redacted_thinking", "tool_use", "tool_result"})
_OTHER_BLOCKS: Final = frozenset({"document", "server_tool_use", "web_search_tool_result"})
_MEDIA_COLUMNS: Final = ("images", "image", "videos", "video", "audios", "audio")
_READ: Final = _OWN_BLOCKS | {"text", "image"}
_LETTERS: Final = {"user": "u", "assistant": "a", "system": "s"}


def recognises(row: dict[str, Any]) -> bool:
    if _is_message(row) or _is_result(row):
        return True
    request = _request(row)
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        return False
    if any(isinstance(part, dict) and _is_own(part) for each in messages for part in _parts(each)):
        return True
    response = row.get("response")
    if isinstance(response, dict) and response.get("type") == "message":
        return isinstance(response.get("content"), list)
    return (
        isinstance(request.get("system"), str | list)
        and all(_may_be_own(each) for each in messages)
        and not _has_other_columns(request)
    )


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    if _is_message(row):
        return _read_answer(row, row, notes, "")
    if _is_result(row):
        return _read_result(row, notes)
    request, place = _request(row), _request_place(row)
    messages: tuple[Message, ...] = ()
    if request.get("system"):
        messages += _read_one(
            {"role": "system", "content": request["system"]}, notes, f"{place}system"
        )
    messages += _read_list(request.get("messages"), notes, f"{place}messages")
    parts = row
    if place:
        parts = {key: value for key, value in row.items() if key not in ("params", "request")}
        parts = {**{k: v for k, v in request.items() if k not in ("system", "messages")}, **parts}
        if row.get("id") is None and isinstance(row.get("custom_id"), str):
            parts = {**parts, "id": row["custom_id"]}
    used = ["messages", "system"] if "system" in request else ["messages"]
    response = row.get("response")
    if isinstance(response, dict) and isinstance(response.get("content"), list):
        wire = {"role": "assistant", "content": response["content"]}
        messages += _read_one(wire, notes, "response")
        parts = {**parts, "response": {k: v for k, v in response.items() if k != "content"}}
    return content_of(with_tools(parts, notes), messages, notes, used=used)


def _is_message(row: dict[str, Any]) -> bool:
    """Whether a row is an answer as the API gives it."""
    answers = row.get("type") == "message" and row.get("role") == "assistant"
    return answers and isinstance(row.get("content"), list) and "messages" not in row


def _is_result(row: dict[str, Any]) -> bool:
    result = row.get("result")
    return isinstance(row.get("custom_id"), str) and isinstance(result, dict) and "type" in result


def _read_result(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    result = row["result"]
    message = result.get("message")
    if not isinstance(message, dict):
        error = result.get("error")
        told = error.get("error", error) if isinstance(error, dict) else None
        reason = told.get("message") if isinstance(told, dict) else None
        why = f": {reason}" if isinstance(reason, str) else ""
        fault = f"the request was not answered ({result['type']}){why}"
        raise ImportRefused(fault, place="result", code="missing_messages")
    rest = {key: value for key, value in result.items() if key != "message"}
    kept = {**row, "result": {**rest, "message": {**message, "content": None}}}
    del kept["result"]["message"]["content"]
    return _read_answer(kept, message, notes, "result.message")


def _read_answer(
    row: dict[str, Any], message: dict[str, Any], notes: list[Note], place: str
) -> TaskContent:
    wire = {"role": message.get("role", "assistant"), "content": message.get("content")}
    messages = _read_one(wire, notes, place)
    fault = "a result has the answer alone; what was asked is in the request"
    notes.append(Note("kept", place, fault, "needs_request_file"))
    if "custom_id" in row:
        row = with_key(row, row["custom_id"], notes)
    used = ("custom_id",) if place else ("content", "role")
    return content_of(row, messages, notes, used=used)


def write(task: TaskContent, losses: list[Loss]) -> list[dict[str, Any]]:
    """Write a request; what Anthropic would refuse, or would get changed, is a loss."""

    def lose(error: DialogueError) -> None:
        losses.append(Loss(error.place, error.message))

    request = FORMATS["anthropic"].write(task.messages, lose)
    own: dict[str, Any] = {} if request["system"] is None else {"system": request["system"]}
    own["messages"] = request["messages"]
    if tools := write_anthropic_tools(task.tools, losses):
        own["tools"] = tools
    reserved = ("system", "params", "request", "tools", "functions")
    row = row_of(task, own, losses, reserved=reserved)
    check_written(task, row, read, losses)
    return [row]


def _request(row: dict[str, Any]) -> dict[str, Any]:
    """Return what holds the messages: the row, or the request of a batch or a log."""
    place = _request_place(row).removesuffix(".")
    request: dict[str, Any] = row[place] if place else row
    return request


def _request_place(row: dict[str, Any]) -> str:
    if "messages" in row:
        return ""
    return next((f"{key}." for key in ("params", "request") if isinstance(row.get(key), dict)), "")


def _parts(message: object) -> list[Any]:
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else []


def _is_own(part: dict[str, Any]) -> bool:
    """Whether a part is of a type that Anthropic has, and nobody else in this shape."""
    kind = part.get("type")
    if not isinstance(kind, str):
        return False
    if kind == "thinking":
        return "thinking" in part
    if kind in ("image", "document"):
        return isinstance(part.get("source"), dict)
    return kind in _OWN_BLOCKS or kind in _OTHER_BLOCKS


def _may_be_own(message: object) -> bool:
    """Whether a message without parts that only Anthropic has could be one of its messages."""
    if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
        return False
    parts = [part for part in _parts(message) if isinstance(part, dict)]
    return not message.get("tool_calls") and all(part.get("type") != "image_url" for part in parts)


def _has_other_columns(request: dict[str, Any]) -> bool:
    """Whether a row with a system text beside its messages is one of LLaMA-Factory or OpenAI."""
    if any(request.get(key) for key in _MEDIA_COLUMNS) or request.get("functions"):
        return True
    tools = request.get("tools")
    listed = tools if isinstance(tools, list) else []
    # LLaMA-Factory has the tools as a JSON text, LMFlow their names.
    return isinstance(tools, str) or any(
        not isinstance(tool, dict) or isinstance(tool.get("function"), dict) for tool in listed
    )


def _read_list(value: object, notes: list[Note], place: str) -> tuple[Message, ...]:
    if value is None or value == []:
        raise ImportRefused("the conversation is empty", place=place, code="empty_conversation")
    if not isinstance(value, list):
        raise ImportRefused(f"must be a list of messages, not {kind_of(value)}", place=place)
    letters = "".join([_letters(each) for each in value])
    read: tuple[Message, ...] = ()
    for index, each in enumerate(value):
        where = f"{place}[{index}]"
        try:
            read += _read_one(each, notes, where)
        except ImportRefused as error:
            raise ImportRefused(
                error.message, place=error.place, roles=letters, code=error.code
            ) from None
    return read


def _letters(wire: object) -> str:
    if not isinstance(wire, dict):
        return "?"
    role = wire.get("role")
    letter: str = _LETTERS.get(role.strip().lower(), "?") if isinstance(role, str) else "?"
    kinds = [part.get("type") if isinstance(part, dict) else None for part in _parts(wire)]
    results = kinds.count("tool_result")
    return "t" * results + (letter if results < len(kinds) or not results else "")


def _read_one(wire: object, notes: list[Note], place: str) -> tuple[Message, ...]:
    """Read one message, with the parts that have no block in ``detail.unread_parts``."""
    if not isinstance(wire, dict):
        fault = f"a message must be an object, not {kind_of(wire)}"
        raise ImportRefused(fault, place=place, code="bad_turn")
    role = _role(wire, notes, place)
    unread: list[Any] = []
    content = _content(wire.get("content"), unread, notes, f"{place}.content")
    if content in (None, []):
        detail = leftovers(wire, {"role", "content"})
        kept = {**detail, "unread_parts": unread} if unread else detail
        return (make_message(role, (), kept, place=place),)
    try:
        payload = {"messages": [{**wire, "role": role, "content": content}]}
        (read,) = import_anthropic(payload)
    except DialogueError as error:
        moved = place + error.place.removeprefix("messages[0]")
        if isinstance(error, ImportRefused):
            raise ImportRefused(error.message, place=moved, code=error.code) from None
        raise type(error)(error.message, place=moved) from None
    if unread:
        detail = {**(read.detail or {}), "unread_parts": unread}
        return (make_message(read.role, read.blocks, detail, place=place),)
    return (read,)


def _role(wire: dict[str, Any], notes: list[Note], place: str) -> Any:
    given = wire.get("role")
    role = given.strip().lower() if isinstance(given, str) else None
    if role not in _LETTERS:
        fault = f"the role {given!r} is unknown" if given is not None else "there is no role"
        raise ImportRefused(fault, place=place, code="unknown_role")
    if role != given:
        notes.append(Note("converted", f"{place}.role", f"{given!r} became {role}", "unusual_role"))
    return role


def _content(content: object, unread: list[Any], notes: list[Note], place: str) -> Any:
    """Return the parts that have a block; the others go to ``unread``, each with a note."""
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return content
    read: list[Any] = []
    for index, part in enumerate(content):
        where = f"{place}[{index}]"
        if isinstance(part, str):
            reason = "a bare text became a part"
            notes.append(Note("converted", where, reason, "content_coerced"))
            read.append({"type": "text", "text": part})
        elif code := _fault(part):
            reason = "the part has no block; it is kept in detail.unread_parts"
            notes.append(Note("kept", where, reason, code))
            unread.append(part)
        else:
            read.append(_with_source(_with_result(part, notes, where)))
            _note_opaque(part, notes, where)
    return read


def _fault(part: object) -> str:
    """Return the code of the note on a part without a block, nothing for any other."""
    if not isinstance(part, dict):
        return "unsupported_block"
    kind = part.get("type")
    if not isinstance(kind, str) or kind not in _READ:
        return "unsupported_block"
    if kind == "image":
        source = part.get("source")
        if not isinstance(source, dict):
            return "unsupported_block"
        return "" if source.get("type") == "base64" else "remote_image"
    return ""


def _with_result(part: dict[str, Any], notes: list[Note], place: str) -> dict[str, Any]:
    """Return a result with the parts of its content that have a block, the others in detail."""
    content = part.get("content")
    if part.get("type") != "tool_result" or not isinstance(content, list | dict):
        return part
    unread: list[Any] = []
    read = _content(content, unread, notes, f"{place}.content")
    kept = {"unread_parts": unread} if unread else {}
    return {**part, **kept, "content": read}


def _with_source(part: dict[str, Any]) -> dict[str, Any]:
    """Return an image with what its source has beside its data in the part, for its detail."""
    source = part.get("source")
    if part.get("type") != "image" or not isinstance(source, dict):
        return part
    rest = leftovers(source, {"type", "media_type", "data"})
    return {**part, "source_detail": rest} if rest else part


def _note_opaque(part: dict[str, Any], notes: list[Note], place: str) -> None:
    if part.get("type") == "redacted_thinking":
        reason = "reasoning that only Anthropic can read is kept as it is"
        notes.append(Note("kept", place, reason, "opaque_reasoning"))


FORMAT = RowFormat("anthropic", "Anthropic Messages", recognises, read, write)
