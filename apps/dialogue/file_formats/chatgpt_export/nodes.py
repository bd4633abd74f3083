"""The nodes of ChatGPT's export as turns: what was said, called, answered, and what is hidden."""

import json
from collections.abc import Sequence
from typing import Any, Final

from apps.dialogue.file_formats.base import Note
from apps.dialogue.file_formats.turns import (
    PlacedTurn,
    call_part,
    decoded,
    reasoning_part,
    result_turn,
    text_part,
)
from apps.dialogue.provider_formats.base import leftovers

_CONTEXT: Final = ("user_editable_context", "model_editable_context")
"""What a person told ChatGPT about themselves: sent with every conversation, part of none."""

_POINTERS: Final = ("asset_pointer", "audio_asset_pointer", "video_container_asset_pointer")
_TOLD: Final = (
    "model_slug", "attachments", "citations", "content_references", "finish_details"
)  # fmt: skip
"""What the metadata of a message tells of its content; the rest is about the page it stood on."""

_EVERYONE: Final = ("all", "", None)


def is_shown(message: dict[str, Any]) -> bool:
    """Tell whether a node's message is a part of the conversation that a person saw."""
    content = _content(message)
    kind = content.get("content_type")
    metadata = message.get("metadata")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    if not content or hidden or kind in _CONTEXT or kind == "reasoning_recap":
        return False
    return kind not in ("text", None, "thoughts") or bool(_says(content))


def read_nodes(path: Sequence[tuple[str, dict[str, Any]]], notes: list[Note]) -> list[PlacedTurn]:
    """Return the turns of the nodes from the root to a leaf; notes what was left out."""
    reader = _Nodes(notes)
    for name, message in path:
        reader.read(name, message)
    return reader.finish()


class _Nodes:
    def __init__(self, notes: list[Note]) -> None:
        self._notes = notes
        self._turns: list[PlacedTurn] = []
        self._hidden: list[str] = []
        self._open: list[tuple[str, str]] = []
        self._invented = 0

    def read(self, name: str, message: dict[str, Any]) -> None:
        place = f"mapping.{name}"
        role = _role(message)
        # A hidden result still answers the call that stands before it.
        if not is_shown(message) and not (role == "tool" and self._open and _content(message)):
            self._leave_out(message, place)
        elif role == "tool":
            self._result(name, message, place)
        elif role == "assistant":
            self._assistant(name, message, place)
        else:
            parts, unread = self._parts(_content(message), place)
            wire = {"role": role, "content": parts, **_detail(message, unread)}
            self._turns.append(PlacedTurn(place, wire))

    def finish(self) -> list[PlacedTurn]:
        if self._hidden:
            reason = f"{len(self._hidden)} hidden nodes left out: {', '.join(self._hidden[:10])}"
            self._notes.append(Note("dropped", "mapping", reason, "hidden_nodes"))
        if self._invented:
            reason = f"calls have no ids here: the ids of their nodes were taken ({self._invented})"
            self._notes.append(Note("invented", "mapping", reason, "ids_invented"))
        return self._turns

    def _leave_out(self, message: dict[str, Any], place: str) -> None:
        content = _content(message)
        if not content:
            return
        recap = content.get("content") if content.get("content_type") == "reasoning_recap" else None
        if recap and self._turns and self._turns[-1].wire["role"] == "assistant":
            self._turns[-1].wire.setdefault("reasoning_recap", recap)
        else:
            kind = content.get("content_type")
            self._hidden.append(f"{_role(message)} ({kind}) at {place}")

    def _assistant(self, name: str, message: dict[str, Any], place: str) -> None:
        content = _content(message)
        parts, unread = self._parts(content, place)
        if message.get("recipient") not in _EVERYONE:
            parts = [self._call(name, message, content, place)]
        wire = {"role": "assistant", "content": parts, **_detail(message, unread)}
        last = self._turns[-1] if self._turns else None
        if (
            last
            and last.wire["role"] == "assistant"
            and not (_has_text(last.wire) and parts and _has_text(wire))
        ):
            _merge(last.wire, wire)
        else:
            self._turns.append(PlacedTurn(place, wire))

    def _call(
        self, name: str, message: dict[str, Any], content: dict[str, Any], place: str
    ) -> dict[str, Any]:
        tool = str(message["recipient"])
        text = _said(content)
        arguments = decoded(text)
        if not isinstance(arguments, dict):
            key = "code" if content.get("content_type") == "code" else "text"
            arguments = {key: text}
            if key == "code" and content.get("language") not in (None, "", "unknown"):
                arguments["language"] = content["language"]
            reason = f"the text sent to {tool!r} became a call of it"
            self._notes.append(Note("converted", place, reason, "tool_text"))
        self._open.append((name, tool))
        self._invented += 1
        return call_part(tool, arguments, call_id=name)

    def _result(self, name: str, message: dict[str, Any], place: str) -> None:
        content = _content(message)
        parts, unread = self._parts(content, place)
        author = message.get("author")
        tool = author.get("name") if isinstance(author, dict) else None
        detail = _detail(message, unread)
        last = self._turns[-1] if self._turns else None
        if not self._open and last and last.wire["role"] == "tool":
            # A tool that answers in several nodes gives one result.
            _merge(last.wire, {"content": parts, **detail})
            return
        call_id = self._answered(tool)
        if call_id is None:
            reason = "the result answers no call before it"
            self._notes.append(Note("kept", place, reason, "orphan_tool_result"))
        is_error = content.get("content_type") == "system_error" or _failed(message)
        wire = result_turn(
            parts, call_id=call_id or name, name=tool, is_error=is_error, detail=detail
        )
        self._turns.append(PlacedTurn(place, wire))

    def _answered(self, tool: object) -> str | None:
        """Return the id of the call that a result answers: that of its tool, else the first."""
        if not self._open:
            return None
        named = next((each for each in self._open if each[1] == tool), self._open[0])
        self._open.remove(named)
        return named[0]

    def _parts(self, content: dict[str, Any], place: str) -> tuple[list[dict[str, Any]], list[Any]]:
        """Return the parts of a node's content that can be read, and those that cannot."""
        match content.get("content_type"):
            case "thoughts":
                return _thoughts(content), []
            case "text" | "multimodal_text" | None:
                return self._text_parts(content, place)
            case (
                "code"
                | "execution_output"
                | "system_error"
                | "tether_quote"
                | ("tether_browsing_display" | "sonic_webpage")
            ):
                known = ("content_type", "text", "result")
                detail = {k: v for k, v in content.items() if k not in known}
                if content.get("text") is not None and content.get("result") is not None:
                    detail["result"] = content["result"]
                return [text_part(_said(content), detail)], []
            case kind:
                self._keep(f"content of the type {kind!r} has no block", place, "unsupported_block")
                return [], [content]

    def _text_parts(
        self, content: dict[str, Any], place: str
    ) -> tuple[list[dict[str, Any]], list[Any]]:
        read: list[dict[str, Any]] = []
        unread: list[Any] = []
        parts = content.get("parts")
        for index, part in enumerate(parts if isinstance(parts, list) else [content.get("text")]):
            where = f"{place}.parts[{index}]"
            if isinstance(part, str):
                if part:
                    read.append(text_part(part))
            elif isinstance(part, dict) and isinstance(part.get("text"), str):
                read.append(text_part(part["text"], part))
            elif part is not None:
                code = "asset_pointer" if _is_pointer(part) else "unsupported_block"
                what = "a file that is not in this one" if code == "asset_pointer" else "no text"
                self._keep(f"the part is {what}", where, code)
                unread.append(part)
        return read, unread

    def _keep(self, what: str, place: str, code: str) -> None:
        message = f"{what}; it is kept in detail.unread_parts"
        self._notes.append(Note("kept", place, message, code))


def _content(message: dict[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, str):
        return {"content_type": "text", "parts": [content]}
    return content if isinstance(content, dict) else {}


def _role(message: dict[str, Any]) -> object:
    author = message.get("author")
    return author.get("role") if isinstance(author, dict) else message.get("role")


def _said(content: dict[str, Any]) -> str:
    for key in ("text", "result", "content"):
        if isinstance(content.get(key), str):
            return str(content[key])
    parts = content.get("parts")
    texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
    if texts:
        return "\n".join(texts)
    rest = {key: value for key, value in content.items() if key != "content_type"}
    return json.dumps(rest, ensure_ascii=False) if rest else ""


def _says(content: dict[str, Any]) -> bool:
    parts = [content.get("text"), content.get("thoughts"), *_listed(content.get("parts"))]
    return any(part.strip() if isinstance(part, str) else part for part in parts)


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _thoughts(content: dict[str, Any]) -> list[dict[str, Any]]:
    read = []
    for thought in _listed(content.get("thoughts")):
        if isinstance(thought, dict):
            text = thought.get("content") or thought.get("summary") or ""
            known = {"content", "finished"} | (
                {"summary"} if text == thought.get("summary") else set()
            )
            detail = {key: value for key, value in thought.items() if key not in known}
            read.append(reasoning_part(str(text), detail))
        else:
            read.append(reasoning_part(str(thought)))
    return read


def _is_pointer(part: object) -> bool:
    if not isinstance(part, dict):
        return False
    kind = str(part.get("content_type"))
    return "asset_pointer" in kind or any(key in part for key in _POINTERS)


def _detail(message: dict[str, Any], unread: list[Any]) -> dict[str, Any]:
    """Return what else is known of a message that tells of its content: model, files, weight."""
    metadata = message.get("metadata")
    known = metadata if isinstance(metadata, dict) else {}
    detail = {
        key: known[key]
        for key in (
            "model_slug",
            "attachments",
            "citations",
            "content_references",
            "finish_details",
        )
        if known.get(key) not in (None, [], {})
    }
    if message.get("weight") not in (None, 1, 1.0):
        detail["weight"] = message["weight"]
    if message.get("status") not in (None, "finished_successfully"):
        detail["status"] = message["status"]
    return {**leftovers(detail, ()), **({"unread_parts": unread} if unread else {})}


def _failed(message: dict[str, Any]) -> bool:
    metadata = message.get("metadata")
    ran = metadata.get("aggregate_result") if isinstance(metadata, dict) else None
    return isinstance(ran, dict) and str(ran.get("status", "")).startswith("failed")


def _has_text(wire: dict[str, Any]) -> bool:
    return any(part["type"] == "text" for part in wire["content"])


def _merge(wire: dict[str, Any], more: dict[str, Any]) -> None:
    """Put what a node adds to a turn behind what the turn has."""
    for key, value in more.items():
        if key in ("content", "unread_parts", "attachments"):
            wire[key] = [*_listed(wire.get(key)), *_listed(value)]
        elif key != "role":
            wire[key] = value
