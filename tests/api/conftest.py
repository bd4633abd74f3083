import pytest

from tests.api.callers import Caller, with_key
from tests.cast import Cast


@pytest.fixture
def api(cast: Cast) -> Caller:
    """A key of ``alpha`` that may do everything there."""
    return with_key(cast.admin_key.secret)


@pytest.fixture
def alpha(api: Caller) -> Caller:
    """The same, below ``/api/v1/projects/alpha/``."""
    return api.at("projects/alpha/")
