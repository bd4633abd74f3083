"""Every handed vector of the solver's semantics, through the adapter, by the checker itself."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.kits import check_solver, solver_adapter

KITS = Path(__file__).parent
COPY_OF = {
    "cases/solver_vectors.json": "solver_vectors.json",
    "check_solver.py": "check_solver.py",
}
SHARED = KITS.parents[2] / "shared" / "cases"
VECTORS = json.loads((KITS / "cases/solver_vectors.json").read_text("utf-8"))


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["name"] for vector in VECTORS])
def test_a_handed_vector_passes(vector: dict[str, Any]) -> None:
    assert check_solver.failures(vector, solver_adapter.play(vector)) == []


def test_every_handed_vector_is_here() -> None:
    assert [vector["name"][:2] for vector in VECTORS] == [f"{n:02}" for n in range(1, 30)]


def test_the_checker_notices_a_wrong_answer() -> None:
    answer = {**solver_adapter.play(VECTORS[0]), "messages": []}
    assert check_solver.failures(VECTORS[0], answer)


@pytest.mark.parametrize("name", COPY_OF)
def test_a_copy_is_what_was_handed(name: str) -> None:
    """Beside the repository the originals may stand; elsewhere the copies keep to their sums."""
    sums = dict(
        reversed(line.split())
        for line in (KITS / "cases/solver.sha256").read_text("utf-8").splitlines()
    )
    copy = (KITS / name).read_bytes()
    assert hashlib.sha256(copy).hexdigest() == sums[name], f"{name} was changed"
    original = SHARED / COPY_OF[name]
    if original.exists():
        assert copy == original.read_bytes(), f"{name} is out of date: copy {COPY_OF[name]} again"
