"""What is sent is read strictly: a clear refusal that names the place, never a guess or a 500."""

from io import BytesIO
from typing import Any

import pytest
from django.test import override_settings

from tests.api.callers import Caller, nobody

KEYS = "keys/"


@pytest.mark.parametrize(
    ("raw", "place", "words"),
    [
        (b'{"name": NaN}', "name", "nan"),
        (b'{"name": [1, Infinity]}', "name[1]", "inf"),
        (b'{"name": 1e999}', "name", "inf"),
        (b'{"name": "\\ud800"}', "name", "lone surrogate"),
        (b'{"a": {"b\\ud800": 1}}', "a", "lone surrogate"),
        (b'{"name": "\\u0000"}', "name", "NUL"),
        (b'{"name": "a", "name": "b"}', "name", "twice"),
        (b'{"name": "\xff"}', "byte 10", "UTF-8"),
        (b'{"name": }', "line 1 column 10", "not JSON"),
        (b"{", "line 1 column 2", "not JSON"),
        (b"\xef\xbb\xbf{}", "line 1 column 1", "BOM"),
        (b"[" * 100_000, None, "nested"),
        (b'{"name":' + b"[" * 300 + b"]" * 300 + b"}", "*", "nested"),
        (b'{"name": ' + b"1" * 5000 + b"}", None, "digits"),
        (b"[]", None, "object"),
        (b'"text"', None, "object"),
        (b"null", None, "object"),
    ],
)
def test_a_body_that_is_no_clean_json_is_refused(
    alpha: Caller, raw: bytes, place: str | None, words: str
) -> None:
    heard = alpha.ask("POST", KEYS, raw)
    assert heard.status == 400
    found = heard.problem
    assert words in found["detail"]
    if place != "*":
        assert found.get("place") == place


def test_a_body_in_another_format_is_refused(alpha: Caller) -> None:
    form = alpha.ask("POST", KEYS, b"name=x", media="application/x-www-form-urlencoded")
    assert form.status == 415
    assert form.problem["title"] == "Unsupported Media Type"


@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=1000)
def test_a_body_that_is_too_large_is_refused(alpha: Caller) -> None:
    heard = alpha.post(KEYS, {"name": "x" * 2000})
    assert heard.status == 413
    assert heard.problem


def test_a_body_without_a_length_is_refused_instead_of_read_as_empty(alpha: Caller) -> None:
    response = alpha.client.generic(
        "POST",
        "/api/v1/projects/alpha/keys/",
        **{"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input": BytesIO(b"{}")},
    )
    assert response.status_code == 411


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({}, ["name"]),
        ({"name": 7}, ["name"]),
        ({"name": ""}, ["name"]),
        ({"name": "n", "scope": ["read"]}, ["scope"]),
        ({"name": "n", "scopes": ["read", "root"]}, ["scopes[1]"]),
        ({"name": "n", "scopes": "read"}, ["scopes"]),
        ({"name": "n", "expires_at": "2030-01-01T00:00:00"}, ["expires_at"]),
        ({"name": None, "colour": 1}, ["name", "colour"]),
    ],
)
def test_every_fault_of_a_body_is_named(alpha: Caller, body: Any, places: list[str]) -> None:
    heard = alpha.post(KEYS, body)
    assert heard.status == 422
    found = heard.problem
    assert found["place"] == places[0]
    named = [each["place"] for each in found.get("problems", [{"place": found["place"]}])]
    assert named == places


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("limit=0", "query.limit"),
        ("limit=501", "query.limit"),
        ("limit=ten", "query.limit"),
        ("page=2", "query.page"),
        ("limit=1&limit=2", "query.limit"),
        ("after=nonsense", "query.after"),
        ("after=%00", "query.after"),
        ("after=%F0%9F%98%80", "query.after"),
        ("after=WzFd", "query.after"),
        ("after=WyJcdWQ4MDAiLCAxXQ", "query.after"),
        ("after=WyJhIiwgOTk5OTk5OTk5OTk5OTk5OTk5OTk5XQ", "query.after"),
        ("after=WyJhIiwgdHJ1ZV0", "query.after"),
        ("after=" + "A" * 3000, "query.after"),
    ],
)
def test_a_query_that_means_nothing_is_refused(api: Caller, query: str, place: str) -> None:
    heard = api.get(f"projects/?{query}")
    assert heard.status == 422
    assert heard.problem["place"] == place


@pytest.mark.parametrize(
    "path",
    [
        "projects/a%00b/",
        "projects/%ED%A0%80/",
        "projects/alpha/environments/%00/tasks/",
        "projects/alpha/keys/99999999999999999999/",
        "projects/alpha/keys/999999999999999999/",
        "projects/alpha/nothing/",
        "nothing/",
        "",
    ],
)
def test_an_address_of_nothing_is_not_found(api: Caller, path: str) -> None:
    for method in ("GET", "DELETE"):
        heard = api.ask(method, path)
        assert heard.status in {404, 405}
        assert heard.problem


def test_a_forgotten_slash_is_pointed_out(api: Caller) -> None:
    heard = api.get("projects")
    assert heard.status == 404
    assert "/api/v1/projects/ ?" in heard.problem["detail"]


@pytest.mark.django_db
def test_unknown_addresses_are_problems_for_everybody() -> None:
    for method in ("GET", "POST"):
        heard = nobody().ask(method, "../v2/anything")
        assert heard.status == 404
        assert heard.problem


def test_a_method_that_an_address_has_not_is_named(api: Caller) -> None:
    heard = api.put("projects/", {})
    assert heard.status == 405
    assert heard.headers["Allow"].startswith("GET, POST")
    assert heard.problem


def test_any_accept_header_gets_json(alpha: Caller) -> None:
    alpha.client.defaults["HTTP_ACCEPT"] = "text/html"
    heard = alpha.get()
    assert heard.status == 200
    assert heard.headers["Content-Type"] == "application/json"
