"""What only real processes and real connections show: restarts, dropped streams, rude clients."""

import http.client
import json
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.harness.live import LiveServer, result_in

pytestmark = pytest.mark.worker

LAB = 1


@pytest.fixture
def own(prepared: LiveServer, tmp_path: Path) -> Iterator[LiveServer]:
    """A server that the test may kill; one process with two threads."""
    server = prepared.copy(tmp_path / "own", workers=1, threads=2)
    server.start()
    yield server
    server.stop()


def find_order(server: LiveServer, sid: str, order: str, **more: str) -> bytes:
    body = {"name": "find_order", "input": {"id": order}, **more}
    return server.ask("POST", "/counter/call", body, sid)[1]


def text_in(stream: bytes) -> str:
    output = result_in(stream)["output"]
    assert isinstance(output, dict)
    return str(output["blocks"][0]["text"])


def call_and_hang_up(server: LiveServer, sid: str, order: str) -> str:
    """The id of a call whose client went away as soon as it had it."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    body = json.dumps({"name": "find_order", "input": {"id": order}})
    connection.request("POST", "/counter/call", body, server.headers(sid))
    answer = connection.getresponse()
    seen = b""
    while b"\n\n" not in seen:
        seen += answer.read1(4096)
    assert b"event: end" not in seen
    connection.close()
    found = re.search(rb"data: (\w+)", seen)
    assert found is not None
    return found[1].decode()


def test_the_id_comes_before_the_work_and_the_work_outlives_the_connection(
    live: LiveServer,
) -> None:
    sid = live.session("counter", "test", LAB)
    begun = time.monotonic()
    task_id = call_and_hang_up(live, sid, "slow")
    assert time.monotonic() - begun < 0.5
    with ThreadPoolExecutor(3) as pool:
        resumed = list(pool.map(lambda _: find_order(live, sid, "slow", task_id=task_id), range(3)))
    assert {text_in(stream) for stream in resumed} == {"slow"}


def test_sessions_and_calls_survive_the_death_of_every_process(own: LiveServer) -> None:
    opened = own.ask("POST", "/create_session", {})[1].decode().split("data: ")[1].split("\n")[0]
    sid = own.session("counter", "test", LAB)
    before = own.ask("GET", "/counter/messages", sid=sid)
    task_id = call_and_hang_up(own, sid, "later")
    own.kill()
    own.start()
    body = {"env_name": "counter", "split": "test", "index": 0}
    assert own.ask("POST", "/create", body, opened)[0] == 200
    assert own.ask("GET", "/counter/messages", sid=sid) == before
    assert text_in(find_order(own, sid, "later", task_id=task_id)) == "later"
    submitted = own.ask(
        "POST", "/counter/call", {"name": "submit", "input": {"answer": "done"}}, sid
    )[1]
    own.kill()
    own.start()
    found = re.search(rb"data: (\w+)", submitted)
    assert found is not None
    resume = {"name": "submit", "input": {"answer": "0"}, "task_id": found[1].decode()}
    assert own.ask("POST", "/counter/call", resume, sid)[1] == submitted


def test_waiting_calls_leave_a_thread_for_everybody_else(own: LiveServer) -> None:
    sids = [own.session("counter", "test", LAB) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        begun = time.monotonic()
        waiting = [pool.submit(find_order, own, sid, "later") for sid in sids]
        time.sleep(0.5)
        for _ in range(20):
            assert own.ask("GET", "/health")[0] == 200
        other = own.session("counter", "test", 0)
        assert own.ask("GET", "/counter/prompt", sid=other)[0] == 200
        assert time.monotonic() - begun < 4
        streams = [each.result() for each in waiting]
    ended = [stream for stream in streams if b"event: end" in stream]
    assert [text_in(stream) for stream in ended] == ["later"]
    cut = [stream for stream in streams if b"event: end" not in stream]
    assert all(stream.startswith(b"event: task_id\ndata: ") for stream in cut)


def test_of_simultaneous_creates_one_succeeds(live: LiveServer) -> None:
    opened = live.ask("POST", "/create_session", {})[1].decode().split("data: ")[1].split("\n")[0]
    bodies = [{"env_name": "counter", "split": "test", "index": n % 2} for n in range(12)]
    with ThreadPoolExecutor(12) as pool:
        statuses = pool.map(lambda body: live.ask("POST", "/create", body, opened)[0], bodies)
    assert sorted(statuses) == [200] + [400] * 11


def test_a_doubled_slash_is_one(live: LiveServer) -> None:
    assert live.ask("POST", "//ping", sid=live.session("counter", "test", 0))[0] == 200


def test_one_connection_serves_many_requests(live: LiveServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", live.port, timeout=20)
    sid = live.session("riddles", "test", 0)
    for path, status in [("/health", 200), ("/riddles/prompt", 200), ("/riddles/x", 404)] * 2:
        connection.request("GET", path, headers=live.headers(sid))
        answer = connection.getresponse()
        assert (answer.status, json.loads(answer.read()) is not None) == (status, True)
    connection.close()


def request(server: LiveServer, sid: str, length: int) -> bytes:
    headers = "".join(f"{name}: {value}\r\n" for name, value in server.headers(sid).items())
    return (
        f"POST /counter/call HTTP/1.1\r\nHost: x\r\n{headers}Content-Length: {length}\r\n\r\n"
    ).encode()


def test_an_announced_terabyte_is_refused_at_once(live: LiveServer) -> None:
    sid = live.session("counter", "test", 0)
    with live.connect() as connection:
        connection.settimeout(5)
        connection.sendall(request(live, sid, 10**12) + b'{"name": ')
        assert connection.recv(100).startswith(b"HTTP/1.1 413")


def test_clients_that_hang_up_leave_the_server_well(live: LiveServer) -> None:
    sid = live.session("counter", "test", 0)
    body = json.dumps({"name": "submit", "input": {"answer": "42"}}).encode()
    head = request(live, sid, len(body))
    for sent in (head[:20], head, head + body[:10]):
        with live.connect() as connection:
            connection.sendall(sent)
    stalled: list[socket.socket] = []
    try:
        for _ in range(40):
            stalled.append(live.connect())
            stalled[-1].sendall(head[:-2])
        status, said = live.ask("POST", "/counter/call", json.loads(body), sid)
        assert (status, result_in(said)["ok"]) == (200, True)
    finally:
        for connection in stalled:
            connection.close()
