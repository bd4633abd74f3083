"""Every handed sample of the files people bring, through the adapter, with its warnings."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.kits import files_adapter

KITS = Path(__file__).parent
FILES = KITS / "cases/files"
SHARED = KITS.parents[2] / "shared" / "cases"
MANIFEST: dict[str, dict[str, Any]] = json.loads((FILES / "manifest.json").read_text("utf-8"))
SUMS = dict(
    reversed(line.split()) for line in (KITS / "cases/files.sha256").read_text("utf-8").splitlines()
)


@pytest.mark.parametrize("name", MANIFEST)
def test_a_handed_sample_is_read_as_its_truth_says(name: str) -> None:
    truth = MANIFEST[name]
    answer = files_adapter.read(FILES / name)
    assert answer["format"] == truth["format"]
    assert truth["roles"] is None or answer["conversations"] == truth["roles"]
    assert set(truth["warnings"]) <= answer["warnings"]


def test_every_handed_sample_is_here() -> None:
    here = {str(path.relative_to(FILES)) for path in FILES.rglob("*") if path.is_file()}
    assert here == {*MANIFEST, "manifest.json"}
    assert len(MANIFEST) == 80


@pytest.mark.parametrize("name", SUMS)
def test_a_copy_is_what_was_handed(name: str) -> None:
    """Beside the repository the originals may stand; elsewhere the copies keep to their sums."""
    copy = (KITS / name).read_bytes()
    assert hashlib.sha256(copy).hexdigest() == SUMS[name], f"{name} was changed"
    original = SHARED / name.removeprefix("cases/")
    if original.exists():
        assert copy == original.read_bytes(), f"{name} is out of date: copy it again"
