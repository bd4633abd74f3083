"""Intervals against values from outside: statistics tables and Wilson's own formula."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dialogue.scoring.metrics import Mean, aggregate
from apps.dialogue.scoring.metrics.estimates import student_quantile, wilson

TABLE = {1: 12.7062, 2: 4.3027, 5: 2.5706, 10: 2.2281, 30: 2.0423, 100: 1.9840, 1000: 1.9623}


def once(*values: float | None) -> list[list[float | None]]:
    """One trial of each task."""
    return [[value] for value in values]


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
    estimate = aggregate(once(1.0, 2.0, 3.0, 4.0, 5.0), 5)
    assert estimate.value == 3.0
    assert estimate.high == pytest.approx(3 + 2.77645 * math.sqrt(2.5 / 5), abs=1e-4)
    assert estimate.low == pytest.approx(3 - 2.77645 * math.sqrt(2.5 / 5), abs=1e-4)


def test_unscored_samples_lower_the_coverage_and_widen_the_bounds_but_not_the_value() -> None:
    estimate = aggregate(once(1, 1, 0, None), 6)
    assert estimate.value == pytest.approx(2 / 3)
    assert (estimate.n, estimate.total, estimate.coverage) == (3, 6, 0.5)
    assert estimate.low_if_failed == wilson(2, 6).low
    assert estimate.high_if_passed == wilson(5, 6).high


def test_nothing_scored_has_no_value_but_bounds() -> None:
    estimate = aggregate(once(None, None), 2)
    assert (estimate.value, estimate.low, estimate.high, estimate.coverage) == (None, None, None, 0)
    assert estimate.low_if_failed == 0.0
    assert estimate.high_if_passed == 1.0


def test_no_samples_at_all_is_no_error() -> None:
    assert aggregate([], 0).coverage == 0.0


def test_one_measured_value_tells_no_spread() -> None:
    estimate = aggregate(once(0.5), 1)
    assert (estimate.value, estimate.low, estimate.high) == (0.5, None, None)


def test_more_values_than_samples_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="2 tasks"):
        aggregate(once(1, 0), 1)


def test_true_and_false_are_one_and_nought() -> None:
    metric = Mean(type="mean", field="is_correct", key="k", name="n")
    estimate = metric.estimate(once(True, False, True, None), 4)
    assert estimate.value == pytest.approx(2 / 3)
    assert estimate.low == wilson(2, 3).low


def test_trials_of_a_task_are_averaged_before_the_interval_is_taken_over_tasks() -> None:
    """By hand: means 1, 1/2, 0, 1/2; mean 1/2, variance 1/6, 3.1824 * sqrt(1/24) = 0.6496."""
    estimate = aggregate([[1, 1], [1, 0], [0, 0], [0, 1]], 4, trials=2)
    assert (estimate.value, estimate.n, estimate.total, estimate.coverage) == (0.5, 4, 4, 1.0)
    assert (estimate.low, estimate.high) == (0.0, 1.0)
    assert (estimate.low_if_failed, estimate.high_if_passed) == (0.0, 1.0)


def test_the_interval_over_tasks_is_student_s() -> None:
    """By hand, 10 tasks: nine means of 1/2 and one of 3/4; mean 0.525, variance 0.00625,
    reach 2.26216 * sqrt(0.000625) = 0.056554."""
    tasks = [[1, 0, 1, 0]] * 9 + [[1, 1, 1, 0]]
    estimate = aggregate(tasks, 10, trials=4)
    assert estimate.value == pytest.approx(0.525)
    assert estimate.low == pytest.approx(0.525 - 0.056554, abs=1e-6)
    assert estimate.high == pytest.approx(0.525 + 0.056554, abs=1e-6)


def test_more_trials_that_agree_do_not_make_surer() -> None:
    once_each = aggregate(once(1, 0, 1, 1), 4)
    often = aggregate([[1] * 9, [0] * 9, [1] * 9, [1] * 9], 4, trials=9)
    assert often.value == once_each.value
    assert often.low is not None
    assert once_each.low is not None
    assert often.low <= once_each.low


@pytest.mark.parametrize(("share", "successes"), [([1, 1], 3), ([0, 0], 0), ([1, 0], 1.5)])
def test_trials_without_a_spread_between_tasks_are_no_certainty(
    share: list[float | None], successes: float
) -> None:
    estimate = aggregate([share] * 3, 3, trials=2)
    assert (estimate.low, estimate.high) == (
        wilson(successes, 3).low,
        wilson(successes, 3).high,
    )


def test_unscored_trials_count_for_no_mean_and_open_the_bounds() -> None:
    """By hand: means 1 (of one trial) and 1/2, the third task has none; filled with 0 the means are
    1/2, 1/2 and 0, filled with 1 they are 1, 1/2 and 1."""
    estimate = aggregate([[1, None], [1, 0], [None, None]], 3, trials=2)
    assert (estimate.value, estimate.n, estimate.total) == (0.75, 2, 3)
    assert estimate.coverage == pytest.approx(3 / 6)
    assert estimate.low_if_failed == 0.0  # 1/3 - 4.3027 * sqrt(1/12 / 3) is below
    assert estimate.high_if_passed == 1.0


def test_the_bounds_of_many_tasks_with_missing_trials() -> None:
    """By hand: 20 tasks of 2 trials, 10 means of 1/2 and 10 of 1 with one trial each. Filled with 0
    all means are 1/2 (Wilson of 10 of 20: 0.2993); filled with 1 half are 1/2 and half 1:
    mean 0.75, variance 0.065789, reach 2.09302 * sqrt(0.00328947) = 0.120042."""
    estimate = aggregate([[1, 0]] * 10 + [[1]] * 10, 20, trials=2)
    assert estimate.value == pytest.approx(0.75)
    assert estimate.coverage == pytest.approx(30 / 40)
    assert estimate.low_if_failed == pytest.approx(0.2993, abs=1e-4)
    assert estimate.high_if_passed == pytest.approx(0.870042, abs=1e-5)
    assert estimate.high == pytest.approx(0.870042, abs=1e-5)


def test_measured_values_of_trials_are_not_held_between_nought_and_one() -> None:
    estimate = aggregate([[3.0, 5.0], [9.0, 7.0]], 2, trials=2)
    assert estimate.value == 6.0
    assert estimate.high == pytest.approx(6 + 12.7062 * math.sqrt(8 / 2), abs=1e-3)


@given(
    st.lists(st.lists(st.sampled_from([0.0, 1.0, None]), max_size=4), max_size=30),
    st.integers(0, 5),
)
def test_the_bounds_hold_the_interval_for_trials_too(
    tasks: list[list[float | None]], not_played: int
) -> None:
    estimate = aggregate(tasks, len(tasks) + not_played, trials=4)
    if estimate.value is None:
        return
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low_if_failed is not None
    assert estimate.high_if_passed is not None
    slack = 1e-12
    assert 0 <= estimate.low_if_failed <= estimate.low <= estimate.value + slack
    assert estimate.value - slack <= estimate.high <= estimate.high_if_passed <= 1


@given(st.lists(st.sampled_from([0.0, 1.0, None]), max_size=60), st.integers(0, 20))
def test_the_bounds_always_hold_the_interval_which_holds_the_value(
    values: list[float | None], not_played: int
) -> None:
    total = len(values) + not_played
    estimate = aggregate(once(*values), total)
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
    estimate = aggregate(once(*values), len(values))
    assert estimate.value is not None
    assert estimate.low is not None
    assert estimate.high is not None
    assert estimate.low - 1e-9 <= estimate.value <= estimate.high + 1e-9
