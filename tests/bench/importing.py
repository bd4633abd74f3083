"""Importing generated OpenAI chat conversations into a fresh SQLite file, streamed."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.conversations import words
from tests.bench.measuring import peak_memory_mb, table

CONVERSATIONS = (5_000, 20_000)


def run() -> None:
    var = Path(os.environ["TURNWRIGHT_VAR"])
    rows = []
    for count in CONVERSATIONS:
        file = var / f"{count}.jsonl"
        file.write_bytes(b"".join(lines(count)))
        floor = _read_only(file)
        seconds = _import(file, f"bench/n{count}")
        rows.append(
            [
                f"{count:,}",
                f"{count / seconds:,.0f}",
                f"{seconds / floor:.0f}",
                f"{peak_memory_mb():.0f} MB",
            ]
        )
    table(["conversations", "a second", "times json.loads alone", "peak memory"], rows)


def lines(count: int) -> Iterator[bytes]:
    """OpenAI chat conversations of six turns, one a line."""
    for number in range(count):
        messages = [
            {"role": "user" if turn % 2 == 0 else "assistant", "content": words(25, number + turn)}
            for turn in range(6)
        ]
        yield json.dumps({"id": f"c{number}", "messages": messages}).encode() + b"\n"


def _read_only(file: Path) -> float:
    start = time.perf_counter()
    with file.open("rb") as stream:
        for line in stream:
            json.loads(line)
    return time.perf_counter() - start


def _import(file: Path, address: str) -> float:
    """Seconds of the import alone, in this process, with the product's own settings."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    with Path(os.devnull).open("w") as nowhere:
        start = time.perf_counter()
        call_command(
            "import_tasks", str(file), "--environment", address, "--create", stdout=nowhere
        )
        return time.perf_counter() - start
