"""The demo endpoint on a loopback port of its own, for a process without a web server beside it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from apps.providers.demo import chat_completion

MOST_BYTES = 16 * 2**20


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if self.path != "/demo/v1/chat/completions" or length > MOST_BYTES:
            self.close_connection = True
            self._answer(404, {"error": {"message": "Only POST /demo/v1/chat/completions."}})
            return
        try:
            body = json.loads(self.rfile.read(length))
        except ValueError:
            body = None
        self._answer(*chat_completion(body))

    def _answer(self, status: int, payload: dict[str, Any]) -> None:
        written = json.dumps(payload).encode("ascii")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(written)))
        self.end_headers()
        self.wfile.write(written)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: the ledger knows every call."""


@contextmanager
def demo_server() -> Iterator[str]:
    """Serve the demo endpoint while the block runs; gives its base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, name="demo endpoint", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/demo/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
