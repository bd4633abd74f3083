"""The pairs of a task for the formats that are written with a chosen and a rejected answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from apps.dialogue.candidates import Candidate
from apps.dialogue.errors import DialogueError
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.base.row_writing import differences
from apps.dialogue.file_formats.base.rows import Loss, TaskContent


@dataclass(frozen=True, slots=True)
class WrittenPair:
    """Two candidates of a task and their places in it; ``key`` is the row's own."""

    key: str | None
    chosen: Candidate
    chosen_place: str
    rejected: Candidate
    rejected_place: str

    @property
    def sides(self) -> tuple[tuple[Candidate, str], tuple[Candidate, str]]:
        return (self.chosen, self.chosen_place), (self.rejected, self.rejected_place)


def pairs_of(task: TaskContent, losses: list[Loss]) -> list[WrittenPair]:
    """Return every chosen candidate with every rejected one; what is in no pair is a loss."""
    if not task.messages:
        losses.append(Loss("messages", "a pair needs a conversation before it"))
        return []
    chosen = _with_verdict(task.candidates, "chosen")
    rejected = _with_verdict(task.candidates, "rejected")
    if not task.candidates:
        losses.append(Loss("candidates", "the task has no candidates to make a pair of"))
        return []
    for index, candidate in enumerate(task.candidates):
        place = f"candidates[{index}]"
        if candidate.verdict == "":
            fault = "neither chosen nor rejected: this format has no place for it"
            losses.append(Loss(place, fault))
        elif not (chosen and rejected):
            other = "rejected" if candidate.verdict == "chosen" else "chosen"
            losses.append(Loss(place, f"there is no {other} candidate to make a pair with"))
    pairs = [
        WrittenPair(task.key, task.candidates[good], f"candidates[{good}]",
                    task.candidates[bad], f"candidates[{bad}]")
        for good in chosen
        for bad in rejected
    ]  # fmt: skip
    if len(pairs) < 2 or task.key is None:
        return pairs
    return [
        WrittenPair(f"{task.key}-{number}", pair.chosen, pair.chosen_place,
                    pair.rejected, pair.rejected_place)
        for number, pair in enumerate(pairs, start=1)
    ]  # fmt: skip


def check_pair(
    pair: WrittenPair,
    row: dict[str, Any],
    read: Callable[[dict[str, Any], list[Note]], TaskContent],
    losses: list[Loss],
) -> None:
    """Read the answers back; what comes out different, and was not told yet, is a loss."""
    told = {loss.place for loss in losses}
    try:
        again = {each.verdict: each for each in read(row, []).candidates}
    except DialogueError:
        return  # check_written has told it
    for candidate, place in pair.sides:
        if any(each.startswith(place) for each in told):
            continue
        read_back = again.get(candidate.verdict)
        after = read_back.messages if read_back else ()
        losses += [
            Loss(f"{place}.{loss.place}", loss.message)
            for loss in differences(candidate.messages, after)
        ]
        if read_back and (candidate.model, candidate.detail) != (read_back.model, read_back.detail):
            losses.append(Loss(f"{place}.detail", "what is known of it would not be read back"))


def _with_verdict(candidates: Sequence[Candidate], verdict: str) -> list[int]:
    return [i for i, candidate in enumerate(candidates) if candidate.verdict == verdict]
