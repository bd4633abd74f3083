"""ShareGPT and its kin: ``{"conversations": [{"from", "value"}], "system"?, "tools"?: JSON text}``.

The list may be called ``items`` or ``conversation``, and hold objects with a question and its
answer (Firefly, XTuner). Conversations may begin with the assistant: they were cut from longer
ones.
"""

import json
from collections.abc import Iterator
from typing import Any, Final, assert_never

from apps.dialogue.blocks import (
    Block,
    ImageBlock,
    ReasoningBlock,
    Role,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from apps.dialogue.blocks.json_values import json_copy
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import (
    Loss,
    Note,
    RowFormat,
    TaskContent,
    check_written,
    content_of,
    row_of,
)
from apps.dialogue.file_formats.turns import (
    is_turn_pair,
    read_dialogue,
    text_turn,
    with_images,
    with_tools,
    write_openai_tools,
)
from apps.dialogue.message import Message
from apps.dialogue.provider_formats.base import ERROR_MARKER

_COLUMNS = ("conversations", "conversation", "items")
_MEDIA = ("images", "image", "videos", "video", "audios", "audio")
_CARRIED = ("name", "weight", "loss_weight", "train", "train_detail")
"""What trainers have a place for in a turn, and we keep in its detail."""

_SPEAKERS: Final[dict[Role, str]] = {"system": "system", "user": "human", "assistant": "gpt"}


def recognises(row: dict[str, Any]) -> bool:
    return _column(row) is not None


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    column = _column(row)
    if column is None:
        raise ImportRefused("there is no list 'conversations' of turns", place="conversations")
    messages = read_dialogue(row[column], notes, place=column)
    if any(row.get(name) for name in _MEDIA):
        messages = with_images(row, messages, notes, place=column)
    used = [column]
    if isinstance(row.get("system"), str | None):
        used.append("system")
        messages = (*_system(row.get("system"), messages, notes), *messages)
    return content_of(with_tools(row, notes), messages, notes, used=used)


def _column(row: dict[str, Any]) -> str | None:
    return next((name for name in _COLUMNS if _holds_turns(row.get(name), name)), None)


def _holds_turns(turns: object, name: str) -> bool:
    if not isinstance(turns, list):
        return False
    if not turns:
        return name == "conversations"
    return any(
        isinstance(turn, dict)
        and (
            any(key in turn for key in ("from", "value", "speaker", "sender"))
            or ("content" in turn and "role" in turn and name != "items")
            or is_turn_pair(turn)
        )
        for turn in turns
    )


def _system(
    text: str | None, messages: tuple[Message, ...], notes: list[Note]
) -> tuple[Message, ...]:
    """Return the system text beside the turns as a message, unless they begin with the same one."""
    if not text:
        return ()
    if messages[:1] and messages[0].role == "system" and messages[0].text == text:
        fault = "the conversation begins with the same text, which stands there once"
        notes.append(Note("converted", "system", fault))
        return ()
    return (text_turn("system", text, notes, "system"),)


def write(task: TaskContent, losses: list[Loss]) -> list[dict[str, Any]]:
    """Write turns with from and value; calls and results are turns, tools are JSON text.

    Ids of calls are written where they are not those a reader would make.
    """
    found: list[Loss] = []
    plain = _row(task, found, ids=False)
    if any(isinstance(block, ToolCallBlock | ToolResultBlock) for block in _blocks(task)):
        again: list[Loss] = []
        check_written(task, plain, read, again)
        if again:
            found = []
            plain = _row(task, found, ids=True)
    check_written(task, plain, read, found)
    losses += found
    return [plain]


def _blocks(task: TaskContent) -> Iterator[Block]:
    for message in task.messages:
        yield from message.blocks


def _row(task: TaskContent, losses: list[Loss], *, ids: bool) -> dict[str, Any]:
    own: dict[str, Any] = {}
    turns = []
    for index, message in enumerate(task.messages):
        turns += _Turns(message, losses, f"messages[{index}]", ids=ids).write()
    own["conversations"] = turns
    if _has_system_text(turns):
        own = {"conversations": turns[1:], "system": turns[0]["value"]}
    if tools := write_openai_tools(task.tools, losses):
        for position, tool in enumerate(tools):
            if set(tool) - {"type", "function"}:
                losses.append(Loss(f"tools[{position}]", "the format has functions alone"))
        own["tools"] = json.dumps([tool["function"] for tool in tools], ensure_ascii=False)
    reserved = (*_COLUMNS, *_MEDIA, "system", "tools", "functions", "chosen", "rejected")
    return row_of(task, own, losses, reserved=reserved)


def _has_system_text(turns: list[dict[str, Any]]) -> bool:
    """Whether the first turn may stand beside the others, where trainers look for it."""
    return (
        len(turns) > 1
        and turns[0]["from"] == "system"
        and turns[1]["from"] != "system"
        and set(turns[0]) == {"from", "value"}
        and bool(turns[0]["value"])
    )


class _Turns:
    """Writes a message as one turn or more."""

    def __init__(self, message: Message, losses: list[Loss], place: str, *, ids: bool) -> None:
        self._message = message
        self._losses = losses
        self._place = place
        self._ids = ids

    def write(self) -> list[dict[str, Any]]:
        turns = self._results()
        texts = [block.text for block in self._message.blocks if isinstance(block, TextBlock)]
        if texts:
            turns.append({"from": _SPEAKERS[self._message.role], "value": "\n".join(texts)})
        if calls := [self._call(b) for b in self._message.blocks if isinstance(b, ToolCallBlock)]:
            text = json.dumps(calls[0] if len(calls) == 1 else calls, ensure_ascii=False)
            turns.append({"from": "function_call", "value": text})
        if texts and len(turns) > 1:
            fault = "a text beside calls or results becomes a turn of its own"
            self._losses.append(Loss(self._place, fault))
        if not turns:
            self._losses.append(Loss(self._place, "nothing of the message can be written"))
            return []
        detail = self._message.detail or {}
        carried = {key: json_copy(detail[key]) for key in _CARRIED if detail.get(key) is not None}
        return [*turns[:-1], {**turns[-1], **carried}]

    def _results(self) -> list[dict[str, Any]]:
        """Return the turns of results, and note the blocks that have no place."""
        turns = []
        for position, block in enumerate(self._message.blocks):
            where = f"{self._place}.blocks[{position}]"
            match block:
                case ToolResultBlock():
                    turns.append(self._result(block, where))
                case ImageBlock():
                    self._losses.append(Loss(where, "the format has no place for an image"))
                case ReasoningBlock():
                    self._losses.append(Loss(where, "the format has no place for reasoning"))
                case TextBlock() | ToolCallBlock():
                    pass
                case _:
                    assert_never(block)
        return turns

    def _call(self, block: ToolCallBlock) -> dict[str, Any]:
        given = {"id": block.id} if self._ids else {}
        return {**given, "name": block.name, "arguments": block.input}

    def _result(self, block: ToolResultBlock, where: str) -> dict[str, Any]:
        texts = [each.text for each in block.blocks if isinstance(each, TextBlock)]
        if len(texts) < len(block.blocks):
            self._losses.append(Loss(where, "the format has no place for an image"))
        if block.is_error:
            self._losses.append(Loss(where, "that the result is an error stands in its text alone"))
            texts = [ERROR_MARKER, *texts]
        given = {"tool_call_id": block.tool_call_id} if self._ids else {}
        return {"from": "observation", "value": "\n".join(texts), **given}


FORMAT = RowFormat("sharegpt", "ShareGPT and Vicuna", recognises, read, write)
