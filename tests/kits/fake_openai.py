"""An OpenAI-compatible server on a loopback port, for tests: real HTTP, scripted behaviour.

The behaviour is the model's name; ``@50`` behind it lets the reply wait 50 ms. It counts what it
was asked, so that a test can say how often a request was really sent.
"""

import asyncio
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


@dataclass(frozen=True)
class Received:
    """One request as it arrived; ``digest`` is what the ledger calls its fingerprint."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    digest: str
    at: float

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body.get("messages") or self.body.get("input") or [])


@dataclass
class FakeOpenAI:
    """What the server was asked, and a gate that holds its replies back while it is closed."""

    requests: list[Received] = field(default_factory=list)
    answered: list[Received] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    url: str = ""
    most_in_flight: int = 0
    in_flight: int = 0

    def sent(self) -> Counter[str]:
        """How often each different request was sent."""
        return Counter(received.digest for received in self.requests)

    def wait_for(self, count: int, seconds: float = 20) -> None:
        """Wait until ``count`` requests have arrived."""
        deadline = time.monotonic() + seconds
        while len(self.requests) < count:
            if time.monotonic() > deadline:
                raise AssertionError(f"only {len(self.requests)} of {count} requests arrived")
            time.sleep(0.01)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        received = Received(
            request.path,
            json.loads(raw),
            dict(request.headers),
            _fingerprint(self.url, request.path, raw),
            time.monotonic(),
        )
        self.requests.append(received)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            name, _, milliseconds = str(received.body["model"]).partition("@")
            await asyncio.sleep(int(milliseconds or 0) / 1000)
            while not self.gate.is_set():
                await asyncio.sleep(0.01)
            response = self._behave(name, received, request)
        finally:
            self.in_flight -= 1
        self.answered.append(received)
        return response

    def _behave(self, name: str, received: Received, request: web.Request) -> web.StreamResponse:
        if name == "disconnect":
            assert request.transport is not None
            request.transport.abort()
        if name == "bad-json":
            return web.Response(text='{"choices": [', content_type="application/json")
        if name == "no-json":
            return web.Response(text="<html>It works!</html>", content_type="text/html")
        if name == "redirect":
            raise web.HTTPFound("http://127.0.0.1:1/elsewhere")
        if name.startswith("status-"):
            return _refusal(int(name.removeprefix("status-")), received)
        if name.startswith("flaky-") and self.sent()[received.digest] <= int(name[6:]):
            return _refusal(429, received)
        return web.json_response(_completion(name, received))


def _fingerprint(url: str, path: str, raw: bytes) -> str:
    asked = f"{url}{path.removeprefix('/v1')}\n".encode() + raw
    return hashlib.sha256(asked).hexdigest()


def _refusal(status: int, received: Received) -> web.Response:
    """An error in OpenAI's shape; it repeats the key it was sent, as real ones do."""
    key = received.headers.get("Authorization", "no key")
    error = {"message": f"Refused with {status} for {key}", "type": "error", "code": None}
    if status == 413:
        error |= {"code": "context_length_exceeded"}
        status = 400
    headers = {"Retry-After": "0.05"} if status == 429 else {}
    return web.json_response({"error": error}, status=status, headers=headers)


def _completion(name: str, received: Received) -> dict[str, Any]:
    if received.path.endswith("/responses"):
        return _response(name, received)
    message: dict[str, Any] = {"role": "assistant", "content": _text(name, received.messages)}
    finish = "stop"
    match name:
        case "refuse":
            message |= {"content": None, "refusal": "No."}
        case "truncate":
            finish = "length"
        case "reasoning":
            message |= {"reasoning_content": "Let me think."}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion", "choices": [choice], "usage": USAGE}


def _response(name: str, received: Received) -> dict[str, Any]:
    text = _text(name, received.messages)
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {
        "id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [part]
    }  # fmt: skip
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    return {
        "id": "r",
        "object": "response",
        "status": "completed",
        "output": [item],
        "usage": usage,
    }


def _text(name: str, messages: list[dict[str, Any]]) -> str:
    last = {"user": "", "assistant": ""}
    for message in messages:
        content = message.get("content")
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
        last[str(message.get("role"))] = content or ""
    match name:
        case "empty":
            return ""
        case "confirm-then-answer":
            return "Vienna" if last["assistant"] else f"{last['user']} Is that right?"
        case "judge":
            return "Yes" if last["assistant"].endswith("?") else "<done>"
        case "null":
            return "\x00"
        case _:
            return last["user"] or "ok"


@contextmanager
def fake_openai() -> Iterator[FakeOpenAI]:
    """Serve while the block runs, in a thread with an event loop of its own."""
    fake = FakeOpenAI()
    fake.gate.set()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start() -> web.AppRunner:
        app = web.Application(client_max_size=2**26)
        app.router.add_post("/v1/{rest:.*}", fake.answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        fake.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        return runner

    runner = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    try:
        yield fake
    finally:
        fake.gate.set()
        asyncio.run_coroutine_threadsafe(_stop(runner), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _stop(runner: web.AppRunner) -> None:
    """End the server and the replies that nobody waits for any more."""
    await runner.cleanup()
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
