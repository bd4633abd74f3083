"""The floor of a run: the same conversation with the bare SDK, nothing stored, nothing checked.

    python -m tests.bench.floor URL SAMPLES AT_ONCE

Prints the CPU seconds it used.
"""

import asyncio
import resource
import sys
from typing import Any

from openai import AsyncOpenAI, DefaultAioHttpClient

EVALUATED, JUDGE = "confirm-then-answer@200", "judge@200"


async def play(client: AsyncOpenAI, question: str) -> None:
    """Ask, confirm, ask again, be told to stop: four calls."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You answer geography questions with one word."},
        {"role": "user", "content": question},
    ]
    for model, role in ((EVALUATED, "assistant"), (JUDGE, "user")) * 2:
        extra = [{"role": "user", "content": "Reply with Yes or <done>."}] if model == JUDGE else []
        answer: Any = await client.post(
            "/chat/completions",
            cast_to=object,
            body={"model": model, "messages": messages + extra},
        )
        messages.append({"role": role, "content": answer["choices"][0]["message"]["content"]})


async def main(url: str, samples: int, at_once: int) -> None:
    left = iter(range(samples))
    async with AsyncOpenAI(
        base_url=url, api_key="none", max_retries=0, http_client=DefaultAioHttpClient()
    ) as client:

        async def player() -> None:
            for number in left:
                await play(client, f"Which city is the capital of country {number}?")

        await asyncio.gather(*(player() for _ in range(at_once)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime)  # noqa: T201
