"""Values of Arrow as JSON has them: moments, bytes and decimals as texts, and what else is odd."""

import base64
import datetime as dt
from collections import Counter
from decimal import Decimal
from typing import Any, Final

from apps.dialogue.file_containers.arrow import arrow
from apps.dialogue.file_containers.rows import Note

_A_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_MOMENT: Final = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - the zone is written behind it


class Cells:
    """The cells of one row as JSON, with the first place of each kind that JSON lacks."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, str]] = {}
        self._renamed: list[Note] = []

    def notes(self) -> tuple[Note, ...]:
        converted = (
            Note("converted", place, f"{what} became {became}", "not_json")
            for what, (place, became) in self._found.items()
        )
        return (*self._renamed, *converted)

    def value(self, value: object, place: str) -> Any:
        """Return what Python has for a value of Arrow. Raises ``RecursionError``."""
        match value:
            case None | bool() | int() | float() | str():
                return value
            case dict():
                return {
                    str(key): self.value(each, _under(place, str(key)))
                    for key, each in value.items()
                }
            case list() | tuple():
                return [self.value(each, f"{place}[{i}]") for i, each in enumerate(value)]
            case bytes():
                return self._made(place, "bytes", "base64", base64.b64encode(value).decode())
            case dt.datetime() | dt.date() | dt.time():
                return self._made(place, "a moment", "a text (ISO 8601)", value.isoformat())
            case Decimal():
                return self._made(place, "a decimal number", "a text", str(value))
            case _:
                return self._made(place, f"a {type(value).__name__}", "a text", str(value))

    def scalar(self, scalar: Any, place: str) -> Any:
        """Return a value of which Python may have no equal: a moment to the nanosecond, say.

        What cannot be converted becomes a text. Raises ``RecursionError``.
        """
        arrow_, _ = arrow()
        if scalar.is_valid and isinstance(scalar, arrow_.StructScalar):
            return self._struct(scalar, place)
        if scalar.is_valid and isinstance(scalar, arrow_.MapScalar):
            pairs = (self._struct(pair, f"{place}[{i}]") for i, pair in enumerate(scalar.values))
            return [list(pair.values()) for pair in pairs]
        if scalar.is_valid and isinstance(scalar, arrow_.ListScalar):
            return [self.scalar(each, f"{place}[{i}]") for i, each in enumerate(scalar.values)]
        try:
            return self.value(scalar.as_py(), place)
        except (arrow_.ArrowException, ValueError, OverflowError, KeyError, OSError):
            return self._odd(scalar, place)

    def _struct(self, scalar: Any, place: str) -> dict[str, Any]:
        names = [field.name for field in scalar.type]
        distinct, notes = distinct_names(names, place)
        self._renamed += notes
        return {
            name: self.scalar(scalar[i], _under(place, name)) for i, name in enumerate(distinct)
        }

    def _odd(self, scalar: Any, place: str) -> str:
        arrow_, _ = arrow()
        kind = arrow_.types
        if isinstance(scalar, arrow_.DictionaryScalar):
            scalar = scalar.dictionary[scalar.index.as_py()]
        of = scalar.type
        if kind.is_timestamp(of):
            text = _moment(scalar.value, of.unit) + ("+00:00" if of.tz else "")
            return self._made(place, "a moment", "a text (ISO 8601)", text)
        if kind.is_time(of):
            text = _moment(scalar.value, of.unit).partition("T")[2]
            return self._made(place, "a moment", "a text (ISO 8601)", text)
        if kind.is_date(of):
            text = f"{scalar.value} {'days' if kind.is_date32(of) else 'milliseconds'} since 1970"
            return self._made(place, "a moment", "a text", text)
        if kind.is_duration(of):
            return self._made(place, "a duration", "a text", f"{scalar.value} {of.unit}")
        if as_buffer := getattr(scalar, "as_buffer", None):
            text = as_buffer().to_pybytes().decode(errors="replace")
            return self._made(place, "a text that is not UTF-8", "one with U+FFFD", text)
        return self._made(place, f"a value of the type {of}", "a text", repr(scalar))

    def _made(self, place: str, what: str, became: str, made: str) -> str:
        self._found.setdefault(what, (place, became))
        return made


def distinct_names(names: list[str], place: str = "") -> tuple[list[str], list[Note]]:
    """Return names that differ, and a note for each that was made: its place in line behind it."""
    made: list[str] = []
    notes: list[Note] = []
    taken = set(names)
    for number, name in enumerate(names, start=1):
        fresh = name
        while fresh in made or (fresh != name and fresh in taken):
            fresh = f"{fresh}_{number}"
        if fresh != name:
            said = f"column {number} is named {name!r}"
            notes.append(Note("invented", _under(place, fresh), said, "column_name"))
        made.append(fresh)
    return made, notes


def size_of(array: Any) -> int:
    """Return the bytes of the values of an array when each is written out.

    A value that many rows share through a dictionary counts as often as it stands there.
    """
    arrow_, _ = arrow()
    of = array.type
    kind = arrow_.types
    if kind.is_dictionary(of):
        times = Counter(index for index in array.indices.to_pylist() if index is not None)
        return sum(count * _length(array.dictionary[index]) for index, count in times.items())
    if kind.is_struct(of):
        return sum(size_of(each) for each in array.flatten())
    if kind.is_map(of):
        first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
        inner = (array.keys, array.items)
        return sum(size_of(each.slice(first, last - first)) for each in inner)
    if kind.is_list(of) or kind.is_large_list(of) or kind.is_fixed_size_list(of):
        return size_of(array.flatten())
    return int(array.nbytes)


def _length(scalar: Any) -> int:
    as_buffer = getattr(scalar, "as_buffer", None)
    held = as_buffer() if as_buffer else None
    return held.size if held else 8


def _moment(value: int, unit: str) -> str:
    """ISO 8601 to the unit's last digit; what no calendar of Python holds is said as seconds."""
    a_second = _A_SECOND[unit]
    seconds, rest = divmod(value, a_second)
    digits = f".{rest:0{len(str(a_second)) - 1}d}" if rest else ""
    try:
        return (_MOMENT + dt.timedelta(seconds=seconds)).isoformat() + digits
    except OverflowError:
        return f"{seconds}{digits} seconds since 1970"


def _under(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
