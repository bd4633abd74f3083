"""Preference pairs of messages: ``{"prompt"?, "chosen": [message], "rejected": [message]}``.

TRL, UltraFeedback binarized, axolotl, LLaMA-Factory v1. Both sides may repeat the conversation; the
prompt is then the longest prefix they have in common. ``messages`` repeats the chosen side
(UltraFeedback) or is the conversation before both (axolotl).
"""

from dataclasses import replace
from typing import Any

from apps.dialogue.blocks.json_values import json_copy
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
    PAIR_COLUMNS,
    Pair,
    check_pair,
    pair_candidates,
    pair_columns,
    pairs_of,
    read_answer,
    read_pair,
    read_question,
    side_of,
    split_pair,
    with_tools,
    write_openai_tools,
    write_turns,
)
from apps.dialogue.message import Message

_PROMPTS = ("prompt", "prompt_messages", "messages")
_RESERVED = (
    *_PROMPTS, "system", "system_prompt", "history", "conversations", "tools", "functions",
    *(name for columns in PAIR_COLUMNS for name in columns),
)  # fmt: skip


def recognises(row: dict[str, Any]) -> bool:
    columns = pair_columns(row)
    if columns is None:
        return False
    # Two texts may answer a prompt that is a list of messages.
    prompts = [row.get(name) for name in _PROMPTS]
    return any(isinstance(each, list | dict) for each in [row[name] for name in columns] + prompts)


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    columns = pair_columns(row)
    if columns is None:
        raise ImportRefused("there are no messages 'chosen' and 'rejected'", place="chosen")
    pair = read_pair(row, columns, notes)
    prompt, used = _given_prompt(row, pair, notes)
    if prompt and _begins_itself(pair) and not _repeats(pair, prompt):
        fault = "is not what the sides begin with: kept as an attribute"
        notes.append(Note("kept", used[-1], fault, "prompt_differs"))
        prompt, used = (), used[:-1]
    if prompt:
        pair = _without_prompt(pair, prompt)
    else:
        prompt, pair = split_pair(pair)
    candidates = pair_candidates(pair, notes)
    kept = _renamed(with_tools(row, notes), notes)
    content = content_of(kept, prompt, notes, used=(*used, *pair.used))
    return replace(content, candidates=candidates)


def _renamed(row: dict[str, Any], notes: list[Note]) -> dict[str, Any]:
    """Name the column anew that holds the conversation besides the sides (Capybara): a task has
    its own under that name."""
    if "conversation" not in row:
        return row
    name = "source_conversation"
    while name in row:
        name += "_"
    reason = f"both sides hold what was asked: the column is kept as the attribute {name!r}"
    notes.append(Note("kept", "conversation", reason, "renamed_attribute"))
    return {name if key == "conversation" else key: value for key, value in row.items()}


def _given_prompt(
    row: dict[str, Any], pair: Pair, notes: list[Note]
) -> tuple[tuple[Message, ...], tuple[str, ...]]:
    """Return the messages before both answers as the row names them, and the columns that do.

    No messages where both sides repeat the conversation: what they repeat is the prompt.
    """
    used = [name for name in _PROMPTS if name in row and row[name] in (None, [])]
    repeats = [name for name in ("messages",) if _is_side(row, name, pair)]
    used += repeats
    for name in _PROMPTS:
        if isinstance(row.get(name), list | dict) and row[name] and name not in repeats:
            if name == "messages" and _begins_itself(pair):
                continue  # the sides hold the whole conversation; this list stays an attribute
            return read_answer(row[name], notes, name), (*used, name)
    if not _begins_itself(pair):
        question = read_question(row, notes)
        return question.messages, (*used, *question.used)
    return (), (*used, *_repeated_prompt(row, pair, notes))


def _is_side(row: dict[str, Any], name: str, pair: Pair) -> bool:
    value = row.get(name)
    return bool(value) and any(value == row.get(side.name) for side in pair.sides)


def _begins_itself(pair: Pair) -> bool:
    """Tell whether the sides hold what was asked too, not the answers alone."""
    return any(side.messages and side.messages[0].role != "assistant" for side in pair.sides)


def _repeated_prompt(row: dict[str, Any], pair: Pair, notes: list[Note]) -> tuple[str, ...]:
    """Return the columns whose text the sides hold as well; others stay attributes."""
    said = {message.text for message in (*pair.chosen.messages, *pair.rejected.messages)}
    used = []
    for name in ("prompt", "system"):
        text = row.get(name)
        if isinstance(text, str) and text:
            if text in said:
                used.append(name)
            else:
                fault = "says something that neither side does: kept as an attribute"
                notes.append(Note("kept", name, fault, "prompt_differs"))
    return tuple(used)


def _repeats(pair: Pair, prompt: tuple[Message, ...]) -> bool:
    return any(side.messages[: len(prompt)] == prompt for side in pair.sides)


def _without_prompt(pair: Pair, prompt: tuple[Message, ...]) -> Pair:
    """Take the prompt off the sides that repeat it."""
    sides = [
        side.after(len(prompt)) if side.messages[: len(prompt)] == prompt else side
        for side in pair.sides
    ]
    return Pair(sides[0], sides[1], pair.used)


def write(task: TaskContent, losses: list[Loss]) -> list[dict[str, Any]]:
    """Write a row for each chosen answer and each rejected one, as TRL takes them.

    What is known of an answer stands beside it, like ``chosen_model`` and ``chosen_score``.
    """
    rows = []
    for pair in pairs_of(task, losses):
        own: dict[str, Any] = {"prompt": write_turns(task.messages, losses)}
        for candidate, place in pair.sides:
            own[candidate.verdict] = write_turns(
                candidate.messages, losses, place=f"{place}.messages"
            )
            own.update(_remarks(candidate, place, losses))
        if tools := write_openai_tools(task.tools, losses):
            own["tools"] = tools
        of_a_side = [name for name in task.attributes if side_of(name)]
        row = row_of(
            replace(task, key=pair.key),
            own,
            losses,
            reserved=(*_RESERVED, *of_a_side),
            candidates=True,
        )
        check_written(task, row, read, losses)
        check_pair(pair, row, read, losses)
        rows.append(row)
    losses[:] = dict.fromkeys(losses)
    return rows


def _remarks(candidate: Candidate, place: str, losses: list[Loss]) -> dict[str, Any]:
    """Return what is known of an answer as columns that name its side."""
    known: dict[str, Any] = {"model": candidate.model} if candidate.model else {}
    written = {}
    for key, value in candidate.detail.items():
        if key in known or (key == "model" and isinstance(value, str)):
            losses.append(Loss(f"{place}.detail.{key}", "the model of the answer has this name"))
        elif side_of(f"{candidate.verdict}_{key}") != candidate.verdict:
            losses.append(Loss(f"{place}.detail.{key}", "the format has a key of this name"))
        else:
            written[f"{candidate.verdict}_{key}"] = json_copy(value)
    return {**{f"{candidate.verdict}_{key}": value for key, value in known.items()}, **written}


FORMAT = RowFormat(
    "preference_messages", "Preference pairs of messages (TRL)", recognises, read, write
)
