"""Every file of the cases, whole and damaged: what is proposed is written, nothing crashes."""

import random
from pathlib import Path

import pytest

from apps.accounts.errors import Refusal
from apps.accounts.permissions import Actor
from apps.dialogue.errors import DialogueError
from apps.tasks.actions import accept_import, propose_import, undo_import
from apps.tasks.models import Import, Split, Task
from apps.tasks.queries import ledger_page, proposed_content

FILES = Path(__file__).parent.parent / "kits" / "cases" / "files"
SAMPLES = sorted(path for path in FILES.iterdir() if path.is_file() and path.suffix != ".py")
DAMAGED = 4
LARGEST = 200_000


def propose(split: Split, actor: Actor, data: bytes, name: str) -> Import | None:
    try:
        return propose_import(
            actor=actor,
            environment=split.environment,
            pieces=[data],
            file_name=name,
            split=split.name,
        )
    except (Refusal, DialogueError):
        return None


def outcomes(actor: Actor, row: Import) -> list[tuple[int, str, str | None]]:
    lines = ledger_page(actor, row, limit=500).lines
    return [(line.row, line.outcome, line.key) for line in lines]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_what_is_proposed_is_written_and_undone(sample: Path, split: Split, author: Actor) -> None:
    whole = sample.read_bytes()
    chance = random.Random(sample.name)
    for data in (whole, *(_damaged(whole, chance) for _ in range(DAMAGED))):
        row = propose(split, author, data, sample.name)
        if row is None:
            continue
        assert row.state == "proposed"
        proposed = outcomes(author, row)
        for number, outcome, _ in proposed:
            assert (proposed_content(author, row, number) is None) <= (outcome == "refused")
        row = accept_import(actor=author, imported=row)
        assert (row.state, outcomes(author, row)) == ("done", proposed)
        assert Task.objects.count() == row.created
        if row.can_be_undone:
            assert undo_import(actor=author, imported=row).removed == row.created
        assert not Task.objects.exists()


def _damaged(data: bytes, chance: random.Random) -> bytes:
    """The bytes with a piece cut out, doubled, or overwritten."""
    if len(data) > LARGEST or not data:
        return data[: len(data) // 2]
    start = chance.randrange(len(data))
    end = min(len(data), start + chance.randint(1, 40))
    piece = data[start:end]
    instead = chance.choice([b"", piece * 2, bytes(chance.randrange(256) for _ in piece)])
    return data[:start] + instead + data[end:]
