"""Intervals against values from outside: statistics tables and Wilson's own formula."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.scoring.metrics import Mean, aggregate
from apps.dialogue.scoring.metrics.estimates import student_quantile, wilson

TABLE = {1: 12.7062, 2: 4.3027, 5: 2.5706, 10: 2.2281, 30: 2.0423, 100: 1.9840, 1000: 1.9623}


@pytest.mark.parametrize(("degrees", "quantile"), TABLE.items())
def test_student_s_quantile_is_that_of_the_tables(degrees: int, quantile: float) -> None:
    assert student_quantile(degrees) == pytest.approx(quantile, abs=1e-4)


@pytest.mark.parametrize(
    ("successes", "count", "low", "high"),
    [
        # Newcombe (1998), Statistics in Medicine 17, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_s_interval_is_that_of_the_literature(
    successes: int, count: int, low: float, high: float
) -> None:
    interval = wilson(successes, count)
    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


def test_a_mean_of_measured_values_has_student_s_interval() -> None:
    estimate = aggregate([1.0, 2.0, 3.0, 4.0, 5.0], 5)
    assert estimate.value == 3.0
    assert estimate.high == pytest.approx(3 + 2.77645 * math.sqrt(2.5 / 5), abs=1e-4)
    assert estimate.low == pytest.approx(3 - 2.77645 * math.sqrt(2.5 / 5), abs=1e-4)


def test_unscored_samples_lower_the_coverage_and_widen_the_bounds_but_not_the_value() -> None:
    estimate = aggregate([1, 1, 0, None], 6)
    assert estimate.value == pytest.approx(2 / 3)
    assert (estimate.n, estimate.total, estimate.coverage) == (3, 6, 0.5)
    assert estimate.low_if_failed == wilson(2, 6).low
    assert estimate.high_if_passed == wilson(5, 6).high


def test_nothing_scored_has_no_value_but_bounds() -> None:
    estimate = aggregate([None, None], 2)
    assert (estimate.value, estimate.low, estimate.high, estimate.coverage) == (None, None, None, 0)
    assert estimate.low_if_failed == 0.0
    assert estimate.high_if_passed == 1.0


def test_no_samples_at_all_is_no_error() -> None:
    assert aggregate([], 0).coverage == 0.0


def test_one_measured_value_tells_no_spread() -> None:
    estimate = aggregate([0.5], 1)
    assert (estimate.value, estimate.low, estimate.high) == (0.5, None, None)


def test_more_values_than_samples_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="2 values"):
        aggregate([1, 0], 1)


def test_true_and_false_are_one_and_nought() -> None:
    metric = Mean(type="mean", field="is_correct", key="k", name="n")
    estimate = metric.estimate([True, False, True, None], 4)
    assert estimate.value == pytest.approx(2 / 3)
    assert estimate.low == wilson(2, 3).low


@given(st.lists(st.sampled_from([0.0, 1.0, None]), max_size=60), st.integers(0, 20))
def test_the_bounds_always_hold_the_interval_which_holds_the_value(
    values: list[float | None], not_played: int
) -> None:
    total = len(values) + not_played
    estimate = aggregate(values, total)
    if estimate.value is None:
        assert estimate.n == 0
        return
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low_if_failed is not None
    assert estimate.high_if_passed is not None
    slack = 1e-12
    assert 0 <= estimate.low <= estimate.value + slack
    assert estimate.value - slack <= estimate.high <= 1
    if estimate.n == total:
        assert (estimate.low_if_failed, estimate.high_if_passed) == (estimate.low, estimate.high)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=40))
def test_a_mean_s_interval_holds_the_mean(values: list[float]) -> None:
    estimate = aggregate(values, len(values))
    assert estimate.value is not None
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low - 1e-9 <= estimate.value <= estimate.high + 1e-9
