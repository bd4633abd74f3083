"""What was asked and answered in a recorded call of a model or a chain, in its many shapes."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.turns.langchain_messages import langchain_turn
from apps.dialogue.file_formats.turns.placed_turns import PlacedTurn, decoded

_LISTS: Final = ("messages", "chat_history", "history", "conversation", "input", "prompt")
_ASKED: Final = ("input", "question", "query", "prompt", "text", "user_input", "message")
_ANSWERED: Final = (
    "message", "output", "answer", "response", "result", "completion", "content", "text",
    "expected", "reference", "generation",
)  # fmt: skip
_PLAIN: Final = ("output", "content", "text", "generation", "completion")
"""Where models and chains write what they answered; that needs no guess."""

_INSIDE: Final = ("input", "inputs", "kwargs", "request", "body")
_DEEPEST: Final = 4


@dataclass(slots=True)
class Recorded:
    """The turns that were found; ``rest`` are the keys beside them that became nothing.

    ``columns`` are the names of texts that were taken for what was said by a guess.
    """

    turns: list[PlacedTurn] = field(default_factory=list)
    tools: list[Any] | None = None
    rest: dict[str, Any] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)


def read_asked(value: object, notes: list[Note], place: str) -> Recorded:
    """Return what was asked; refuses with ``needs_column_mapping`` what tells no question."""
    value = _decoded(value, notes, place)
    if isinstance(value, dict):
        found = _asked_object(value, notes, place, 0)
    else:
        found = _said(value, "user", notes, place)
    if found is None or not found.turns:
        names = ", ".join(map(str, value)) if isinstance(value, dict) else kind_of(value)
        raise ImportRefused(
            f"no conversation was found in {names}: say which column is the question",
            place=place,
            code="needs_column_mapping",
        )
    _note_guess(found, notes, place)
    return found


def read_answered(
    value: object, asked: Sequence[PlacedTurn], notes: list[Note], place: str
) -> Recorded | None:
    """Return what was answered after ``asked``, None where that cannot be told."""
    if value is None:
        return Recorded()
    value = _decoded(value, notes, place)
    if isinstance(value, dict):
        found = _answered_object(value, asked, notes, place, 0)
    else:
        found = _said(value, "assistant", notes, place, asked)
    if found:
        _note_guess(found, notes, place)
    return found


def fingerprint(row: dict[str, Any]) -> str:
    """Return a name for a row that has none: the same for the same row."""
    written = json.dumps(row, sort_keys=True, default=str)
    return hashlib.sha256(written.encode(errors="backslashreplace")).hexdigest()


def as_tools(value: object) -> list[Any] | None:
    """Return definitions of tools as Chat Completions has them, None where there are none."""
    value = decoded(value)
    if not isinstance(value, list) or not value or not all(isinstance(t, dict) for t in value):
        return None
    return [
        {"type": "function", "function": tool}
        if "name" in tool and "parameters" in tool and "type" not in tool
        else tool
        for tool in value
    ]


def _decoded(value: object, notes: list[Note], place: str) -> object:
    read = decoded(value)
    if read is value or not isinstance(read, list | dict):
        return value
    notes.append(Note("converted", place, "the JSON text was read", "stringified_json"))
    return read


def _asked_object(
    value: dict[str, Any], notes: list[Note], place: str, depth: int
) -> Recorded | None:
    if _turn(value) is not None:
        return _said(value, "user", notes, place)
    lists = [key for key in _LISTS if _is_turns(value.get(key))]
    if lists:
        return _asked_lists(value, lists, notes, place)
    for key in _INSIDE if depth < _DEEPEST else ():
        inner = decoded(value.get(key))
        if isinstance(inner, dict) and inner:
            found = _asked_object(inner, notes, f"{place}.{key}", depth + 1)
            if found:
                rest = {name: each for name, each in value.items() if name != key}
                return _with_rest(found, rest, key)
    prompts = value.get("prompts")
    if isinstance(prompts, list) and len(prompts) == 1 and isinstance(prompts[0], str):
        turn = PlacedTurn(f"{place}.prompts[0]", {"role": "user", "content": prompts[0]})
        return _with_rest(Recorded([turn]), {k: v for k, v in value.items() if k != "prompts"})
    return _text_column(value, _ASKED, "user", place)


def _asked_lists(
    value: dict[str, Any], lists: list[str], notes: list[Note], place: str
) -> Recorded | None:
    """Read the messages, or what was said before and the question that follows it."""
    first = lists[0]
    found = _said(value[first], "user", notes, f"{place}.{first}")
    if found is None:
        return None
    rest = {key: each for key, each in value.items() if key != first}
    if first in ("chat_history", "history"):
        asked = next((key for key in _ASKED if _is_text(rest.get(key))), None)
        if asked:
            wire = {"role": "user", "content": rest.pop(asked)}
            found.turns.append(PlacedTurn(f"{place}.{asked}", wire))
    system = rest.get("system")
    if first == "messages" and _is_text(system):
        wire = {"role": "system", "content": rest.pop("system")}
        found.turns.insert(0, PlacedTurn(f"{place}.system", wire))
    return _with_rest(found, rest)


def _answered_object(
    value: dict[str, Any], asked: Sequence[PlacedTurn], notes: list[Note], place: str, depth: int
) -> Recorded | None:
    if _turn(value) is not None:
        return _said(value, "assistant", notes, place, asked)
    for key in ("messages", "generations", "choices"):
        if isinstance(value.get(key), list) and value[key]:
            said, left = _inner(value[key])
            found = _said(said, "assistant", notes, f"{place}.{key}", asked)
            if found:
                rest = {k: v for k, v in value.items() if k != key}
                return _with_rest(found, {**rest, **({key: left} if left else {})})
    for key in _ANSWERED if depth < _DEEPEST else ():
        inner = decoded(value.get(key))
        where = f"{place}.{key}"
        found = None
        if isinstance(inner, dict) and inner:
            found = _answered_object(inner, asked, notes, where, depth + 1)
        elif isinstance(inner, list) and _is_turns(inner):
            found = _said(inner, "assistant", notes, where, asked)
        if found:
            return _with_rest(found, {k: v for k, v in value.items() if k != key})
    return _text_column(value, _ANSWERED, "assistant", place)


def _inner(value: object) -> tuple[object, list[Any]]:
    """Return the messages of generations and choices, ``[[{"message"}]]`` or ``[{"text"}]``.

    With them comes what stands there beside the first answer: other answers, why it ended.
    """
    while isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    first = value[0] if isinstance(value, list) and value else None
    if not isinstance(value, list) or not isinstance(first, dict) or _turn(first) is not None:
        return value, []
    message, text = first.get("message"), first.get("text")
    if isinstance(message, dict):
        known = ("message", "index", "type", *(["text"] if _repeats(message, text) else []))
        return message, _beside(first, known, value)
    if isinstance(text, str):
        return text, _beside(first, ("text", "index", "type"), value)
    return value, []


def _repeats(message: dict[str, Any], text: object) -> bool:
    turn = _turn(message)
    return turn is not None and turn.get("content") == text


def _beside(first: dict[str, Any], known: Sequence[str], answers: list[Any]) -> list[Any]:
    rest = {k: v for k, v in first.items() if k not in known and v not in (None, "", [], {})}
    return [*([rest] if rest else []), *answers[1:]]


def _said(
    value: object,
    role: str,
    notes: list[Note],
    place: str,
    before: Sequence[PlacedTurn] = (),
) -> Recorded | None:
    """Read a text, a message or a list of messages; ``role`` is who says a mere text."""
    if isinstance(value, str):
        wire = {"role": role, "content": value}
        return Recorded([PlacedTurn(place, wire)]) if value.strip() else None
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], list) and _turn(value[0]) is None:
            return _said(value[0], role, notes, f"{place}[0]", before)
        return _listed(value, notes, place, before)
    wire_or_none = _turn(value)
    if wire_or_none is None:
        return None
    _note_serialised([value], notes, place)
    return Recorded([PlacedTurn(place, {"role": role, **wire_or_none})])


def _listed(
    values: list[Any], notes: list[Note], place: str, before: Sequence[PlacedTurn]
) -> Recorded | None:
    turns = [_turn(value) for value in values]
    if not turns or any(turn is None for turn in turns):
        return None
    placed = [
        PlacedTurn(f"{place}[{index}]", turn)
        for index, turn in enumerate(turns)
        if turn is not None
    ]
    _note_serialised(values, notes, place)
    # A chain often answers with the whole conversation.
    asked = [turn.wire for turn in before]
    repeated = bool(asked) and [turn.wire for turn in placed[: len(asked)]] == asked
    return Recorded(placed[len(asked) :] if repeated else placed)


def _note_serialised(values: list[Any], notes: list[Note], place: str) -> None:
    if any(langchain_turn(value) is not None for value in values):
        reason = "messages as LangChain writes them became turns"
        notes.append(Note("converted", place, reason, "lc_serialised"))


def _turn(value: object) -> dict[str, Any] | None:
    """Return a message as a turn: Chat Completions', LangChain's, or a pair of role and text."""
    if isinstance(value, list) and len(value) == 2 and all(isinstance(v, str) for v in value):
        role = {"human": "user", "ai": "assistant"}.get(value[0], value[0])
        return {"role": role, "content": value[1]}
    found = langchain_turn(value)
    if found is not None:
        return found
    if not isinstance(value, dict) or not isinstance(value.get("role"), str):
        return None
    says = ("content", "tool_calls", "function_call", "parts", "refusal", "tool_call_id")
    return value if any(key in value for key in says) else None


def _is_turns(value: object) -> bool:
    while isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        if _turn(value[0]) is not None:
            break
        value = value[0]
    return (
        isinstance(value, list) and bool(value) and all(_turn(each) is not None for each in value)
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _text_column(
    value: dict[str, Any], known: Sequence[str], role: str, place: str
) -> Recorded | None:
    """Take the one text among the keys, or the one with a usual name, for what was said."""
    texts = [key for key, each in value.items() if _is_text(each)]
    column = texts[0] if len(texts) == 1 else next((key for key in known if key in texts), None)
    if column is None:
        return None
    turn = PlacedTurn(f"{place}.{column}", {"role": role, "content": value[column]})
    rest = {key: each for key, each in value.items() if key != column}
    guessed = [] if role == "assistant" and column in _PLAIN else [column]
    return _with_rest(Recorded([turn], columns=guessed), rest)


def _with_rest(found: Recorded, rest: dict[str, Any], inside: str = "") -> Recorded:
    if inside and found.rest:
        rest = {**rest, inside: found.rest}
    for key in ("tools", "functions"):
        if key in rest and not found.tools:
            found.tools = as_tools(rest[key])
            if found.tools or rest[key] in (None, [], ""):
                del rest[key]
    found.rest = rest
    return found


def _note_guess(found: Recorded, notes: list[Note], place: str) -> None:
    for column in found.columns:
        role = found.turns[-1].wire["role"]
        reason = f"the text was taken for what the {role} says; a mapping can say otherwise"
        notes.append(Note("converted", f"{place}.{column}", reason, "needs_column_mapping"))
