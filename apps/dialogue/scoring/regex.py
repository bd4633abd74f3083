import re
from typing import Literal

from pydantic import model_validator

from apps.dialogue.scoring.base import AnswerScorer, Scored, Unscored, verdict
from apps.dialogue.specification import refusal
from apps.dialogue.templating.limits import LimitPassed
from apps.dialogue.templating.patterns import checked_pattern


class Regex(AnswerScorer):
    """Right if the ground truth, a Python regular expression, is found somewhere in the answer.

    A pattern that could run for ever is refused, or leaves the answer unscored if it comes out of
    a template.
    """

    type: Literal["regex"]
    ignore_case: bool = False

    @model_validator(mode="after")
    def _check_pattern(self) -> "Regex":
        if "{{" not in self.ground_truth and "{%" not in self.ground_truth:
            try:
                checked_pattern(self.ground_truth.strip(), "")
            except (LimitPassed, re.error) as error:
                raise refusal(f"the pattern cannot be used: {error}", ".ground_truth") from None
        return self

    def compare(self, answer: str, truth: str) -> Scored | Unscored:
        if not truth:
            return Unscored("empty_ground_truth", "an empty pattern is found in every answer")
        try:
            pattern = checked_pattern(truth, answer, re.IGNORECASE if self.ignore_case else 0)
        except (LimitPassed, re.error) as error:
            return Unscored("bad_pattern", f"the pattern cannot be used: {error}")
        return verdict(pattern.search(answer) is not None, answer=answer, truth=truth)
