"""Claude's data export: ``{"uuid", "name", "chat_messages": [{"sender", "text", "content"}]}``.

A turn of the assistant holds the results of its tools too; they become turns of their own. Edited
messages are branches, where the export tells the parents of messages.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, Row, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import (
    MessageTree,
    PlacedTurn,
    branch_rows,
    call_part,
    make_tree,
    note_left_out,
    note_orphans,
    read_placed_turns,
    reasoning_part,
    result_turn,
    text_part,
)

_ROOT: Final = "00000000-0000-4000-8000-000000000000"
"""What the first message of a conversation names as its parent."""

_ROLES: Final = {"human": "user", "assistant": "assistant", "user": "user", "system": "system"}
_BOOKKEEPING: Final = frozenset(
    {
        "type", "text", "start_timestamp", "stop_timestamp", "flags", "input_json", "hidden",
        "alternative_display_type", "message", "display_content", "approval_options",
        "approval_key", "is_mcp_app", "mcp_server_url", "icon_name", "cut_off", "truncated",
    }
)  # fmt: skip
"""Keys of a block that tell how the page showed it."""

_TOLD: Final = ("model", "feedback", "input_mode")
_READ: Final = frozenset({
    "uuid", "parent_message_uuid", "sender", "role", "text", "content", "attachments", "files",
    "files_v2", *_TOLD,
})  # fmt: skip


def recognises(row: dict[str, Any]) -> bool:
    return isinstance(row.get("chat_messages"), list) or _wraps(row)


def expand(row: Row) -> Iterator[Row]:
    if not isinstance(row.value.get("chat_messages"), list) and _wraps(row.value):
        for index, each in enumerate(row.value["conversations"]):
            note = Note("converted", f"conversations[{index}]", "a conversation of the export")
            yield from expand(replace(row, value=each, notes=(*row.notes, note)))
        return
    messages = _messages(row.value)
    tree = _tree(messages)
    if tree is None:
        yield row
        return
    by_name = {str(message.get("uuid")): message for message in messages}
    current = row.value.get("current_leaf_message_uuid")
    yield from branch_rows(
        row,
        tree,
        lambda leaf: {**row.value, "chat_messages": [by_name[name] for name in tree.path(leaf)]},
        shown=frozenset(by_name),
        # Without that, the last message is the newest: the page showed its branch.
        current=current
        if isinstance(current, str) and current in by_name
        else str(messages[-1].get("uuid")),
        key=_key(row.value) or "",
        place="chat_messages",
    )


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    messages = _messages(row)
    if tree := _tree(messages):
        note_orphans(tree, notes, "chat_messages")
    reader = _Messages(notes)
    for index, message in enumerate(messages):
        reader.read(message, f"chat_messages[{index}]")
    note_left_out(messages, _READ, notes, "chat_messages")
    key = _key(row)
    keyed = {**row, "id": key} if key else row
    used = ("chat_messages", "current_leaf_message_uuid", *(["uuid"] if key else []))
    return content_of(keyed, read_placed_turns(reader.turns, notes), notes, used=used)


class _Messages:
    def __init__(self, notes: list[Note]) -> None:
        self.turns: list[PlacedTurn] = []
        self._notes = notes
        self._open: list[tuple[str, str]] = []
        self._made = 0

    def read(self, message: dict[str, Any], place: str) -> None:
        sender = message.get("sender", message.get("role"))
        role = _ROLES.get(sender, sender) if isinstance(sender, str) else sender
        detail = {key: message[key] for key in _TOLD if message.get(key) not in (None, {}, [])}
        self._open = []
        parts = [*self._attached(message, place)]
        unread = [*self._files(message, place)]
        began = len(self.turns)
        for where, block in _blocks(message, place):
            if block.get("type") == "tool_result":
                self._say(role, parts, unread, detail, place)
                parts, unread, detail = [], [], {}
                self._result(block, where)
            else:
                self._part(block, parts, unread, where)
        if parts or unread or detail or len(self.turns) == began:
            self._say(role, parts, unread, detail, place)

    def _say(
        self,
        role: object,
        parts: list[dict[str, Any]],
        unread: list[Any],
        detail: dict[str, Any],
        place: str,
    ) -> None:
        if not (parts or unread or detail) and self.turns and self.turns[-1].wire["role"] == "tool":
            return
        kept = {"unread_parts": unread} if unread else {}
        self.turns.append(PlacedTurn(place, {"role": role, "content": parts, **detail, **kept}))

    def _part(
        self, block: dict[str, Any], parts: list[dict[str, Any]], unread: list[Any], place: str
    ) -> None:
        detail = {key: value for key, value in block.items() if key not in _BOOKKEEPING}
        match block.get("type"):
            case "text" | "voice_note" if isinstance(block.get("text"), str):
                if block["text"] or detail.get("citations"):
                    parts.append(text_part(block["text"], detail))
            case "thinking" if isinstance(block.get("thinking"), str):
                detail.pop("thinking")
                parts.append(reasoning_part(block["thinking"], detail))
            case "tool_use" if isinstance(block.get("name"), str):
                parts.append(self._call(block, detail, place))
            case "token_budget" | "flag":
                reason = f"a {block['type']} block is no part of what was said"
                self._notes.append(Note("dropped", place, reason, "bookkeeping"))
            case kind:
                reason = f"a block of the type {kind!r} is kept in detail.unread_parts"
                self._notes.append(Note("kept", place, reason, "unsupported_block"))
                unread.append(block)

    def _call(self, block: dict[str, Any], detail: dict[str, Any], place: str) -> dict[str, Any]:
        call_id = block.get("id")
        if not isinstance(call_id, str) or not call_id:
            # Exports before 2025 had no ids: a result follows its call.
            call_id = self._invent("the call had no id: one was made", place)
        name = str(block["name"])
        self._open.append((call_id, name))
        return call_part(name, block.get("input"), call_id=call_id, detail=detail)

    def _result(self, block: dict[str, Any], place: str) -> None:
        detail = {
            key: value
            for key, value in block.items()
            if key not in _BOOKKEEPING and key not in ("content", "tool_use_id", "name", "is_error")
        }
        name = block.get("name") if isinstance(block.get("name"), str) else None
        content = block.get("content")
        shown = [_result_part(part) for part in content] if isinstance(content, list) else content
        wire = result_turn(
            shown,
            call_id=self._answered(block.get("tool_use_id"), name, place),
            name=name,
            is_error=block.get("is_error") is True,
            detail=detail,
        )
        self.turns.append(PlacedTurn(place, wire))

    def _answered(self, given: object, name: str | None, place: str) -> str:
        waiting = [each for each in self._open if given in (None, "", each[0])]
        found = next((each for each in waiting if name in (None, each[1])), None)
        found = found or (waiting[0] if waiting else None)
        if found:
            self._open.remove(found)
            return found[0]
        reason = "the result answers no call before it"
        self._notes.append(Note("kept", place, reason, "orphan_tool_result"))
        if isinstance(given, str) and given:
            return given
        return self._invent("the result had no id: one was made", place)

    def _invent(self, reason: str, place: str) -> str:
        self._notes.append(Note("invented", place, reason, "ids_invented"))
        self._made += 1
        return f"call_{self._made}"

    def _attached(self, message: dict[str, Any], place: str) -> Iterator[dict[str, Any]]:
        """Give the texts of attached files: Claude read them before the message itself."""
        for index, each in enumerate(_listed(message.get("attachments"))):
            text = each.get("extracted_content") if isinstance(each, dict) else None
            if isinstance(text, str) and text:
                detail = {key: value for key, value in each.items() if key != "extracted_content"}
                where = f"{place}.attachments[{index}]"
                self._notes.append(
                    Note("converted", where, "the attached text became a text", "attachment")
                )
                yield text_part(text, {"attachment": detail})

    def _files(self, message: dict[str, Any], place: str) -> Iterator[Any]:
        named = [
            (f"{place}.{key}[{index}]", each)
            for key in ("attachments", "files", "files_v2")
            for index, each in enumerate(_listed(message.get(key)))
            if not (isinstance(each, dict) and each.get("extracted_content"))
        ]
        seen: list[Any] = []
        for where, each in named:
            identity = each.get("file_uuid", each) if isinstance(each, dict) else each
            if identity in seen:
                continue
            seen.append(identity)
            reason = "the file is not in the export; it is kept in detail.unread_parts"
            self._notes.append(Note("kept", where, reason, "asset_pointer"))
            yield each


def _blocks(message: dict[str, Any], place: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the blocks of a message; its text stands for them where there are none."""
    content = message.get("content")
    if isinstance(content, str) and content:
        return [(f"{place}.content", {"type": "text", "text": content})]
    blocks = []
    for index, each in enumerate(_listed(content)):
        where = f"{place}.content[{index}]"
        block = {"type": "text", "text": each} if isinstance(each, str) else each
        if not isinstance(block, dict):
            raise ImportRefused("a block must be an object", place=where, code="bad_turn")
        blocks.append((where, block))
    said = any(block.get("text") or block.get("type") != "text" for _, block in blocks)
    text = message.get("text")
    if isinstance(text, str) and text and not said:
        return [(f"{place}.text", {"type": "text", "text": text})]
    return blocks


def _result_part(part: object) -> object:
    if isinstance(part, dict) and part.get("type") in ("text", None):
        known = _BOOKKEEPING - {"type", "text"} | {"uuid"}
        return {key: value for key, value in part.items() if key not in known}
    return part


def _messages(row: dict[str, Any]) -> list[dict[str, Any]]:
    messages = _listed(row.get("chat_messages"))
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            place = f"chat_messages[{index}]"
            raise ImportRefused("a message must be an object", place=place, code="bad_turn")
    if not messages:
        raise ImportRefused(
            "the conversation is empty", place="chat_messages", code="empty_conversation"
        )
    return messages


def _tree(messages: list[dict[str, Any]]) -> MessageTree | None:
    """Return the tree of messages, None where the export does not tell their parents."""
    names = [message.get("uuid") for message in messages]
    parents = [message.get("parent_message_uuid") for message in messages]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        return None
    if not any(parents):
        return None
    return make_tree(
        {
            str(name): parent if isinstance(parent, str) and parent != _ROOT else None
            for name, parent in zip(names, parents, strict=True)
        }
    )


def _key(row: dict[str, Any]) -> str | None:
    key = row.get("id") or row.get("uuid")
    return key if isinstance(key, str) and key else None


def _wraps(row: dict[str, Any]) -> bool:
    conversations = row.get("conversations")
    return isinstance(conversations, list) and any(
        isinstance(each, dict) and isinstance(each.get("chat_messages"), list)
        for each in conversations
    )


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


FORMAT = RowFormat("claude_export", "Claude data export", recognises, read, expand=expand)
