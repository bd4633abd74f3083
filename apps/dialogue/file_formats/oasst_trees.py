"""OpenAssistant's trees: ``{"message_tree_id", "prompt": {"text", "role", "replies": [...]}}``.

The conversation goes from the prompt to the best reply each time; the other branches are kept as an
attribute.
"""

from typing import Any

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import ReplyNode, branch_attribute, read_path, split_tree


def recognises(row: dict[str, Any]) -> bool:
    prompt = row.get("prompt")
    return isinstance(prompt, dict) and ("replies" in prompt or "message_id" in prompt)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    nodes = _nodes(row.get("prompt"))
    (tree,), _ = split_tree(nodes)
    messages = read_path(tree.path, notes)
    key = row.get("message_tree_id") or tree.path[0].value.get("message_id")
    parts = {**row, **branch_attribute(tree.branches, notes)}
    if isinstance(key, str | int) and parts.get("id") in (None, ""):
        parts["id"] = key
    return content_of(parts, messages, notes, used=("prompt",))


def _nodes(prompt: object) -> list[ReplyNode]:
    """Return the messages of a nested tree; they are known by their places, ids may be missing."""
    nodes: list[ReplyNode] = []
    waiting: list[tuple[object, str | None, str]] = [(prompt, None, "prompt")]
    while waiting:
        value, parent, place = waiting.pop()
        if not isinstance(value, dict):
            raise ImportRefused(f"must be a message, not {kind_of(value)}", place=place)
        nodes.append(ReplyNode(place, parent, value, place))
        replies = value.get("replies")
        if replies is None:
            continue
        if not isinstance(replies, list):
            raise ImportRefused(
                f"must be a list of messages, not {kind_of(replies)}", place=f"{place}.replies"
            )
        waiting += [
            (reply, place, f"{place}.replies[{index}]")
            for index, reply in reversed(list(enumerate(replies)))
        ]
    return nodes


FORMAT = RowFormat("oasst_trees", "OpenAssistant trees", recognises, read)
