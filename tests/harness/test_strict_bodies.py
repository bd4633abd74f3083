"""Bodies that other readers would read differently, or that nobody could send on, are refused."""

from typing import Any

import pytest
from django.test import RequestFactory

from apps.episodes.models import ToolRun
from apps.harness.bodies import LARGEST_BODY, Call, InSplit, read_body
from apps.harness.errors import BadRequest, TooLarge
from tests.harness.harnesses import Harness

DEEP = b"[" * 100_000 + b"]" * 100_000
WRONG = {
    "empty": b"", "brace": b"{", "text": b"hello", "trailing": b'{"split": "test"} x',
    "single quotes": b"{'split': 'test'}", "not utf-8": b'{"split": "\xff\xfe"}',
    "utf-16": '{"split": "test"}'.encode("utf-16"), "bom": b'\xef\xbb\xbf{"split": "test"}',
    "deep list": b'{"split": ' + DEEP + b"}",
    "deep object": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "a little too deep": b'{"split": ' + b"[" * 201 + b"]" * 201 + b"}",
    "long number": b'{"split": "test", "index": ' + b"9" * 5000 + b"}",
    "infinite": b'{"split": "test", "index": 1e999}', "nan": b'{"split": "test", "index": NaN}',
    "minus infinity": b'{"split": "test", "index": -Infinity}',
    "null byte": b'{"split": "te\\u0000st", "index": 0}',
    "surrogate": b'{"split": "\\ud800", "index": 0}', "surrogate key": b'{"\\ud800": "test"}',
    "null": b"null", "true": b"true", "number": b"7",
}  # fmt: skip


@pytest.mark.parametrize("path", ["/create", "/riddles/task", "/riddles/call"])
def test_a_bad_body_is_the_callers_fault(harness: Harness, path: str) -> None:
    sid = harness.opened() if path == "/create" else harness.session("riddles", "capital")
    for name, body in WRONG.items():
        heard = harness.post(path, sid, body)
        assert heard.status in (400, 422), name
        assert len(heard.detail) < 1000


@pytest.mark.parametrize(
    "body",
    [
        b'{"name": "\\ud800", "input": {}}',
        b'{"name": "submit", "input": {"answer": "\\ud800"}}',
        b'{"name": "submit", "input": {"\\ud800": 1}}',
        b'{"name": "submit", "input": {"answer": ' + b"[" * 250 + b"]" * 250 + b"}}",
    ],
)
def test_a_call_that_could_not_be_written_down_is_not_run(harness: Harness, body: bytes) -> None:
    heard = harness.post("/counter/call", harness.session("counter", "sum"), body)
    assert heard.status == 400
    assert not ToolRun.objects.exists()


@pytest.mark.parametrize(
    "given",
    [
        {"answer": "\0"}, {"answer": "a\0b" * 10}, {"answer": "x" * 1_000_000},
        {"answer": "\u2028\u0085\ufeff\u202e"}, {"answer": "42", "\0": "\0"},
        {"answer": "42", "x": {"y": [[[[1e308]]]]}}, {"answer": "42", "n": 10**4000},
        {"answer": "{{ 7*7 }} {% debug %} %s %n <script>"},
    ],
    ids=["nul", "nuls", "megabyte", "odd", "nul key", "nested", "long number", "templates"],
)  # fmt: skip
def test_any_text_can_be_submitted(harness: Harness, given: Any) -> None:
    heard = harness.call(harness.session("counter", "sum"), "submit", given)
    assert heard.result["ok"] is True
    assert heard.result["output"]["reward"] in (0.0, 1.0)


def test_a_refusal_does_not_repeat_the_body(harness: Harness) -> None:
    for body in ({"split": ["x" * 100_000]}, {"split": "x" * 100_000}, {"x" * 100_000: 1}):
        heard = harness.post("/riddles/tasks", body=body)
        assert heard.status in (400, 422)
        assert len(heard.body) < 2000


def test_many_problems_are_told_in_few_words(harness: Harness) -> None:
    heard = harness.post("/riddles/tasks", body={f"k{n}": n for n in range(1000)})
    assert heard.status == 422
    assert "and 997 more" in heard.detail
    assert len(heard.body) < 2000


@pytest.mark.parametrize("media", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_the_media_type_does_not_matter(harness: Harness, media: str) -> None:
    answer = harness.client.generic(
        "POST", "/riddles/num_tasks", b'{"split": "test"}', media, HTTP_X_API_KEY=harness.secret
    )
    assert answer.json() == {"num_tasks": 2}


class Announced:
    """A stream that says more than it has, or has more than it says."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def read(self, size: int) -> bytes:
        piece, self.body = self.body[:size], self.body[size:]
        return piece


def asked(body: bytes, **meta: str) -> Any:
    request = RequestFactory().post("/riddles/call")
    request.META.pop("CONTENT_LENGTH")
    request.META.update({"wsgi.input": Announced(body), **meta})
    return request


def test_an_announced_terabyte_is_refused_before_it_is_read() -> None:
    stream_not_touched = asked(b"{}", CONTENT_LENGTH=str(10**12))
    with pytest.raises(TooLarge):
        read_body(stream_not_touched, Call)
    assert stream_not_touched.META["wsgi.input"].body == b"{}"


def test_a_chunked_body_is_read_to_its_end_and_not_beyond_the_limit() -> None:
    chunked = {"HTTP_TRANSFER_ENCODING": "chunked"}
    assert read_body(asked(b'{"split": "test"}', **chunked), InSplit).split == "test"
    with pytest.raises(TooLarge):
        read_body(asked(b" " * (LARGEST_BODY + 1), **chunked), InSplit)


def test_a_body_that_was_cut_off_is_refused() -> None:
    with pytest.raises(BadRequest, match="ended before"):
        read_body(asked(b'{"split": "test"', CONTENT_LENGTH="17"), InSplit)


@pytest.mark.parametrize("length", ["-1", "x", "1e3", "\u0665"])
def test_a_nonsensical_length_is_refused(length: str) -> None:
    with pytest.raises(BadRequest):
        read_body(asked(b"{}", CONTENT_LENGTH=length), InSplit)
