"""Every handed case of the conversion rules, through the adapter, by the checker itself."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.kits import check_conversion, conversion_adapter

KITS = Path(__file__).parent
COPY_OF = {
    "cases/conversion.jsonl": "conversion/handed.jsonl",
    "check_conversion.py": "conversion/check.py",
}
SHARED = KITS.parents[2] / "shared" / "cases"
CASES = [
    json.loads(line) for line in (KITS / "cases/conversion.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_handed_case_passes(case: dict[str, Any]) -> None:
    status, note = check_conversion.run_case(conversion_adapter, case)
    assert (status, note) == ("pass", ""), case["why"]


def test_every_handed_case_is_here() -> None:
    assert len(CASES) == 254
    assert len({case["id"] for case in CASES}) == 254


@pytest.mark.parametrize("name", COPY_OF)
def test_a_copy_is_what_was_handed(name: str) -> None:
    """Beside the repository the originals may stand; elsewhere the copies keep to their sums."""
    sums = dict(
        reversed(line.split())
        for line in (KITS / "cases/conversion.sha256").read_text("utf-8").splitlines()
    )
    copy = (KITS / name).read_bytes()
    assert hashlib.sha256(copy).hexdigest() == sums[name], f"{name} was changed"
    original = SHARED / COPY_OF[name]
    if original.exists():
        assert copy == original.read_bytes(), f"{name} is out of date: copy {COPY_OF[name]} again"
