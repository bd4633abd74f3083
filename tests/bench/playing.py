"""The clarification solver over N questions, 200 ms a reply: CPU a call beside the bare SDK's.

Ours checks, stores and counts every call; the floor does nothing but ask. Both are measured as the
difference between a long and a short run, so that starting a process does not count.
"""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from tests.bench.floor import EVALUATED, JUDGE
from tests.bench.measuring import table
from tests.kits.fake_openai import fake_openai

SHORT, LONG, AT_ONCE = 100, 900, 64
CALLS, LATENCY = 4, 0.2
SPEC = Path(__file__).parent.parent / "golden" / "clarification.yaml"


def run() -> None:
    var = Path(os.environ["TURNWRIGHT_VAR"])
    questions = var / "questions.jsonl"
    questions.write_text(
        "".join(
            json.dumps(
                {
                    "id": f"q{number}",
                    "question": f"Which city is the capital of country {number}?",
                    "target": "Vienna",
                }
            )
            + "\n"
            for number in range(LONG)
        )
    )
    with fake_openai() as fake:
        _manage("migrate", "--verbosity", "0")
        _manage("import_tasks", str(questions), "--environment", "bench/runs", "--create")
        for key, model in (("evaluated", EVALUATED), ("demo-judge", JUDGE)):
            _manage("create_endpoint", "bench", key, "--base-url", fake.url, "--model", model)
        calls = (LONG - SHORT) * CALLS
        ours = [_ours(count) for count in (SHORT, LONG)]
        floor = [_floor(fake.url, count) for count in (SHORT, LONG)]
    wall = ours[1][0] - ours[0][0]
    cpu, least = (each[1][1] - each[0][1] for each in (ours, floor))
    theory = (LONG - SHORT) * CALLS * LATENCY / AT_ONCE
    table(
        ["figure", "ratio", "budget", "ours", "floor"],
        [
            _row("CPU a call, bare SDK", cpu, least, "", 1e3 / calls, "ms"),
            _row("wall, latency alone", wall, theory, "<= 1.3", 1.0, "s"),
        ],
    )


def _row(name: str, ours: float, floor: float, budget: str, scale: float, unit: str) -> list[str]:
    figures = (f"{value * scale:.2f} {unit}" for value in (ours, floor))
    return [name, f"{ours / floor:.2f}", budget, *figures]


def _ours(count: int) -> tuple[float, float]:
    """Wall and CPU seconds of one `run_evaluation`, which plays in its own process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    said = _manage(
        "run_evaluation", str(SPEC), "--project", "bench", "--model", "evaluated",
        "--environment", "bench/runs", "--limit", str(count), "--wait", "--json",
    )  # fmt: skip
    wall = time.perf_counter() - start
    result = json.loads(said.strip().splitlines()[-1])
    assert (result["samples"], result["calls"]) == (count, count * CALLS), result
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _floor(url: str, count: int) -> tuple[float, float]:
    start = time.perf_counter()
    command = [sys.executable, "-m", "tests.bench.floor", url, str(count), str(AT_ONCE)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return time.perf_counter() - start, float(done.stdout)


def _manage(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"manage.py {words[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout
