"""A number with what is needed to believe it: how many, how sure, and what the gaps could hide.

Formulas: Wilson's score interval (E. B. Wilson, 1927) for values that are all 0 or 1; otherwise
Student's t interval of the mean. Both at 95 %. Trials of one task are no independent samples: they
are averaged first (LatticeFlow's default), and the interval is over tasks. Everything is
deterministic.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, lgamma, log, sqrt
from typing import Final

CONFIDENCE: Final = 0.95
NORMAL_QUANTILE: Final = 1.959963984540054
"""The standard normal's 97.5 % quantile."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A metric's value over ``n`` tasks with a score, of ``total`` tasks.

    ``coverage`` is the share of samples (tasks x trials) that were scored, 0 to 1; with one trial
    n / total. ``low`` and ``high`` are the 95 % interval; it is None where one value cannot tell a
    spread. ``low_if_failed`` is the interval's lower end if every unscored sample had got the worst
    score, ``high_if_passed`` its upper end if every one had got the best.
    """

    value: float | None
    n: int
    total: int
    coverage: float
    low: float | None
    high: float | None
    low_if_failed: float | None
    high_if_passed: float | None


@dataclass(frozen=True, slots=True)
class Interval:
    low: float | None
    high: float | None


def aggregate(
    tasks: Sequence[Sequence[float | None]],
    total: int,
    *,
    trials: int = 1,
    worst: float = 0.0,
    best: float = 1.0,
) -> Estimate:
    """Estimate the mean over tasks of the mean over each task's scored trials.

    ``tasks`` holds the scores of every task's trials, None where one is unscored; trials and tasks
    missing from it altogether (not played) count as unscored too: ``total`` tasks were asked for,
    ``trials`` of each. Raises ``ValueError`` if there are more values than that.
    """
    if len(tasks) > total or any(len(task) > trials for task in tasks):
        most = max((len(task) for task in tasks), default=0)
        raise ValueError(
            f"{len(tasks)} tasks of up to {most} values cannot come from {total} tasks of {trials}"
        )
    scored = [[float(value) for value in task if value is not None] for task in tasks]
    scored = [task for task in scored if task]
    is_binary = all(value in (0.0, 1.0) for task in scored for value in task)

    def interval_with(filler: float) -> Interval:
        """As if every unscored sample had got ``filler``."""
        filled = [_mean([*task, *[filler] * (trials - len(task))]) for task in scored]
        filled += [filler] * (total - len(scored))
        return _interval(filled, is_binary=is_binary, trials=trials)

    means = [_mean(task) for task in scored]
    seen = _interval(means, is_binary=is_binary, trials=trials)
    return Estimate(
        value=_mean(means) if means else None,
        n=len(means),
        total=total,
        coverage=sum(map(len, scored)) / (total * trials) if total else 0.0,
        low=seen.low,
        high=seen.high,
        low_if_failed=_outer(min, interval_with(worst).low, seen.low),
        high_if_passed=_outer(max, interval_with(best).high, seen.high),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _outer(
    choose: Callable[[list[float]], float], filled: float | None, seen: float | None
) -> float | None:
    """Return an end of the interval with the gaps filled; it never lies inside the one without."""
    known = [each for each in (filled, seen) if each is not None]
    return choose(known) if known else None


def _interval(means: Sequence[float], *, is_binary: bool, trials: int) -> Interval:
    """Return the interval over tasks: Wilson's for one trial of 0 or 1, else Student's.

    Means of 0 and 1 stay between them. Where they show no spread, Student's interval would have no
    width: then it is Wilson's, never too narrow, as nothing between 0 and 1 spreads further than
    0 and 1.
    """
    if not means:
        return Interval(None, None)
    if is_binary and (trials == 1 or min(means) == max(means)):
        return wilson(sum(means), len(means))
    interval = student(means)
    if is_binary and interval.low is not None and interval.high is not None:
        return Interval(max(0.0, interval.low), min(1.0, interval.high))
    return interval


def student(values: Sequence[float]) -> Interval:
    """Student's 95 % interval of the mean of ``values``; one value alone has none."""
    count = len(values)
    if count == 1:
        return Interval(None, None)
    mean = _mean(values)
    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    reach = student_quantile(count - 1) * sqrt(variance / count)
    return Interval(mean - reach, mean + reach)


def wilson(successes: float, count: int) -> Interval:
    """Wilson's 95 % score interval of a share; it never leaves 0 to 1."""
    square = NORMAL_QUANTILE**2
    share = successes / count
    middle = (share + square / (2 * count)) / (1 + square / count)
    reach = (
        NORMAL_QUANTILE
        * sqrt(share * (1 - share) / count + square / (4 * count * count))
        / (1 + square / count)
    )
    # At a share of 0 or 1 the formula gives exactly 0 or 1; rounding must not step over it.
    low = 0.0 if successes == 0 else max(0.0, middle - reach)
    high = 1.0 if successes == count else min(1.0, middle + reach)
    return Interval(low, high)


@lru_cache(maxsize=4096)
def student_quantile(degrees: int) -> float:
    """Student's t quantile for a 95 % interval with ``degrees`` degrees of freedom."""
    tail = (1 - CONFIDENCE) / 2

    def upper_tail(t: float) -> float:
        return _regularized_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2

    return _falling_root(lambda t: upper_tail(t) - tail, 0.0, 1000.0)


def _falling_root(function: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(200):
        middle = (low + high) / 2
        if function(middle) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _regularized_beta(a: float, b: float, x: float) -> float:
    """The regularized incomplete beta function, by its continued fraction (Lentz's method)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _regularized_beta(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    tiny = 1e-300
    c, d = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1), tiny)
    result = d
    for m in range(1, 500):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for term in (even, odd):
            d = 1 / _away_from_zero(1 + term * d, tiny)
            c = _away_from_zero(1 + term / c, tiny)
            change = c * d
            result *= change
        if abs(change - 1) < 1e-15:
            break
    return front * result


def _away_from_zero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny
