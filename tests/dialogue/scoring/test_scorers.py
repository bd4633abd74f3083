"""string_equals and includes: what they compare, and when they say nothing."""

from typing import Any

import pytest

from apps.dialogue.errors import SpecError
from apps.dialogue.message import text_message
from apps.dialogue.scoring import (
    Scored,
    ScoringContext,
    Unscored,
    parse_scorer,
    parse_scorers,
)


def score(scorer: dict[str, Any], answer: str | None, **sample: Any) -> Scored | Unscored:
    return parse_scorer(scorer).score(ScoringContext(sample=sample, answer=answer))


def is_correct(scorer: dict[str, Any], answer: str, **sample: Any) -> bool:
    scored = score(scorer, answer, **sample)
    assert isinstance(scored, Scored)
    return bool(scored.values["is_correct"])


EQUALS = {"type": "string_equals", "ground_truth": "{{ sample.target }}"}
INCLUDES = {"type": "includes", "ground_truth": "{{ sample.target }}"}


@pytest.mark.parametrize(
    ("answer", "right"),
    [("Vienna", True), (" Vienna\n", True), ("vienna", False), ("Vienna.", False), ("", False)],
)
def test_string_equals_compares_the_stripped_answer_letter_by_letter(
    answer: str, right: bool
) -> None:
    assert is_correct(EQUALS, answer, target="Vienna") is right


@pytest.mark.parametrize(
    ("answer", "ignore_case", "right"),
    [
        ("It is Vienna.", False, True),
        ("It is vienna.", False, False),
        ("It is VIENNA.", True, True),
        ("Graz", True, False),
    ],
)
def test_includes_looks_for_the_ground_truth(answer: str, ignore_case: bool, right: bool) -> None:
    assert is_correct({**INCLUDES, "ignore_case": ignore_case}, answer, target="Vienna") is right


def test_a_number_is_a_ground_truth_too() -> None:
    assert is_correct(EQUALS, "42", target=42)


def test_the_score_says_what_was_compared() -> None:
    scored = score(EQUALS, " Vienna ", target="Graz\n")
    assert scored == Scored({"is_correct": False}, {"answer_gt": "Graz", "answer_pred": "Vienna"})


@pytest.mark.parametrize(
    ("value", "right"),
    [
        ("{{ answer|upper }}", True),
        ("{{ messages[-1].content|upper }}", True),
        ("{{ solver_output.output.choices[0].message.content|upper }}", True),
        ("{{ model_outputs[-1].choices[0].message.content|upper }}", True),
        ("{{ trace['items']|length }}", False),
        ("{{ sample.target }}", True),
    ],
)
def test_value_scores_something_else_than_the_answer(value: str, right: bool) -> None:
    context = ScoringContext(
        sample={"target": "VIENNA"},
        messages=[text_message("user", "Q"), text_message("assistant", "Vienna")],
        answer="Vienna",
        trace={"items": [1, 2]},
    )
    scored = parse_scorer({**EQUALS, "value": value}).score(context)
    assert isinstance(scored, Scored)
    assert scored.values["is_correct"] is right


@pytest.mark.parametrize(
    ("scorer", "answer", "sample", "reason"),
    [
        (EQUALS, None, {"target": "x"}, "no_answer"),
        (INCLUDES, None, {"target": "x"}, "no_answer"),
        (EQUALS, "x", {}, "template_error"),
        ({**EQUALS, "value": "{{ answer }}"}, None, {"target": "x"}, "template_error"),
        (INCLUDES, "x", {"target": " "}, "empty_ground_truth"),
    ],
)
def test_what_cannot_be_compared_is_unscored_with_a_reason_and_never_wrong(
    scorer: dict[str, Any], answer: str | None, sample: dict[str, Any], reason: str
) -> None:
    unscored = score(scorer, answer, **sample)
    assert isinstance(unscored, Unscored)
    assert unscored.reason == reason
    assert unscored.message


def test_a_scorer_without_metrics_gets_the_mean_of_its_field() -> None:
    (metric,) = parse_scorer(EQUALS).metrics
    assert (metric.type, metric.field, metric.name, metric.key) == (
        "mean", "is_correct", "is_correct_mean", "is_correct_mean",
    )  # fmt: skip


def test_a_metric_s_key_is_made_of_its_name() -> None:
    metrics = [
        {"type": "mean", "field": "is_correct", "name": "Pass Rate (%)"},
        {"type": "mean", "field": "is_correct", "key": "own", "name": None},
    ]
    parsed = parse_scorer({**EQUALS, "metrics": metrics}).metrics
    assert [(metric.key, metric.name) for metric in parsed] == [
        ("pass_rate", "Pass Rate (%)"),
        ("own", "is_correct_mean"),
    ]


def test_no_metrics_are_no_metrics() -> None:
    assert parse_scorer({**EQUALS, "metrics": []}).metrics == ()


def test_scorers_without_a_key_are_named_by_their_type() -> None:
    scorers = parse_scorers([EQUALS, INCLUDES, EQUALS, {**EQUALS, "key": "string_equals_2"}])
    assert [scorer.key for scorer in scorers] == [
        "string_equals", "includes", "string_equals_3", "string_equals_2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("scorers", "naming"),
    [
        ([{"type": "nope"}], "scorers[0].type: 'nope' is not one of"),
        ([{"type": "includes"}], "scorers[0].ground_truth: is missing"),
        ([{**EQUALS, "ground_truth": "{{"}], "scorers[0].ground_truth: the template is wrong"),
        ([{**EQUALS, "ground_truth": 5}], "scorers[0].ground_truth: must be a text, not 5"),
        ([{**EQUALS, "vlaue": "x"}], "did you mean 'value'"),
        ([{**EQUALS, "purpose": "x"}], "scorers[0].purpose"),
        ([{**EQUALS, "key": "a"}, {**INCLUDES, "key": "a"}], "scorers[1].key: two scorers"),
        ([{**EQUALS, "metrics": [{"type": "max"}]}], "scorers[0].metrics[0].type: 'max'"),
        (
            [{**EQUALS, "metrics": [{"type": "mean", "field": "score"}]}],
            "scorers[0].metrics[0]: string_equals has no score field 'score'",
        ),
        (
            [{**EQUALS, "metrics": [{"type": "mean", "field": "is_correct"}] * 2}],
            "scorers[0].metrics[1]: two metrics",
        ),
        ({}, "scorers: must be a list"),
    ],
)
def test_a_wrong_scorer_is_refused_with_its_place(scorers: Any, naming: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_scorers(scorers)
    assert naming in str(refused.value)
