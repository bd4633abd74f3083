"""What some tests need from the machine: without it they are skipped, or fail in CI.

`REQUIRE_ALL=1` turns every such skip into a failure, so that nothing goes untested unnoticed.
"""

import os
from typing import Never

import pytest


def everything_is_required() -> bool:
    return os.environ.get("REQUIRE_ALL", "") not in {"", "0"}


def missing(what: str, enable: str) -> Never:
    """End the test for want of ``what``; ``enable`` says how to have it."""
    sentence = f"needs {what}; {enable}"
    if everything_is_required():
        pytest.fail(f"REQUIRE_ALL=1, and this {sentence}", pytrace=False)
    pytest.skip(sentence)
