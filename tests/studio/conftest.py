"""Visitors of the studio: Django's client by name, and a real browser at a running server."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.cache import cache
from django.test import Client
from playwright.sync_api import Browser, Page, sync_playwright
from pytest_django.live_server_helper import LiveServer

from tests.cast import Cast
from tests.kits.chromium import FLAGS, program
from tests.kits.fake_openai import FakeOpenAI, fake_openai
from tests.needs import missing
from tests.runs.stage import Stage
from tests.studio.visitors import BROWSER, Visitor

PATIENCE_MS = 15_000

OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Chromium, started once a module: while it runs, this thread can run no event loop."""
    found = program()
    if found is None:
        missing("Chromium", "install it, for example with `apt-get install chromium`")
    if not Path(settings.DJANGO_VITE["default"]["manifest_path"]).exists():
        missing("the built front end", "build it with `npm run build`")
    # Playwright keeps an event loop in this thread, which Django takes for a sign of async code.
    before = os.environ.get("DJANGO_ALLOW_ASYNC_UNSAFE")
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield browser
        browser.close()
    if before is None:
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]
    else:
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = before


@pytest.fixture
def open_page(live_server: LiveServer, chromium: Browser) -> Iterator[OpenPage]:
    """``open_page("author", "/projects/", width=390)``: a window of its own, signed in.

    A page that logs an error to its console, or throws, fails the test at its end.
    """
    contexts = []
    faults: list[str] = []

    def open_as(name: str, path: str, *, width: int = 1440, height: int = 900) -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, base_url=live_server.url
        )
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        client = Client()
        client.force_login(get_user_model().objects.get(username=name))
        session = client.cookies["sessionid"].value
        context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(path)
        return page

    yield open_as
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture
def visit(cast: Cast) -> Visitor:
    """A client by the name of who is signed in; ``nobody`` is not."""

    def visitor(name: str) -> Client:
        client = Client(headers=BROWSER)
        if name != "nobody":
            client.force_login(getattr(cast, name))
        return client

    return visitor


@pytest.fixture
def fresh_limits() -> Iterator[None]:
    """No attempt to sign in is remembered from, or for, another test."""
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    """A model server on a loopback port."""
    with fake_openai() as running:
        yield running


@pytest.fixture
def stage(cast: Cast, server: FakeOpenAI) -> Stage:
    """``alpha/capitals`` with three tasks, the endpoint ``judge``; see `tests.runs.stage`."""
    return Stage(cast, server.url)
