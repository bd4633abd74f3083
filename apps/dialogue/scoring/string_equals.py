from typing import Literal

from apps.dialogue.scoring.base import AnswerScorer, Scored, verdict


class StringEquals(AnswerScorer):
    """Right if the answer is the ground truth, letter by letter (case matters)."""

    type: Literal["string_equals"]

    def compare(self, answer: str, truth: str) -> Scored:
        return verdict(answer == truth, answer=answer, truth=truth)
