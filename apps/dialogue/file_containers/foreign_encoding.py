"""Texts in an encoding of one byte a character, as spreadsheets of old save them."""

import codecs
import re
from dataclasses import dataclass

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class ForeignEncoding:
    """What to say of a file in another encoding, and the line of its first byte that tells so."""

    line: int
    message: str


def foreign_encoding(data: bytes, *, ended: bool = True) -> ForeignEncoding | None:
    """Tell whether a text is wholly in another encoding than UTF-8, not just broken somewhere.

    It is if it reads as Windows-1252 without control characters, and nothing in it beyond ASCII is
    UTF-8. ``ended`` says that the data is all there is; a character may be cut off at its end.
    """
    try:
        codecs.utf_8_decode(data, "strict", ended)
    except UnicodeDecodeError as error:
        at = error.start
    else:
        return None
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        return None
    if _CONTROL.search(text) or not data.decode(errors="ignore").isascii():
        return None
    line = data.count(b"\n", 0, at) + 1
    return ForeignEncoding(
        line,
        f"the file is not UTF-8: its byte {at + 1} (0x{data[at]:02x}, on line {line}) begins no "
        f"character. It may be Windows-1252, where it is {text[at]!r}: save the file again as "
        "UTF-8, in Excel as CSV UTF-8",
    )
