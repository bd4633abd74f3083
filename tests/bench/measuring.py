"""Clocks and tables for the benchmarks."""

import os
import statistics
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


def cpu_of_tree(root: int) -> float:
    """CPU seconds of the process ``root`` and everything below it, from /proc (Linux)."""
    total, pids = 0, [root]
    while pids:
        pid = pids.pop()
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except FileNotFoundError:
            continue
        total += sum(map(int, fields[11:15]))
        pids += map(int, children)
    return total / TICK


def peak_memory_mb() -> float:
    """The largest resident size of this process so far, in MB (Linux)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("/proc/self/status has no VmHWM")


def interleaved(rounds: int, works: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    """Run every work once a round, in turn; answer each one's median."""
    seen: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            seen[name].append(work())
    return {name: statistics.median(values) for name, values in seen.items()}


def seconds_each(work: Callable[[], object], times: int) -> float:
    """CPU seconds of one call of ``work``, over ``times`` calls."""
    start = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - start) / times


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print rows in aligned columns."""
    lines = [[str(cell) for cell in row] for row in [list(head), *map(list, rows)]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        print("  " + "  ".join(cells).rstrip(), flush=True)  # noqa: T201
