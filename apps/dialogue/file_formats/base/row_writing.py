"""What every row that is written shares: the task around the conversation, and the proof of it."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from apps.dialogue.blocks import Block
from apps.dialogue.blocks.json_values import json_copy
from apps.dialogue.errors import DialogueError
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.base.rows import Loss, TaskContent
from apps.dialogue.message import Message


def row_of(
    task: TaskContent,
    own: dict[str, Any],
    losses: list[Loss],
    *,
    reserved: Collection[str] = (),
    candidates: bool = False,
) -> dict[str, Any]:
    """Return a row: the task's key as ``id``, the keys that are the format's ``own``, attributes.

    An attribute whose name the format reads as something else (``reserved``, or one of ``own``) is
    left out, as a loss. So are candidates where the format has no place for them.
    """
    row: dict[str, Any] = {} if task.key is None else {"id": task.key}
    row.update(own)
    taken = {"id", *own, *reserved}
    for name, value in task.attributes.items():
        if name in taken or _has_meaning(name, value, task):
            fault = "this format has a key of its own with the name of the attribute"
            losses.append(Loss(f"attributes.{name}", fault))
        else:
            row[name] = json_copy(value)
    if task.tags:
        row["tags"] = list(task.tags)
    if task.candidates and not candidates:
        count = len(task.candidates)
        losses.append(Loss("candidates", f"this format has no place for candidates ({count})"))
    return row


def check_written(
    task: TaskContent,
    row: dict[str, Any],
    read: Callable[[dict[str, Any], list[Note]], TaskContent],
    losses: list[Loss],
) -> None:
    """Read the row back; what comes out different, and was not told yet, is a loss.

    So whatever a writer overlooks is said: a row without losses reads as the same conversation.
    """
    told = {loss.place for loss in losses}
    try:
        again = read(row, []).messages
    except DialogueError as error:
        losses.append(Loss(error.place, f"could not be read back: {error.message}"))
        return
    losses += [
        loss
        for loss in differences(task.messages, again)
        if not any(_within(loss.place, place) or _within(place, loss.place) for place in told)
    ]


def differences(before: Sequence[Message], after: Sequence[Message]) -> list[Loss]:
    """Say where a conversation that was read back is not the one that was written.

    Where messages or blocks are no longer one for one, the first such place is the last that is
    named: what follows cannot be compared.
    """
    found: list[Loss] = []
    for index, (old, new) in enumerate(zip(before, after, strict=False)):
        place = f"messages[{index}]"
        if old.role != new.role or len(old.blocks) != len(new.blocks):
            return [*found, Loss(place, "the message would be read back as another one")]
        if old.detail != new.detail:
            found.append(Loss(f"{place}.detail", _lost_keys(old.detail, new.detail)))
        for position, (block, other) in enumerate(zip(old.blocks, new.blocks, strict=True)):
            if block != other or type(block) is not type(other):
                found += _block_differences(block, other, f"{place}.blocks[{position}]")
    if len(before) != len(after):
        at = min(len(before), len(after))
        found.append(Loss(f"messages[{at}]", "messages would be joined or parted here"))
    return found


def _has_meaning(name: str, value: object, task: TaskContent) -> bool:
    """Whether an attribute would be read as the tools or the tags of the task."""
    if name == "tools":
        return bool(task.tools) or (isinstance(value, list) and bool(value))
    if name == "tags":
        texts = isinstance(value, list) and all(isinstance(tag, str) and tag for tag in value)
        return bool(task.tags) or (texts and bool(value))
    return False


def _within(place: str, outer: str) -> bool:
    return place == outer or place.startswith((f"{outer}.", f"{outer}["))


def _block_differences(block: Block, other: Block, place: str) -> list[Loss]:
    if type(block) is not type(other):
        return [Loss(place, f"the {block.type} block would be read back as {other.type}")]
    old, new = block.to_wire(), other.to_wire()
    found = []
    for name, value in old.items():
        if name == "detail" and value != new[name]:
            found.append(Loss(f"{place}.detail", _lost_keys(value, new[name])))
        elif value != new[name]:
            found.append(Loss(f"{place}.{name}", f"this format cannot carry the {name} exactly"))
    # Numbers that are equal, but not the same, like 1 and 1.0 and true.
    return found or [Loss(place, "would not be read back exactly")]


def _lost_keys(old: dict[str, Any] | None, new: dict[str, Any] | None) -> str:
    before, after = old or {}, new or {}
    lost = [key for key, value in before.items() if key not in after or after[key] != value]
    named = ", ".join(key if key.isprintable() else ascii(key) for key in lost[:8])
    return f"this format has no place for {named}" if named else "is not read back as it was"
