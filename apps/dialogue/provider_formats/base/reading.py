"""What readers of provider payloads share: nothing is dropped or guessed (rules I1 to I7)."""

import json
import re
from collections.abc import Collection, Mapping
from typing import Any, NoReturn

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import ImportRefused

_DATA_URL = re.compile(r"data:([^,]+);base64,(.*)", re.DOTALL | re.IGNORECASE)


def read_object(value: object, place: str) -> dict[str, Any]:
    """Return a JSON object as it is; raises ``ImportRefused`` for anything else."""
    if not isinstance(value, dict):
        raise ImportRefused(f"must be an object, not {kind_of(value)}", place=place)
    return value


def read_list(value: object, place: str, wanted: str = "a list") -> list[Any]:
    """Return a list as it is, nothing for null; raises ``ImportRefused`` for anything else."""
    if value is None:
        return []
    if not isinstance(value, list | tuple):
        raise ImportRefused(f"must be {wanted}, not {kind_of(value)}", place=place)
    return list(value)


def leftovers(wire: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    """Return what a reader did not read, to be kept in ``detail``; null and empty mean absent."""
    return {
        key: value
        for key, value in wire.items()
        if key not in known and value is not None and value not in ([], {})
    }


def read_arguments(arguments: object, call_id: object, place: str) -> dict[str, Any]:
    """Return the input of a tool call from its JSON text (rule I3).

    Blank text and null mean no arguments; an object is taken as it is. Raises ``ImportRefused``
    for broken JSON, NaN, a key written twice, and JSON that is not an object.
    """
    if arguments is None:
        return {}
    if isinstance(arguments, dict):
        return arguments
    if not isinstance(arguments, str):
        raise ImportRefused(
            f"the arguments of the call {call_id!r} must be JSON text, not {kind_of(arguments)}",
            place=place,
        )
    if not arguments or arguments.isspace():
        return {}
    try:
        value = json.loads(arguments, parse_constant=_no_constant, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        fault = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ImportRefused(
            f"the arguments of the call {call_id!r} are not valid JSON: {fault}", place=place
        ) from None
    if not isinstance(value, dict):
        raise ImportRefused(
            f"the arguments of the call {call_id!r} must be a JSON object, not {kind_of(value)}",
            place=place,
        )
    return value


def read_data_url(url: object, place: str) -> dict[str, Any]:
    """Return the wire of an image block from a base64 data URL; refuses remote images."""
    if not isinstance(url, str):
        raise ImportRefused(f"the image URL must be a text, not {kind_of(url)}", place=place)
    found = _DATA_URL.fullmatch(url)
    if not found:
        shown = url if len(url) <= 60 else f"{url[:57]}..."
        raise ImportRefused(
            f"the image {shown!r} is not fetched; only base64 data URLs can be imported",
            place=place,
        )
    return {"type": "image", "data": found[2], "mimeType": found[1]}


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} is written twice")
    return built
