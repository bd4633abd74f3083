"""Chat Completions and fine-tuning rows: ``{"messages": [{"role", "content"}], "tools"?}``.

Also rows of LLaMA-Factory, axolotl and Hugging Face in that shape, and logged calls:
``{"request": {"messages"}, "response": {"choices"}}`` and completions alone.
"""

from dataclasses import replace
from typing import Any

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
    read_turns,
    with_images,
    with_tools,
    write_openai_tools,
    write_turns,
)
from apps.dialogue.message import Message, text_message

_COMPLETION = "chat.completion"
_PARALLEL = "parallel_tool_calls"
_FINE_TUNING_KEYS = frozenset(
    ("role", "content", "name", "weight", "refusal", "tool_calls", "tool_call_id")
)
_ONLY_MESSAGES = "fine-tuning takes messages and tools and nothing beside them"


def recognises(row: dict[str, Any]) -> bool:
    return "messages" in row or _is_logged(row) or _is_completion(row)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    if "messages" in row:
        return _read_messages(row, notes)
    if _is_logged(row):
        return _read_logged(row, notes)
    if _is_completion(row):
        messages, others = _read_choices(row, notes, "")
        content = content_of(row, messages, notes, used=("choices",))
        return _with_others(content, others)
    raise ImportRefused("there is no list 'messages'", code="missing_messages")


def write(task: TaskContent, losses: list[Loss]) -> list[dict[str, Any]]:
    """Write a row as fine-tuning takes it; the task's key and attributes stand beside."""
    own: dict[str, Any] = {"messages": write_turns(task.messages, losses)}
    if tools := write_openai_tools(task.tools, losses):
        own["tools"] = tools
    reserved = ("tools", "functions", "images", "image", "request", "system")
    row = row_of(task, own, losses, reserved=reserved)
    check_written(task, row, read, losses)
    return [row]


def write_fine_tuning(task: TaskContent, losses: list[Loss]) -> list[dict[str, Any]]:
    """Write a row that holds nothing but what OpenAI's fine-tuning takes.

    That is messages, tools and ``parallel_tool_calls``; a key beside them, or one that is unknown
    in a message, makes the upload fail. The task's key is left out without a word.
    """
    row: dict[str, Any] = {"messages": write_turns(task.messages, losses)}
    for index, turn in enumerate(row["messages"]):
        for key in [key for key in turn if key not in _FINE_TUNING_KEYS]:
            del turn[key]
            losses.append(Loss(f"messages[{index}]", f"fine-tuning does not take {key}"))
    if tools := write_openai_tools(task.tools, losses):
        row["tools"] = tools
    for name, value in task.attributes.items():
        if name == _PARALLEL and isinstance(value, bool):
            row[name] = value
        else:
            losses.append(Loss(f"attributes.{name}", _ONLY_MESSAGES))
    losses += [Loss(name, _ONLY_MESSAGES) for name in ("tags", "candidates") if getattr(task, name)]
    check_written(task, row, read, losses)
    return [row]


def _read_messages(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    messages = read_turns(row["messages"], notes)
    used: tuple[str, ...] = ("messages",)
    if _has_system_beside(row, messages):
        notes.append(Note("converted", "system", "became the system message in front"))
        messages = (text_message("system", row["system"]), *messages)
        used = ("messages", "system")
    if any(row.get(key) for key in ("images", "image", "videos", "video", "audios", "audio")):
        messages = with_images(row, messages, notes)
    if "tools" in row or "functions" in row:
        row = with_tools(row, notes)
    return content_of(row, messages, notes, used=used)


def _has_system_beside(row: dict[str, Any], messages: tuple[Message, ...]) -> bool:
    """Whether the system text stands beside the messages, as LLaMA-Factory has it."""
    text = row.get("system")
    if not isinstance(text, str) or not text:
        return False
    return all(message.role != "system" for message in messages)


def _is_logged(row: dict[str, Any]) -> bool:
    request = row.get("request")
    return isinstance(request, dict) and isinstance(request.get("messages"), list)


def _is_completion(row: dict[str, Any]) -> bool:
    choices = row.get("choices")
    return (
        isinstance(choices, list)
        and bool(choices)
        and all(
            isinstance(each, dict) and isinstance(each.get("message"), dict) for each in choices
        )
        and row.get("object", _COMPLETION) == _COMPLETION
    )


def _read_logged(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    """Read a call as a log keeps it: the request, and the answer if there is one."""
    request = row["request"]
    messages = read_turns(request["messages"], notes, place="request.messages")
    others: tuple[Message, ...] = ()
    response = row.get("response")
    parts = {key: value for key, value in row.items() if key not in ("request", "response")}
    parts = {**{key: value for key, value in request.items() if key != "messages"}, **parts}
    if isinstance(response, dict) and _is_completion(response):
        answer, others = _read_choices(response, notes, "response.")
        messages += answer
        response = {key: value for key, value in response.items() if key != "choices"}
    if response is not None:
        parts["response"] = response
    return _with_others(content_of(with_tools(parts, notes), messages, notes), others)


def _read_choices(
    completion: dict[str, Any], notes: list[Note], place: str
) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """Return the message of the first choice, and those of the others."""
    read: list[Message] = []
    for index, choice in enumerate(completion["choices"]):
        wire = {"role": "assistant", **choice["message"]}
        read += read_turns([wire], notes, place=f"{place}choices[{index}].message")
    return tuple(read[:1]), tuple(read[1:])


def _with_others(content: TaskContent, others: tuple[Message, ...]) -> TaskContent:
    """Keep further choices as attributes: answers to the same conversation, in canonical shape."""
    if not others:
        return content
    kept = {"other_choices": [message.to_wire() for message in others]}
    return replace(content, attributes={**content.attributes, **kept})


FORMAT = RowFormat("openai_chat", "OpenAI chat and fine-tuning", recognises, read, write)


def _never(row: dict[str, Any]) -> bool:
    return False


FINE_TUNING = RowFormat(
    "openai_finetune", "OpenAI fine-tuning, nothing beside", _never, read, write_fine_tuning
)
