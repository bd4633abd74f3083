"""The scorer `regex`: a pattern that is found in the answer, and patterns nobody should run."""

import pytest

from apps.dialogue.errors import SpecError
from apps.dialogue.scoring import Scored, ScoringContext, Unscored, parse_scorer


def _score(pattern: str, answer: str | None, **fields: object) -> Scored | Unscored:
    scorer = parse_scorer({"type": "regex", "ground_truth": pattern, **fields})
    return scorer.score(ScoringContext(sample={"unit": "km", "bad": "("}, answer=answer))


@pytest.mark.parametrize(
    ("pattern", "answer", "right"),
    [
        (r"\b1\d\b", "It is 14.", True),
        (r"\b1\d\b", "It is 114.", False),
        (r"^yes$", "  yes\n", True),
        (r"YES", "yes", False),
        (r"\d+ {{ sample.unit }}", "about 12 km away", True),
    ],
)
def test_an_answer_is_right_if_the_pattern_is_found_in_it(
    pattern: str, answer: str, right: bool
) -> None:
    scored = _score(pattern, answer)
    assert isinstance(scored, Scored)
    assert scored.values == {"is_correct": right}


def test_the_case_can_be_ignored() -> None:
    scored = _score("YES", "yes", ignore_case=True)
    assert isinstance(scored, Scored)
    assert scored.values["is_correct"] is True


@pytest.mark.parametrize("pattern", ["(", "(a+)+", "a{1,99999999999}"])
def test_a_pattern_that_cannot_be_run_is_refused_with_the_spec(pattern: str) -> None:
    with pytest.raises(SpecError) as refusal:
        parse_scorer({"type": "regex", "ground_truth": pattern})
    assert refusal.value.place == "ground_truth"


@pytest.mark.parametrize(
    ("pattern", "answer", "reason"),
    [
        ("{{ sample.bad }}", "x", "bad_pattern"),
        ("{{ sample.missing }}", "x", "template_error"),
        ("  ", "x", "empty_ground_truth"),
        ("x", None, "no_answer"),
    ],
)
def test_what_cannot_be_scored_is_unscored_with_its_reason(
    pattern: str, answer: str | None, reason: str
) -> None:
    unscored = _score(pattern, answer)
    assert isinstance(unscored, Unscored)
    assert unscored.reason == reason
