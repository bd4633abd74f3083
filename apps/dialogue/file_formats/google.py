"""Contents of Google's Gemini: ``{"system_instruction", "contents": [{"role", "parts"}]}``.

Also what was answered (``candidates``), with or without its request. Both spellings of every key
are read. Calls have no ids there: stable ones are made.
"""

import json
from typing import Any, Final, Literal

from apps.dialogue.blocks import Block
from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import CallIds, with_tools
from apps.dialogue.message import Message, make_message, parse_block
from apps.dialogue.provider_formats.base import leftovers

_ROLES: Final[dict[str, Literal["system", "user", "assistant"]]] = {
    "user": "user",
    "function": "user",
    "tool": "user",
    "model": "assistant",
    "assistant": "assistant",
    "system": "system",
}
_SYSTEM: Final = ("system_instruction", "systemInstruction")
_PARTS: Final = {
    "text": "text",
    "inline_data": "image",
    "inlineData": "image",
    "function_call": "call",
    "functionCall": "call",
    "function_response": "response",
    "functionResponse": "response",
}
_CALLS: Final = ("functionCall", "function_call")
_REMOTE: Final = ("file_data", "fileData")


def recognises(row: dict[str, Any]) -> bool:
    request = _request(row)
    contents = request.get("contents")
    if isinstance(contents, dict):
        contents = [contents]
    if contents is None:
        return _answer_of(row) is not None
    return isinstance(contents, list) and any(
        isinstance(each, dict) and isinstance(each.get("parts"), list | dict | str)
        for each in contents
    )


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    request = _request(row)
    place = "" if request is row else "request."
    reader = _Reader(notes)
    key = next((key for key in _SYSTEM if request.get(key) is not None), None)
    if key is not None:
        reader.system(request[key], f"{place}{key}")
    if "contents" in request:
        reader.contents(request["contents"], f"{place}contents")
    else:
        reason = "a response has the answer alone; what was asked is in the request"
        notes.append(Note("kept", "", reason, "needs_request_file"))
    parts = row
    if place:
        parts = {name: value for name, value in row.items() if name != "request"}
        parts = {**{k: v for k, v in request.items() if k not in (*_SYSTEM, "contents")}, **parts}
    messages = list(reader.messages)
    if answer := _answer_of(row):
        where, content = answer
        messages += reader.candidate(content, f"{where}candidates[0].content")
        parts = _without_answer(parts, where)
    gone = ["contents", *[name for name in _SYSTEM if name in request]]
    if reader.invented:
        reason = f"calls have no ids here: {reader.invented} were made, results tied by name"
        notes.append(Note("invented", f"{place}contents", reason, "ids_invented"))
    return content_of(with_tools(parts, notes), messages, notes, used=gone)


def _answer_of(row: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Return where the answer of a call stands, and the content of its first candidate."""
    for place, holder in (("", row), ("response.", row.get("response"))):
        candidates = holder.get("candidates") if isinstance(holder, dict) else None
        first = candidates[0] if isinstance(candidates, list) and candidates else None
        content = first.get("content") if isinstance(first, dict) else None
        if isinstance(content, dict) and "parts" in content:
            return place, content
    return None


def _without_answer(row: dict[str, Any], place: str) -> dict[str, Any]:
    """Return a row without the content of its first candidate; what is known of it stays."""
    if place:
        return {**row, "response": _without_answer(row["response"], "")}
    first, *others = row["candidates"]
    kept = {key: value for key, value in first.items() if key != "content"}
    if not kept and not others:
        return {key: value for key, value in row.items() if key != "candidates"}
    return {**row, "candidates": [kept, *others]}


def _request(row: dict[str, Any]) -> dict[str, Any]:
    """Return what holds the contents: the row, or the request of a batch."""
    request = row.get("request")
    return request if "contents" not in row and isinstance(request, dict) else row


_READ_KEYS: Final = frozenset({
    "id", "name", "args", "response", "data", "mime_type", "mimeType"
})  # fmt: skip
"""The keys of calls, responses and images that become fields of their blocks."""


class _Reader:
    def __init__(self, notes: list[Note]) -> None:
        self.messages: list[Message] = []
        self.invented = 0
        self._notes = notes
        self._ids = CallIds(())
        self._unread: list[Any] = []

    def system(self, value: object, place: str) -> None:
        content = {"parts": value} if isinstance(value, str) else value
        if not isinstance(content, dict):
            fault = f"must be a text or an object with parts, not {kind_of(value)}"
            raise ImportRefused(fault, place=place)
        if content.get("parts") in (None, [], ""):
            return
        self._content({**content, "role": "system"}, place)

    def contents(self, value: object, place: str) -> None:
        if isinstance(value, dict):
            value = [value]
        if value is None or value == []:
            raise ImportRefused("the conversation is empty", place=place, code="empty_conversation")
        if not isinstance(value, list):
            raise ImportRefused(f"must be a list of contents, not {kind_of(value)}", place=place)
        letters = "".join([_letters(each) for each in value])
        self._ids = CallIds([{"tool_calls": list(_given_ids(value))}])
        for index, each in enumerate(value):
            where = f"{place}[{index}]"
            try:
                self._checked(each, where)
            except ImportRefused as error:
                raise ImportRefused(
                    error.message, place=error.place, roles=letters, code=error.code
                ) from None

    def candidate(self, content: dict[str, Any], place: str) -> list[Message]:
        """Return the answer of a call, the content of a candidate."""
        self.messages, before = [], self.messages
        self._checked({"role": "model", **content}, place)
        self.messages, read = before, self.messages
        return read

    def _checked(self, content: object, place: str) -> None:
        if not isinstance(content, dict):
            fault = f"a content must be an object, not {kind_of(content)}"
            raise ImportRefused(fault, place=place, code="bad_turn")
        self._content(content, place)

    def _content(self, content: dict[str, Any], place: str) -> None:
        given = content.get("role")
        name = "user" if given is None else given.strip().lower() if isinstance(given, str) else ""
        role = _ROLES.get(name)
        if role is None:
            fault = f"the role {given!r} is unknown"
            raise ImportRefused(fault, place=place, code="unknown_role")
        if given is not None and given != name:
            reason = f"{given!r} became {role}"
            self._notes.append(Note("converted", f"{place}.role", reason, "unusual_role"))
        if role != "user":
            self._ids.begin_turn()
        parts = content.get("parts")
        parts = parts if isinstance(parts, list) else [] if parts is None else [parts]
        self._unread = []
        blocks: list[Block] = []
        for index, part in enumerate(parts):
            blocks += self._part(part, role, f"{place}.parts[{index}]")
        detail = leftovers(content, {"role", "parts"})
        if self._unread:
            detail["unread_parts"] = self._unread
        self.messages.append(make_message(role, blocks, detail, place=place))

    def _part(self, part: object, role: str, place: str) -> list[Block]:
        if isinstance(part, str):
            return [parse_block({"type": "text", "text": part}, place)]
        if not isinstance(part, dict):
            return self._keep(part, place, "unsupported_block")
        present = [key for key, value in part.items() if key in _PARTS and value is not None]
        if len(present) != 1:
            remote = any(part.get(key) is not None for key in _REMOTE)
            return self._keep(part, place, "remote_image" if remote else "unsupported_block")
        key = present[0]
        wire = self._wire(_PARTS[key], part[key], place, thought=part.get("thought") is True)
        if wire is None or not _may_stand(wire["type"], role):
            return self._keep(part, place, "unsupported_block")
        detail = leftovers(part, {key, "thought"})
        if isinstance(part[key], dict):
            detail |= leftovers(part[key], _READ_KEYS)
        return [parse_block({**wire, "detail": detail or None}, place)]

    def _wire(self, kind: str, value: Any, place: str, *, thought: bool) -> dict[str, Any] | None:
        if kind == "text":
            return {"type": "reasoning" if thought else "text", "text": value}
        if not isinstance(value, dict):
            return None
        if kind == "image":
            media = value.get("mime_type") or value.get("mimeType")
            if not isinstance(media, str) or not media.lower().startswith("image/"):
                return None
            return {"type": "image", "data": value.get("data"), "mimeType": media}
        return self._call(value, place) if kind == "call" else self._response(value)

    def _call(self, call: dict[str, Any], place: str) -> dict[str, Any]:
        name = call.get("name")
        if not isinstance(name, str) or not name:
            raise ImportRefused("the call names no tool", place=place, code="bad_call")
        found = self._ids.call(call.get("id"), name)
        self.invented += found.invented
        arguments = call.get("args") if call.get("args") is not None else {}
        return {"type": "tool_call", "id": found.value, "name": name, "input": arguments}

    def _response(self, response: dict[str, Any]) -> dict[str, Any]:
        """Read ``{"output": text}`` and ``{"error": text}``; any other becomes its JSON text."""
        value = response.get("response")
        lone = value
        if isinstance(value, dict) and set(value) in ({"output"}, {"error"}):
            lone = next(iter(value.values()))
        text = lone if isinstance(lone, str) else json.dumps(lone, ensure_ascii=False)
        found = self._ids.answer(response.get("id"), response.get("name"))
        return {
            "type": "tool_result",
            "tool_call_id": found.value,
            "blocks": [{"type": "text", "text": text}],
            "is_error": isinstance(value, dict) and set(value) == {"error"},
        }

    def _keep(self, part: object, place: str, code: str) -> list[Block]:
        reason = "the part has no block; it is kept in detail.unread_parts"
        self._notes.append(Note("kept", place, reason, code))
        self._unread.append(part)
        return []


def _may_stand(kind: str, role: str) -> bool:
    match kind:
        case "tool_result":
            return role == "user"
        case "tool_call" | "reasoning":
            return role == "assistant"
        case _:
            return True


def _given_ids(contents: list[Any]) -> list[dict[str, Any]]:
    """Return the ids that calls do have, for ids that are made to differ from them."""
    found: list[dict[str, Any]] = []
    for content in contents:
        parts = content.get("parts") if isinstance(content, dict) else None
        for part in parts if isinstance(parts, list) else ():
            calls = [part.get(key) for key in _CALLS] if isinstance(part, dict) else []
            found += [{"id": call.get("id")} for call in calls if isinstance(call, dict)]
    return found


def _letters(content: object) -> str:
    if not isinstance(content, dict):
        return "?"
    given = content.get("role")
    name = "user" if given is None else given.strip().lower() if isinstance(given, str) else ""
    role = _ROLES.get(name)
    if role is None:
        return "?"
    parts = content.get("parts")
    listed = parts if isinstance(parts, list) else []
    results = [
        part
        for part in listed
        if isinstance(part, dict) and ("functionResponse" in part or "function_response" in part)
    ]
    return "t" * len(results) + (role[0] if len(results) < len(listed) or not results else "")


FORMAT = RowFormat("google", "Google Gemini contents", recognises, read)
