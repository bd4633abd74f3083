"""Label Studio's export: ``{"data": {...}, "annotations": [{"result": [...]}]}``.

Conversations are shown by the Chat tag (messages with role and content, to which an annotator may
add more) or the Paragraphs tag (``author`` and ``text``, or other names).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_formats.base import Note, Row, RowFormat, TaskContent, content_of
from apps.dialogue.file_formats.turns import PlacedTurn, decoded, read_placed_turns
from apps.dialogue.file_formats.turns.speaker_names import SpokenRole, roles_of_names

_AUTHORS: Final = ("author", "speaker", "name", "from", "sender")
_TEXTS: Final = ("text", "value", "message", "utterance")
_MINIMAL: Final = ("annotation_id", "annotator", "lead_time")
"""Keys of JSON_MIN, the export that has the task's data at the top."""


@dataclass(frozen=True, slots=True)
class _Dialogue:
    """The list of turns in a task's data: its column, and the keys of its turns."""

    column: str
    turns: list[Any]
    author: str
    text: str


def recognises(row: dict[str, Any]) -> bool:
    data = row.get("data")
    if isinstance(data, dict):
        exported = "annotations" in row or "predictions" in row or "completions" in row
        return _dialogue(data) is not None or (exported and bool(data))
    return sum(key in row for key in _MINIMAL) > 1 and _dialogue(row) is not None


def expand(row: Row) -> Iterator[Row]:
    """Make one row of each annotation that goes on with the conversation in its own way."""
    added = [(at, each) for at, each in _annotations(row.value) if _added(each)]
    if len(added) < 2:
        yield row
        return
    for number, (at, annotation) in enumerate(added, 1):
        told = f"annotation {number} of {len(added)} that goes on with the conversation"
        note = Note("kept", f"annotations[{at}]", told, "branches")
        value = {**row.value, "annotations": [annotation]}
        key = row.value.get("id")
        if key is not None and number > 1:
            value["id"] = f"{key}-{annotation.get('id', number)}"
        yield replace(row, value=value, notes=(*row.notes, note))


def read(row: dict[str, Any], notes: list[Note]) -> TaskContent:
    data = row["data"] if isinstance(row.get("data"), dict) else row
    dialogue = _dialogue(data)
    if dialogue is None:
        raise ImportRefused(
            f"no list of turns was found in {', '.join(map(str, data))}",
            place="data",
            code="needs_column_mapping",
        )
    place = f"data.{dialogue.column}" if data is not row else dialogue.column
    speakers = _speakers(dialogue, notes, place)
    turns = [
        _turn(turn, dialogue, speakers, f"{place}[{index}]")
        for index, turn in enumerate(dialogue.turns)
    ]
    for index, annotation in _annotations(row)[:1]:
        for where, message in _added(annotation):
            spot = f"annotations[{index}].{where}"
            notes.append(Note("kept", spot, "a message the annotator added", "annotated"))
            turns.append(PlacedTurn(spot, dict(message)))
    rest = {name: value for name, value in data.items() if name != dialogue.column}
    if data is not row:
        outside = {name: value for name, value in row.items() if name != "data"}
        twice = {name: rest[name] for name in rest if name in outside}
        rest = {**rest, **outside, **({"data": twice} if twice else {})}
    return content_of(rest, read_placed_turns(turns, notes), notes)


def _dialogue(data: dict[str, Any]) -> _Dialogue | None:
    """Return the first list of the data whose objects say who speaks and what."""
    for column, value in data.items():
        turns = decoded(value)
        first = turns[0] if isinstance(turns, list) and turns else None
        if not isinstance(turns, list) or not isinstance(first, dict):
            continue
        if "role" in first and ("content" in first or "tool_calls" in first):
            return _Dialogue(column, turns, "role", "content")
        author = next((key for key in _AUTHORS if isinstance(first.get(key), str)), None)
        text = next((key for key in _TEXTS if isinstance(first.get(key), str)), None)
        if author and text:
            return _Dialogue(column, turns, author, text)
    return None


def _speakers(dialogue: _Dialogue, notes: list[Note], place: str) -> dict[str, SpokenRole]:
    """Return the role of each speaker; one whose name tells nothing is a user."""
    if dialogue.author == "role":
        return {}
    named = [
        turn[dialogue.author]
        for turn in dialogue.turns
        if isinstance(turn, dict) and isinstance(turn.get(dialogue.author), str)
    ]
    # Each by itself: who speaks first does not tell who is the assistant where people talk.
    speakers = {name: roles_of_names([name])[name] for name in dict.fromkeys(named)}
    shown = ", ".join(f"{name!r} became {role}" for name, role in list(speakers.items())[:20])
    notes.append(Note("converted", place, f"speakers by name: {shown}", "speaker_names"))
    return speakers


def _turn(
    turn: object, dialogue: _Dialogue, speakers: dict[str, SpokenRole], place: str
) -> PlacedTurn:
    if not isinstance(turn, dict):
        raise ImportRefused("a turn must be an object", place=place, code="bad_turn")
    if dialogue.author == "role":
        return PlacedTurn(place, dict(turn))
    name = turn.get(dialogue.author)
    rest = {k: v for k, v in turn.items() if k not in (dialogue.author, dialogue.text)}
    role = speakers.get(name) if isinstance(name, str) else "user"
    return PlacedTurn(
        place, {**rest, "speaker": name, "role": role, "content": turn.get(dialogue.text)}
    )


def _annotations(row: dict[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """Return the annotations that count and their positions, those marked as the truth first."""
    found = row.get("annotations", row.get("completions"))
    counting = [
        (index, each)
        for index, each in enumerate(found if isinstance(found, list) else [])
        if isinstance(each, dict) and each.get("was_cancelled") is not True
    ]
    return sorted(counting, key=lambda each: each[1].get("ground_truth") is not True)


def _added(annotation: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the messages an annotator added in the Chat tag, and where they are."""
    result = annotation.get("result")
    added = []
    for index, item in enumerate(result if isinstance(result, list) else []):
        if not isinstance(item, dict) or item.get("type") != "chatmessage":
            continue
        value = item.get("value")
        message = value.get("chatmessage") if isinstance(value, dict) else None
        if isinstance(message, dict):
            added.append((f"result[{index}]", message))
    return added


FORMAT = RowFormat("label_studio", "Label Studio export", recognises, read, expand=expand)
