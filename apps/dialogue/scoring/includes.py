from typing import Literal

from apps.dialogue.scoring.base import AnswerScorer, Scored, Unscored, verdict


class Includes(AnswerScorer):
    """Right if the ground truth stands somewhere in the answer; ``ignore_case`` as it says."""

    type: Literal["includes"]
    ignore_case: bool = False

    def compare(self, answer: str, truth: str) -> Scored | Unscored:
        if not truth:
            return Unscored("empty_ground_truth", "an empty ground truth is in every answer")
        found = truth.casefold() in answer.casefold() if self.ignore_case else truth in answer
        return verdict(found, answer=answer, truth=truth)
