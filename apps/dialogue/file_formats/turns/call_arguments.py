"""The arguments of tool calls as files have them: JSON text, objects, and what became of both."""

import json
from dataclasses import dataclass, replace
from typing import Any, cast

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import Note, cleaned
from apps.dialogue.provider_formats.base import read_arguments


@dataclass(frozen=True, slots=True)
class Arguments:
    """The input of a call; ``kept`` goes into its detail where the text could not be read whole."""

    input: dict[str, Any]
    kept: dict[str, Any]


def read_call_arguments(
    arguments: object, call_id: str, notes: list[Note], place: str, *, null_filled: bool
) -> Arguments:
    """Read arguments; ``null_filled`` says that the row shows keys that Arrow filled with null.

    Raises ``ImportRefused`` with the code ``bad_arguments``.
    """
    if isinstance(arguments, dict):
        return Arguments(_without_nulls(arguments, notes, place) if null_filled else arguments, {})
    try:
        read_whole = read_arguments(arguments, call_id, place)
    except ImportRefused as error:
        read = _read_again(arguments, notes, place)
        if read is None:
            raise ImportRefused(error.message, place=place, code="bad_arguments") from None
        return read
    return Arguments(_cleaned(read_whole, notes, f"{place}.arguments"), {})


def _cleaned(value: dict[str, Any], notes: list[Note], place: str) -> dict[str, Any]:
    """Return arguments without what cannot be stored: a JSON text may hide it from the file."""
    made, changes = cleaned(value)
    notes += [replace(each, place=".".join(filter(None, (place, each.place)))) for each in changes]
    return cast("dict[str, Any]", made)


def _without_nulls(arguments: dict[str, Any], notes: list[Note], place: str) -> dict[str, Any]:
    empty = [key for key, value in arguments.items() if value is None]
    if not empty:
        return arguments
    reason = f"{', '.join(empty)} left out: null, as the unused keys of this row are"
    notes.append(Note("dropped", f"{place}.arguments", reason, "null_filled_arguments"))
    return {key: value for key, value in arguments.items() if value is not None}


def _read_again(arguments: object, notes: list[Note], place: str) -> Arguments | None:
    """Read what is JSON, though not one object: a text in a text, objects one after another."""
    if not isinstance(arguments, str):
        return None
    values = _values(arguments)
    if len(values) == 1 and isinstance(values[0], str):
        inner = _values(values[0])
        if len(inner) == 1 and isinstance(inner[0], dict):
            reason = "the JSON text was itself written as a JSON text"
            notes.append(Note("converted", f"{place}.arguments", reason, "double_encoded"))
            return Arguments(_cleaned(inner[0], notes, f"{place}.arguments"), {})
    if len(values) > 1 and all(isinstance(each, dict) for each in values):
        taken: dict[str, Any] = next((each for each in values if each), {})
        reason = (
            f"{len(values)} objects stand one after another: the first that is not empty was "
            "taken, the whole text is kept in detail"
        )
        notes.append(Note("converted", f"{place}.arguments", reason, "concatenated_arguments"))
        taken = _cleaned(taken, notes, f"{place}.arguments")
        return Arguments(taken, {"arguments": arguments})
    return None


def _values(text: str) -> list[Any]:
    """Return the JSON values of a text that holds nothing else, else an empty list."""
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    values: list[Any] = []
    rest = text.strip()
    try:
        while rest:
            value, end = decoder.raw_decode(rest)
            values.append(value)
            rest = rest[end:].lstrip()
    except (ValueError, RecursionError):
        return []
    return values


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
