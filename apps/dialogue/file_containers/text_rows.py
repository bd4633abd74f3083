"""A plain text: one row, for a format that finds the turns in it."""

from collections.abc import Iterator

from apps.dialogue.file_containers.byte_stream import LONGEST_LINE, Unreadable
from apps.dialogue.file_containers.cleaning import cleaned
from apps.dialogue.file_containers.rows import Row


def text_rows(pieces: Iterator[bytes]) -> Iterator[Row]:
    """Read a text as one row, its line ends as LF. Raises ``Unreadable``."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size > LONGEST_LINE:
            raise Unreadable(f"the text is longer than {LONGEST_LINE >> 20} MiB")
    try:
        text = b"".join(held).decode()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise Unreadable(f"the text is not UTF-8 on its line {line}") from None
    if text.strip():
        value, notes = cleaned(text.replace("\r\n", "\n"))
        yield Row(1, value, notes=notes, source="text")
