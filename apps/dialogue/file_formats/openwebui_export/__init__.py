"""Open WebUI's chat export: ``{"chat": {"history": {"messages": {id: message}, "currentId"}}}``.

Messages are a tree; each branch is a conversation. An answer holds the items of its making under
``output``; older ones have reasoning and calls as HTML in their ``content``.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, Row, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.openwebui_export.answers import read_answer
from apps.dialogue.file_formats.turns import (
    MessageTree,
    PlacedTurn,
    branch_rows,
    make_tree,
    note_orphans,
    read_placed_turns,
    text_part,
)

_SHOWN = frozenset(
    {
        "id", "parentId", "childrenIds", "role", "content", "output", "timestamp", "models",
        "files", "done", "modelIdx", "modelName", "userContext", "lastSentence", "info", "usage",
        "statusHistory", "originalContent",
    }
)  # fmt: skip
"""Keys of a message that are read, or that tell how the page showed it."""


def recognises(row: dict[str, Any]) -> bool:
    chat = row.get("chat")
    return isinstance(chat, dict) and ("history" in chat or isinstance(chat.get("messages"), list))


def expand(row: Row) -> Iterator[Row]:
    chat, messages, place = _messages(row.value)
    tree = _tree(messages)
    key = row.value.get("id")

    def branch(leaf: str) -> dict[str, Any]:
        path = {name: messages[name] for name in tree.path(leaf)}
        history = {"messages": path, "currentId": leaf}
        rest = {name: value for name, value in chat.items() if name != "messages"}
        return {**row.value, "chat": {**rest, "history": history}}

    yield from branch_rows(
        row,
        tree,
        branch,
        shown=frozenset(messages),
        current=_current(chat, messages),
        key=key if isinstance(key, str) else "",
        place=place,
    )


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    chat, messages, place = _messages(row)
    tree = _tree(messages)
    note_orphans(tree, notes, place)
    current = _current(chat, messages)
    if current is None:
        leaves = tree.leaves(frozenset(messages))
        if not leaves:
            raise ImportRefused("the messages go in a circle", place=place, code="orphan_parent")
        current = leaves[-1]
    turns = _system(chat, notes)
    for name in tree.path(current):
        message = messages[name]
        if message.get("role") == "assistant":
            turns += read_answer(message, _kept(message), notes, f"{place}.{name}")
        else:
            turns.append(_asked(message, notes, f"{place}.{name}"))
    read_messages = read_placed_turns(turns, notes)
    rest = {
        name: value
        for name, value in chat.items()
        if name not in ("history", "messages", "title") and value not in (None, "", [], {})
    }
    kept = {name: value for name, value in row.items() if name != "chat"}
    title = {} if "title" in row or not chat.get("title") else {"title": chat["title"]}
    keyed = {**kept, **title, **({"chat": rest} if rest else {})}
    return content_of(keyed, read_messages, notes)


def _messages(row: dict[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]], str]:
    """Return the chat, its messages by id, and where they are."""
    chat = row.get("chat")
    if not isinstance(chat, dict):
        raise ImportRefused("there is no chat", place="chat", code="missing_mapping")
    history = chat.get("history")
    messages = history.get("messages") if isinstance(history, dict) else None
    place = "chat.history.messages"
    if not messages and isinstance(chat.get("messages"), list):
        messages, place = _linked(chat["messages"]), "chat.messages"
    if not isinstance(messages, dict) or not messages:
        raise ImportRefused("the chat has no messages", place=place, code="empty_conversation")
    for name, message in messages.items():
        if not isinstance(message, dict):
            raise ImportRefused(
                "a message must be an object", place=f"{place}.{name}", code="bad_turn"
            )
    return chat, messages, place


def _linked(messages: list[Any]) -> dict[str, Any]:
    """Return messages that stand in a list by id, each the child of the one before it."""
    linked: dict[str, Any] = {}
    before: str | None = None
    for index, message in enumerate(messages):
        name = f"{index}"
        is_tree = isinstance(message, dict) and isinstance(message.get("id"), str)
        if is_tree and message["id"] not in linked:
            name = message["id"]
        linked[name] = {**message, "parentId": before} if isinstance(message, dict) else message
        before = name
    return linked


def _tree(messages: Mapping[str, dict[str, Any]]) -> MessageTree:
    parents = {
        name: parent if isinstance(parent := message.get("parentId"), str) else None
        for name, message in messages.items()
    }
    order = {
        name: children if isinstance(children := message.get("childrenIds"), list) else []
        for name, message in messages.items()
    }
    return make_tree(parents, order)


def _current(chat: dict[str, Any], messages: Mapping[str, Any]) -> str | None:
    history = chat.get("history")
    current = history.get("currentId") if isinstance(history, dict) else None
    return current if isinstance(current, str) and current in messages else None


def _system(chat: dict[str, Any], notes: list[Note]) -> list[PlacedTurn]:
    params = chat.get("params")
    for place, value in (
        ("chat.system", chat.get("system")),
        ("chat.params.system", params.get("system") if isinstance(params, dict) else None),
    ):
        if isinstance(value, str) and value:
            notes.append(Note("converted", place, "the system prompt became a system turn"))
            return [PlacedTurn(place, {"role": "system", "content": value})]
    return []


def _asked(message: dict[str, Any], notes: list[Note], place: str) -> PlacedTurn:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    if isinstance(content, str) and content:
        parts = [text_part(content)]
    elif content is not None and not isinstance(content, str | list):
        parts = [content]
    unread: list[Any] = []
    files = message.get("files")
    for index, each in enumerate(files if isinstance(files, list) else []):
        url = each.get("url") if isinstance(each, dict) else None
        if isinstance(url, str) and url[:5].lower() == "data:":
            rest = {key: value for key, value in each.items() if key not in ("type", "url")}
            parts = [*parts, {"type": "image_url", "image_url": {"url": url, **rest}}]
        else:
            reason = "the file is not in the export; it is kept in detail.unread_parts"
            notes.append(Note("kept", f"{place}.files[{index}]", reason, "asset_pointer"))
            unread.append(each)
    kept = {"unread_parts": unread} if unread else {}
    return PlacedTurn(
        place, {"role": message.get("role"), "content": parts, **_kept(message), **kept}
    )


def _kept(message: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in message.items()
        if key not in _SHOWN and value not in (None, "", [], {}, False)
    }


FORMAT = RowFormat("openwebui_export", "Open WebUI chat export", recognises, read, expand=expand)
