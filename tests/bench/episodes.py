"""Whole episodes with the real client: our server with its database beside the reference server.

An episode opens a session, reads its messages and tools, submits an answer and leaves. The clients
run in a process of their own; what counts is the server's CPU an episode.
"""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from openreward import AsyncEnvironmentsAPI

from tests.bench.measuring import cpu_of_tree, interleaved, table
from tests.bench.serving import TURNS, Target, servers

AT_ONCE = (1, 32, 256)
EPISODES = {1: 40, 32: 192, 256: 256}
ROUNDS = 3


def run() -> None:
    with servers(Path(os.environ["TURNWRIGHT_VAR"])) as (ours, reference):
        rows = []
        for at_once, turns in [*((n, 4) for n in AT_ONCE), (32, 400)]:
            figures = interleaved(
                ROUNDS,
                {
                    target.name: lambda target=target, at_once=at_once, turns=turns: (
                        _cpu_per_episode(target, at_once, turns)
                    )
                    for target in (ours, reference)
                },
            )
            ratio = figures["ours"] / figures["reference"]
            budget = "" if at_once == 1 else "<= 0.5"
            milliseconds = (f"{figures[name]:.2f} ms" for name in ("ours", "reference"))
            rows.append([at_once, turns, f"{ratio:.2f}", budget, *milliseconds])
        table(["at once", "turns", "ours / reference", "budget", "ours", "reference"], rows)


def _cpu_per_episode(target: Target, at_once: int, turns: int) -> float:
    """CPU milliseconds of the server for one episode."""
    total = EPISODES[at_once]
    words = [target.url, target.headers.get("X-API-Key", "x"), TURNS.index(turns), at_once, total]
    before = cpu_of_tree(target.pid)
    subprocess.run([sys.executable, "-m", __name__, json.dumps(words)], check=True)
    return (cpu_of_tree(target.pid) - before) / total * 1e3


async def _play(url: str, key: str, index: int, at_once: int, total: int) -> None:
    async with AsyncEnvironmentsAPI(url, key) as api:
        environment = api.get("bench/dialogue", variant="dialogue")
        left = iter(range(total))

        async def player() -> None:
            for _ in left:
                async with environment.session(split="train", index=index) as session:
                    await session.get_messages(format="openai")
                    await session.list_tools(format="openai")
                    output = await session.call_tool("submit", {"answer": "42"})
                    assert (output.reward, output.finished) == (1.0, True)

        await asyncio.gather(*(player() for _ in range(at_once)))


if __name__ == "__main__":
    asyncio.run(_play(*json.loads(sys.argv[1])))
