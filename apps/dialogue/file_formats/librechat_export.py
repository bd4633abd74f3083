"""LibreChat's export: ``{"conversationId", "messages": [...]}``, flat or a tree of ``children``.

``recursive`` exports have ``messagesTree`` (or ``messages``) whose messages hold the ones that
follow; flat ones name the parent of each. Each branch is a conversation of its own.
"""

from collections.abc import Iterator
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

_ROOT: Final = "00000000-0000-0000-0000-000000000000"
_LISTS: Final = ("messagesTree", "messages")
_SYSTEM: Final = ("promptPrefix", "system", "instructions")
_TOLD: Final = ("model", "finish_reason", "error", "unfinished", "feedback", "iconURL", "endpoint")
_READ: Final = frozenset({
    "messageId", "parentMessageId", "conversationId", "isCreatedByUser", "sender", "role", "text",
    "content", "files", "attachments", "image_urls", *_TOLD,
})  # fmt: skip
_SPEAKERS: Final = ("user", "assistant", "human", "ai")


def recognises(row: dict[str, Any]) -> bool:
    if "conversationId" not in row or not any(isinstance(row.get(key), list) for key in _LISTS):
        return False
    messages = _listed(row)
    return not messages or any(
        isinstance(each, dict) and ("isCreatedByUser" in each or "messageId" in each)
        for each in messages
    )


def expand(row: Row) -> Iterator[Row]:
    messages = _flat(row.value)
    tree = _tree(messages)
    key = row.value.get("conversationId")

    def branch(leaf: str) -> dict[str, Any]:
        kept = {name: value for name, value in row.value.items() if name not in _LISTS}
        path = [messages[name] for name in tree.path(leaf)]
        return {**kept, "messages": path, "recursive": False}

    yield from branch_rows(
        row,
        tree,
        branch,
        shown=frozenset(messages),
        current=None,
        key=key if isinstance(key, str) else "",
        place="messages",
    )


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    messages = _flat(row)
    tree = _tree(messages)
    note_orphans(tree, notes, "messages")
    leaves = tree.leaves(frozenset(messages))
    if not leaves:
        raise ImportRefused("the messages go in a circle", place="messages", code="orphan_parent")
    turns = _system(row, notes)
    reader = _Messages(turns, notes)
    path = tree.path(leaves[-1])
    for name in path:
        reader.read(messages[name], f"messages.{name}")
    note_left_out((messages[name] for name in path), _READ, notes, "messages")
    keyed = row if row.get("id") else {**row, "id": row.get("conversationId")}
    used = (*_LISTS, "recursive", "branches")
    return content_of(keyed, read_placed_turns(turns, notes), notes, used=used)


class _Messages:
    def __init__(self, turns: list[PlacedTurn], notes: list[Note]) -> None:
        self._turns = turns
        self._notes = notes

    def read(self, message: dict[str, Any], place: str) -> None:
        role = _role(message)
        detail = {k: message[k] for k in _TOLD if message.get(k) not in (None, False, "", {})}
        sender = message.get("sender")
        if isinstance(sender, str) and sender and sender.lower() not in _SPEAKERS:
            detail["sender"] = sender
        parts: list[Any] = []
        unread = self._files(message, place)
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        text = message.get("text")
        if not blocks and isinstance(text, str) and text:
            parts.append(text_part(text))
        for index, block in enumerate(blocks):
            where = f"{place}.content[{index}]"
            call = block.get("tool_call") if isinstance(block, dict) else None
            if isinstance(call, dict) and isinstance(call.get("name"), str) and call["name"]:
                parts.append(self._call(call, where))
                if call.get("output") is not None:
                    self._say(role, parts, unread, detail, place)
                    parts, unread, detail = [], [], {}
                    answer = result_turn(call["output"], call_id=self._id(call, where))
                    self._turns.append(PlacedTurn(where, answer))
            else:
                self._block(block, parts, unread, where)
        if parts or unread or detail or not blocks:
            self._say(role, parts, unread, detail, place)

    def _say(
        self, role: object, parts: list[Any], unread: list[Any], detail: dict[str, Any], place: str
    ) -> None:
        kept = {"unread_parts": unread} if unread else {}
        self._turns.append(PlacedTurn(place, {"role": role, "content": parts, **detail, **kept}))

    def _block(self, block: object, parts: list[Any], unread: list[Any], place: str) -> None:
        if isinstance(block, str):
            parts.append(text_part(block))
            return
        kind = block.get("type") if isinstance(block, dict) else None
        said = _said(block.get(kind)) if isinstance(block, dict) and isinstance(kind, str) else None
        if kind == "text" and said is not None:
            if said:
                parts.append(text_part(said))
        elif kind == "think" and said is not None:
            parts.append(reasoning_part(said))
        elif kind == "image_url":
            parts.append(block)
        else:
            reason = f"a part of the type {kind!r} is kept in detail.unread_parts"
            code = "asset_pointer" if kind == "image_file" else "unsupported_block"
            self._notes.append(Note("kept", place, reason, code))
            unread.append(block)

    def _call(self, call: dict[str, Any], place: str) -> dict[str, Any]:
        if not call.get("id"):
            reason = "the call had no id: one was made"
            self._notes.append(Note("invented", place, reason, "ids_invented"))
        detail = {key: value for key, value in call.items() if key not in ("output", "progress")}
        return call_part(
            call["name"], call.get("args"), call_id=self._id(call, place), detail=detail
        )

    def _id(self, call: dict[str, Any], place: str) -> str:
        given = call.get("id")
        return given if isinstance(given, str) and given else f"call_{place}"

    def _files(self, message: dict[str, Any], place: str) -> list[Any]:
        unread = []
        for key in ("files", "attachments", "image_urls"):
            found = message.get(key)
            listed: list[Any] = found if isinstance(found, list) else []
            for index, each in enumerate(listed):
                reason = "the file is not in the export; it is kept in detail.unread_parts"
                where = f"{place}.{key}[{index}]"
                self._notes.append(Note("kept", where, reason, "asset_pointer"))
                unread.append(each)
        return unread


def _listed(row: dict[str, Any]) -> list[Any]:
    return next((list(row[key]) for key in _LISTS if isinstance(row.get(key), list)), [])


def _flat(row: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the messages by id, each with its parent, in the order of the file."""
    flat: dict[str, dict[str, Any]] = {}
    before: str | None = None
    waiting: list[tuple[object, str | None]] = [(each, None) for each in reversed(_listed(row))]
    while waiting:
        message, parent = waiting.pop()
        if not isinstance(message, dict):
            raise ImportRefused("a message must be an object", place="messages", code="bad_turn")
        name = message.get("messageId")
        if not isinstance(name, str) or name in flat:
            name = f"message-{len(flat)}"
        if parent is None and "parentMessageId" not in message:
            parent = before
        children = message.get("children")
        held = {key: value for key, value in message.items() if key != "children"}
        if parent is not None:
            held["parentMessageId"] = parent
        flat[name] = {**held, "messageId": name}
        before = name
        waiting += [(c, name) for c in reversed(children if isinstance(children, list) else [])]
    if not flat:
        raise ImportRefused(
            "the conversation is empty", place="messages", code="empty_conversation"
        )
    return flat


def _tree(messages: dict[str, dict[str, Any]]) -> MessageTree:
    parents = {name: message.get("parentMessageId") for name, message in messages.items()}
    return make_tree(
        {
            name: parent if isinstance(parent, str) and parent not in ("", _ROOT) else None
            for name, parent in parents.items()
        }
    )


def _role(message: dict[str, Any]) -> object:
    by_user = message.get("isCreatedByUser")
    if isinstance(by_user, bool):
        return "user" if by_user else "assistant"
    sender = message.get("sender", message.get("role"))
    return sender.lower() if isinstance(sender, str) else sender


def _said(value: object) -> str | None:
    """Return the text of a part: itself, or ``{"value": text}`` as assistants have it."""
    if isinstance(value, dict):
        value = value.get("value")
    return value if isinstance(value, str) else None


def _system(row: dict[str, Any], notes: list[Note]) -> list[PlacedTurn]:
    options = row.get("options")
    for key in _SYSTEM:
        text = options.get(key) if isinstance(options, dict) else None
        if isinstance(text, str) and text.strip():
            place = f"options.{key}"
            notes.append(Note("converted", place, "the instructions became a system turn"))
            return [PlacedTurn(place, {"role": "system", "content": text})]
    return []


FORMAT = RowFormat("librechat_export", "LibreChat export", recognises, read, expand=expand)
