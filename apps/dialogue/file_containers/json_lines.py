"""JSON Lines: a value on each line, and the ways in which files fall short of that."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from apps.dialogue.file_containers.byte_stream import LONGEST_LINE, lines_of
from apps.dialogue.file_containers.json_text import Decoder, bad_json, reason
from apps.dialogue.file_containers.rows import Note, Row

_SPACES = re.compile(r"[ \t\r]*")
_BRACKETS = frozenset("{[")


def json_lines(pieces: Iterator[bytes]) -> Iterator[Row]:
    """Read the values of each line; a line that is none is a fault, and the next ones go on.

    Several objects on one line are rows each. A comma at the end of a line is passed over, and
    noted.
    """
    decoder = Decoder()
    for number, raw in enumerate(lines_of(pieces), start=1):
        if raw is None:
            fault = f"the line is longer than {LONGEST_LINE >> 20} MiB"
            yield Row(number, fault=fault, fault_code="too_long")
        elif stripped := raw.strip():
            yield from _line(decoder, number, stripped)


def _line(decoder: Decoder, number: int, raw: bytes) -> Iterator[Row]:
    try:
        text = raw.decode()
        value, end = decoder.decode(text)
    except UnicodeDecodeError as error:
        fault = f"the line is not UTF-8 at its byte {error.start + 1}"
        yield Row(number, fault=fault, fault_code="bad_encoding")
        return
    except (ValueError, RecursionError) as error:
        yield _fault(number, error)
        return
    row = decoder.row(number, value, text)
    if end == len(text):
        yield row
    else:
        yield from _several(decoder, row, text, end)


def _several(decoder: Decoder, row: Row, text: str, end: int) -> Iterator[Row]:
    """Read what follows the first value of a line: further values, or a comma at its end."""
    if text[end:].strip() == ",":
        note = Note("dropped", "", "a comma at the end of the line", "extra_comma")
        yield replace(row, notes=(*row.notes, note))
        return
    rows = [row]
    end = _after_spaces(text, end)
    while end < len(text):
        if text[end] not in _BRACKETS or not isinstance(row.value, dict):
            fault = f"the line is not JSON: more follows after the value (character {end + 1})"
            yield bad_json(row.line, fault)
            return
        try:
            value, following = decoder.decode(text, end)
        except (ValueError, RecursionError) as error:
            yield _fault(row.line, error)
            return
        rows.append(decoder.row(row.line, value, text[end:following]))
        end = _after_spaces(text, following)
    yield from rows


def _after_spaces(text: str, position: int) -> int:
    found = _SPACES.match(text, position)
    return found.end() if found else position


def _fault(number: int, error: ValueError | RecursionError) -> Row:
    fault = f"the line {reason(error)}"
    if isinstance(error, json.JSONDecodeError):
        fault += f" (character {error.pos + 1})"
    return bad_json(number, fault)
