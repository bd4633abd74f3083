from typing import Any

import pytest

from apps.tasks.models import Task
from tests.api.callers import Caller, with_key
from tests.api.world import furnish
from tests.cast import Cast


@pytest.fixture
def api(cast: Cast) -> Caller:
    """A key of ``alpha`` that may do everything there."""
    return with_key(cast.admin_key.secret)


@pytest.fixture
def alpha(api: Caller) -> Caller:
    """The same, below ``/api/v1/projects/alpha/``."""
    return api.at("projects/alpha/")


@pytest.fixture
def names(cast: Cast, task: Task) -> dict[str, Any]:
    """One object of each kind in ``alpha``, by the name it has in addresses."""
    return furnish(cast, task)
