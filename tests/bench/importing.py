"""Importing generated OpenAI chat conversations, streamed from a file, into SQLite and PostgreSQL.

Each import runs in a process of its own, so that its memory is its own too. Budget (SQLite): 5,000
conversations a second with memory that does not grow with their number.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.bench.conversations import words
from tests.bench.measuring import table

CONVERSATIONS = (20_000, 100_000)
BATCH = 1000


@dataclass(frozen=True)
class Measured:
    """Seconds of the import and of its floors, over all conversations; ``memory`` in MB."""

    wall: float
    cpu: float
    reading: float
    writing: float
    memory: float


def run() -> None:
    var = Path(os.environ["TURNWRIGHT_VAR"])
    databases = {"SQLite": ""}
    if url := os.environ.get("BENCH_POSTGRESQL_URL"):
        databases["PostgreSQL"] = url
    rows = []
    for count in CONVERSATIONS:
        file = var / f"{count}.jsonl"
        with file.open("wb") as stream:
            stream.writelines(lines(count))
        for name, url in databases.items():
            got = _measured(file, url)
            rows.append(
                [
                    name,
                    f"{count:,}",
                    f"{count / got.wall:,.0f}",
                    f"{count / got.cpu:,.0f}",
                    f"{got.cpu / got.reading:.0f}",
                    f"{got.cpu / got.writing:.1f}",
                    f"{got.memory:.0f} MB",
                ]
            )
    head = ["database", "conversations", "a second", "a CPU second"]
    table([*head, "times json.loads", "times executemany", "peak memory"], rows)
    if len(databases) == 1:
        print("  BENCH_POSTGRESQL_URL (an empty database) measures PostgreSQL too.")  # noqa: T201


def lines(count: int) -> Iterator[bytes]:
    """OpenAI chat conversations of six turns, one a line."""
    for number in range(count):
        messages = [
            {"role": "user" if turn % 2 == 0 else "assistant", "content": words(25, number + turn)}
            for turn in range(6)
        ]
        yield json.dumps({"id": f"c{number}", "messages": messages}).encode() + b"\n"


def _measured(file: Path, url: str) -> Measured:
    environment = {**os.environ, "DATABASE_URL": url or f"sqlite:///{file}.sqlite3"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.importing", str(file)],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
    )
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def main(file: Path) -> None:
    """In the process of one import: measure, and print it as JSON."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    reading, writing = _reading(file), _writing(file)
    memory = _Memory()
    with Path(os.devnull).open("w") as nowhere:
        wall, cpu = time.perf_counter(), time.process_time()
        call_command(
            "import_tasks", str(file), "--environment", f"bench/{file.stem}", "--create",
            stdout=nowhere,
        )  # fmt: skip
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    measured = Measured(wall, cpu, reading, writing, memory.peak())
    print(json.dumps(vars(measured)))  # noqa: T201


def _reading(file: Path) -> float:
    """CPU seconds of decoding the lines and no more."""
    start = time.process_time()
    with file.open("rb") as stream:
        for line in stream:
            json.loads(line)
    return time.process_time() - start


def _writing(file: Path) -> float:
    """CPU seconds of writing five texts of that size for each line to a table without an index."""
    from django.db import connection, transaction

    table_of = "CREATE TABLE bench_floor (a TEXT, b TEXT, c TEXT, d TEXT, e TEXT)"
    start = time.process_time()
    with connection.cursor() as cursor, file.open() as stream:
        cursor.execute("DROP TABLE IF EXISTS bench_floor")
        cursor.execute(table_of)
        while batch := [(line,) * 5 for _, line in zip(range(BATCH), stream, strict=False)]:
            with transaction.atomic():
                cursor.executemany("INSERT INTO bench_floor VALUES (%s, %s, %s, %s, %s)", batch)
        spent = time.process_time() - start
        cursor.execute("DROP TABLE bench_floor")
    return spent


class _Memory:
    """Looks at the memory of this process that is no file's: SQLite maps its file into it."""

    def __init__(self) -> None:
        self._most = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._done.wait(0.1):
            for line in Path("/proc/self/status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    self._most = max(self._most, int(line.split()[1]))

    def peak(self) -> float:
        self._done.set()
        self._thread.join()
        return self._most / 1024


if __name__ == "__main__":
    main(Path(sys.argv[1]))
