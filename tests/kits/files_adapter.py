"""What the checker of the file cases asks, answered by the readers of files."""

from pathlib import Path
from typing import Any

from apps.dialogue.file_formats import ReadRow, read_tasks

_NOT_DATA = {"lfs_pointer", "html", "empty_file", "not_data"}


def read(path: Path) -> dict[str, Any]:
    with path.open("rb") as stream:
        rows = list(read_tasks(stream, file_name=path.name))
    return {
        "format": _format(rows),
        "conversations": [row.roles for row in rows if row.roles],
        "warnings": {note.code for row in rows for note in row.notes if note.code},
    }


def _format(rows: list[ReadRow]) -> str | None:
    if all(_NOT_DATA & {note.code for note in row.notes} for row in rows):
        return "not_data"
    named = {row.format for row in rows if row.format}
    return named.pop() if len(named) == 1 else "mixed"
