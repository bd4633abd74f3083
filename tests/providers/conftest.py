from collections.abc import Iterator

import pytest

from tests.kits.fake_openai import FakeOpenAI, fake_openai


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    """A model server on a loopback port."""
    with fake_openai() as running:
        yield running
