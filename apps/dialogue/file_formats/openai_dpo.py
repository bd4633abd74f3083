"""OpenAI's pairs: ``{"input": {"messages"}, "preferred_output", "non_preferred_output"}``.

Together, Fireworks and Azure take the same. Simplismart and ms-swift put ``rejected_response`` or
``rejected_messages`` beside ``messages``, which end in the preferred answer.
"""

from dataclasses import replace
from typing import Any

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import (
    Candidate,
    Loss,
    Note,
    RowFormat,
    TaskContent,
    check_written,
    content_of,
    row_of,
)
from apps.dialogue.file_formats.turns import (
    Pair,
    Side,
    check_pair,
    pair_candidates,
    pairs_of,
    read_answer,
    read_turns,
    split_pair,
    split_reply,
    with_tools,
    write_openai_tools,
    write_turns,
)
from apps.dialogue.message import Message

_SIDES = ("preferred_output", "non_preferred_output")
_REJECTED = ("rejected_response", "rejected_messages")
_PARALLEL = "parallel_tool_calls"
_RESERVED = ("messages", "conversation", "tools", "functions", *_REJECTED)


def recognises(row: dict[str, Any]) -> bool:
    if any(row.get(name) is not None for name in _SIDES):
        return True
    return isinstance(row.get("messages"), list) and _rejected_column(row) is not None


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    column = _rejected_column(row)
    if column is not None and not any(row.get(name) is not None for name in _SIDES):
        return _read_beside(row, column, notes)
    pair = Pair(
        Side(_SIDES[0], "chosen", read_answer(row.get(_SIDES[0]), notes, _SIDES[0])),
        Side(_SIDES[1], "rejected", read_answer(row.get(_SIDES[1]), notes, _SIDES[1])),
        _SIDES,
    )
    messages, rest = _read_input(row.get("input"), notes)
    taken = [key for key in rest if key in row]
    if taken:
        raise ImportRefused("stands in the row and in its input", place=taken[0])
    candidates = pair_candidates(pair, notes)
    parts = with_tools({**row, **rest}, notes)
    return replace(
        content_of(parts, messages, notes, used=("input", *_SIDES)), candidates=candidates
    )


def _rejected_column(row: dict[str, Any]) -> str | None:
    return next((name for name in _REJECTED if row.get(name) is not None), None)


def _read_input(value: object, notes: list[Note]) -> tuple[tuple[Message, ...], dict[str, Any]]:
    """Return the messages of the input, and everything else it holds."""
    if isinstance(value, list):
        return read_turns(value, notes, place="input"), {}
    if isinstance(value, str):
        return read_turns([{"role": "user", "content": value}], notes, place="input"), {}
    if not isinstance(value, dict):
        raise ImportRefused(f"must be an object with messages, not {kind_of(value)}", place="input")
    messages = read_turns(value.get("messages"), notes, place="input.messages")
    return messages, {key: each for key, each in value.items() if key != "messages"}


def _read_beside(row: dict[str, Any], column: str, notes: list[Note]) -> TaskContent:
    whole = read_turns(row.get("messages"), notes, place="messages")
    other = read_answer(row[column], notes, column)
    if other and other[0].role != "assistant":
        sides = Side("messages", "chosen", whole), Side(column, "rejected", other)
        prompt, pair = split_pair(Pair(*sides, ("messages", column)))
    else:
        prompt, reply = split_reply(whole)
        sides = Side("messages", "chosen", reply), Side(column, "rejected", other)
        pair = Pair(*sides, ("messages", column))
    candidates = pair_candidates(pair, notes)
    content = content_of(with_tools(row, notes), prompt, notes, used=pair.used)
    return replace(content, candidates=candidates)


def write(task: TaskContent, losses: list[Loss]) -> list[dict[str, Any]]:
    """Write a row for each chosen answer and each rejected one; OpenAI takes one message a side."""
    rows = []
    for pair in pairs_of(task, losses):
        single = [_is_one_message(each, place, losses) for each, place in pair.sides]
        if not all(single):
            continue
        own: dict[str, Any] = {"input": _input(task, losses)}
        for name, (candidate, place) in zip(_SIDES, pair.sides, strict=True):
            own[name] = write_turns(candidate.messages, losses, place=f"{place}.messages")
            if candidate.model or candidate.detail:
                known = [*(["model"] if candidate.model else []), *candidate.detail]
                fault = f"this format has no place for what is known of it ({', '.join(known)})"
                losses.append(Loss(place, fault))
        bare = replace(task, key=pair.key, attributes=_without_parallel(task))
        row = row_of(bare, own, losses, reserved=_RESERVED, candidates=True)
        check_written(task, row, read, losses)
        check_pair(pair, row, read, losses)
        rows.append(row)
    losses[:] = dict.fromkeys(losses)
    return rows


def _is_one_message(candidate: Candidate, place: str, losses: list[Loss]) -> bool:
    if len(candidate.messages) == 1 and candidate.messages[0].role == "assistant":
        return True
    fault = "this format takes exactly one message of the assistant on each side"
    losses.append(Loss(f"{place}.messages", fault))
    return False


def _input(task: TaskContent, losses: list[Loss]) -> dict[str, Any]:
    given: dict[str, Any] = {"messages": write_turns(task.messages, losses)}
    if tools := write_openai_tools(task.tools, losses):
        given["tools"] = tools
    parallel = task.attributes.get(_PARALLEL)
    return {**given, _PARALLEL: parallel} if isinstance(parallel, bool) else given


def _without_parallel(task: TaskContent) -> dict[str, Any]:
    if not isinstance(task.attributes.get(_PARALLEL), bool):
        return task.attributes
    return {name: value for name, value in task.attributes.items() if name != _PARALLEL}


FORMAT = RowFormat("openai_dpo", "OpenAI preference pairs (DPO)", recognises, read, write)
