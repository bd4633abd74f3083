"""Which paths are the protocol's, and how they share the root of the host with the others."""

from urllib.parse import urlsplit

import pytest
from django.urls import get_resolver

from apps.harness.urls import INSIDE, ROOT, find_address
from apps.tasks.names import RESERVED_SLUGS
from tests.harness.harnesses import Harness


@pytest.mark.parametrize(
    "path",
    [
        "/", "//", "/projects/", "/projects/kit/environments/x/", "/api/v1/projects/", "/admin/",
        "/accounts/login/", "/static/dist/main.js", "/demo/v1/chat/completions", "/favicon.ico",
        "/robots.txt",
    ],
)  # fmt: skip
def test_paths_of_other_surfaces_are_left_alone(path: str) -> None:
    assert find_address(path) is None


@pytest.mark.parametrize("word", ROOT)
def test_root_words_are_found_with_doubled_and_trailing_slashes(word: str) -> None:
    for path in (f"/{word}", f"//{word}", f"/{word}/"):
        address = find_address(path)
        assert address is not None
        assert address.route is ROOT[word]
        assert not address.is_bare


@pytest.mark.parametrize("word", INSIDE)
def test_words_of_an_environment_stand_alone_or_after_its_name(word: str) -> None:
    bare, inside = find_address(f"/{word}"), find_address(f"/shop/{word}")
    assert bare is not None
    assert inside is not None
    assert (bare.route, bare.is_bare) == (INSIDE[word], True)
    assert (inside.route, inside.environment, inside.is_bare) == (INSIDE[word], "shop", False)


@pytest.mark.parametrize(
    "path",
    [
        "/ghost", "/shop/ghost", "/shop/tools/x", "/health/x", "/v1/rollouts", "/tasks/tasks",
        "/ping/prompt",
    ],
)  # fmt: skip
def test_other_paths_lead_nowhere(path: str) -> None:
    address = find_address(path)
    assert address is not None
    assert address.route is None


def test_no_environment_can_take_a_word_of_ours() -> None:
    assert ROOT.keys() | INSIDE.keys() | {"v1"} <= RESERVED_SLUGS


def test_every_address_of_the_other_surfaces_begins_with_a_reserved_word() -> None:
    """Else it would be taken for an environment's."""
    steps = [
        str(pattern.pattern).lstrip("^").split("/")[0] for pattern in get_resolver().url_patterns
    ]
    words = {step for step in steps if step and not step.startswith("<")}
    assert words <= RESERVED_SLUGS


def test_a_path_that_leads_nowhere_is_json_for_harnesses_and_a_page_for_people(
    harness: Harness,
) -> None:
    assert "nothing" in harness.get("/riddles/ghost").detail
    assert Harness(None).get("/riddles/ghost").status == 401
    heard = Harness(None).get("/riddles/ghost", ACCEPT="text/html,*/*")
    assert heard.status == 404
    assert heard.headers["Content-Type"].startswith("text/html")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/prompt?a=1&b=%20c"),
        ("GET", "/messages"),
        ("POST", "/call?x=y"),
        ("GET", "/splits"),
    ],
)
def test_a_bare_path_redirects_to_the_default_environment_method_and_query_kept(
    harness: Harness, method: str, path: str
) -> None:
    sid = harness.session("riddles", "capital")
    body = {"name": "reply", "input": {"text": "Vienna"}} if method == "POST" else None
    heard = harness.ask(method, path, sid, body)
    assert heard.status == 308
    assert heard.headers["Location"] == f"/riddles{path}"
    assert harness.ask(method, heard.headers["Location"], sid, body).status == 200


def test_x_deployment_answers_a_bare_path_at_once(harness: Harness) -> None:
    here = {"X_DEPLOYMENT": "kit/counter"}
    tools = harness.get("/tools", **here).json["tools"]
    assert [tool["name"] for tool in tools] == ["find_order", "submit"]
    assert harness.post("/num_tasks", None, {"split": "test"}, **here).json == {"num_tasks": 2}
    sid = harness.opened()
    assert harness.post("/create", sid, {"split": "test", "index": 0}, **here).status == 200
    assert harness.get("/prompt", sid, **here).json[0]["text"] == "What is 19 + 23?"
    called = harness.post("/call", sid, {"name": "submit", "input": {"answer": "42"}}, **here)
    assert called.result["output"]["reward"] == 1.0


def test_a_path_says_more_than_x_deployment(harness: Harness) -> None:
    """A deployment's variants are served under their own names."""
    splits = harness.get("/riddles/splits", X_DEPLOYMENT="kit/counter").json
    assert [split["name"] for split in splits] == ["train", "test"]


@pytest.mark.parametrize(
    ("deployment", "status"),
    [
        ("kit/ghost", 404), ("nobody/counter", 404), ("kit/counter@v1", 404),
        ("\u00e9/counter", 404), ("a/b/c", 400), ("kit/", 400),
        ("/counter", 400), ("/", 400), ("counter", 400), ("", 400),
    ],
)  # fmt: skip
def test_a_wrong_x_deployment_is_refused(harness: Harness, deployment: str, status: int) -> None:
    assert harness.get("/splits", X_DEPLOYMENT=deployment).status == status


def test_an_unknown_environment_is_not_found(harness: Harness) -> None:
    assert "ghost" in harness.get("/ghost/tools").detail
    assert harness.post("/ghost/tasks", body={"split": "test"}).status == 404
    assert harness.get("/ghost/prompt", harness.session("counter", "sum")).status == 400


@pytest.mark.parametrize(
    "path",
    ["/%0d%0aSet-Cookie:%20x=1/prompt", "/%2f%2fevil.example/prompt",
     "/\\evil.example/prompt", "/\u00e9/prompt", "/%00/prompt", "/%ff/prompt"],
)  # fmt: skip
def test_no_redirect_is_built_from_what_was_sent(harness: Harness, path: str) -> None:
    heard = harness.get(path, "some-session")
    assert heard.status in (400, 404)
    assert "Location" not in heard.headers
    assert "Set-Cookie" not in heard.headers


@pytest.mark.parametrize("word", ROOT)
def test_a_wrong_method_of_a_root_word_is_told_the_right_one(word: str) -> None:
    right = ROOT[word].method
    wrong = "POST" if right == "GET" else "GET"
    for method in (wrong, "PUT", "PATCH", "DELETE"):
        heard = Harness(None).ask(method, f"/{word}")
        assert heard.status == 405
        assert right in heard.headers["Allow"]
        assert heard.detail


@pytest.mark.parametrize("word", INSIDE)
def test_a_wrong_method_inside_an_environment_is_told_the_right_one(word: str) -> None:
    right = INSIDE[word].method
    heard = Harness(None).ask("POST" if right == "GET" else "GET", f"/riddles/{word}")
    assert heard.status == 405
    assert right in heard.headers["Allow"]


def test_head_has_no_body_and_options_names_the_methods(harness: Harness) -> None:
    head = harness.ask("HEAD", "/riddles/splits")
    assert (head.status, head.body) == (200, b"")
    assert int(head.headers["Content-Length"]) > 0
    options = Harness(None).ask("OPTIONS", "/riddles/splits")
    assert (options.status, options.headers["Allow"]) == (204, "GET, HEAD, OPTIONS")


def test_the_query_of_a_redirect_is_ascii(harness: Harness) -> None:
    place = urlsplit(harness.get("/splits?a=\u00e9").headers.get("Location", "/"))
    assert place.netloc == ""
    assert place.query.isascii()
