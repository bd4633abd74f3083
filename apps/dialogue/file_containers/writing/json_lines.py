"""JSON Lines: one compact object a line, UTF-8, key order kept. Nothing is held back."""

from typing import Any

from pydantic_core import to_json

from apps.dialogue.file_containers.writing.base import Sink


class JsonLinesWriter:
    """Every row is written when it comes; there is nothing to close."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def write(self, row: dict[str, Any]) -> None:
        self._sink.write(to_json(row) + b"\n")

    def close(self) -> None:
        pass
