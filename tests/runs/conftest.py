from collections.abc import Iterator

import pytest

from tests.cast import Cast
from tests.kits.fake_openai import FakeOpenAI, fake_openai
from tests.runs.stage import Stage


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    """A model server on a loopback port."""
    with fake_openai() as running:
        yield running


@pytest.fixture
def stage(cast: Cast, server: FakeOpenAI) -> Stage:
    """Three tasks, the endpoint ``judge`` at the server; see `tests.runs.stage`."""
    return Stage(cast, server.url)
