"""How numbers and times are written."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from time_machine import travel

from apps.studio import figures
from apps.studio.paging import whole_number

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "written"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=5), "5 min ago"),
        (timedelta(hours=3), "3 h ago"),
        (timedelta(days=2), "2 d ago"),
        (timedelta(days=30), "4 Apr"),
        (timedelta(days=200), "16 Oct 2025"),
        (timedelta(seconds=-5), "just now"),
    ],
)
def test_times_are_told_from_now(before: timedelta, written: str) -> None:
    with travel(NOW, tick=False):
        assert figures.ago(NOW - before) == written


@pytest.mark.parametrize(
    ("write", "value", "written"),
    [
        (figures.duration, 0.84, "0.8 s"),
        (figures.duration, 42, "42 s"),
        (figures.duration, 185, "3 min 05 s"),
        (figures.duration, 7800, "2 h 10 min"),
        (figures.duration, None, ""),
        (figures.milliseconds, 85.4, "85 ms"),
        (figures.milliseconds, 1240, "1.24 s"),
        (figures.milliseconds, 61_000, "1 min 01 s"),
        (figures.count, 12_400, "12,400"),
        (figures.tokens, 980, "980"),
        (figures.tokens, 12_400, "12.4k"),
        (figures.tokens, 3_100_000, "3.1M"),
        (figures.money, Decimal("0"), "0.00"),
        (figures.money, Decimal("1234.5"), "1,234.50"),
        (figures.money, Decimal("0.0123"), "0.0123"),
        (figures.money, Decimal("0.00000123"), "0.000001"),
        (figures.money, None, ""),
        (figures.percent, 1.0, "100%"),
        (figures.percent, 0.8333, "83.3%"),
        (figures.percent, 0.0, "0%"),
        (figures.estimate, 0.8, "0.800"),
        (figures.verdict, True, "yes"),
        (figures.verdict, False, "no"),
        (figures.verdict, 0.5, "number"),
        (figures.verdict, "B", "text"),
        (figures.words, "max_iterations", "max iterations"),
        (figures.pretty_json, '{"b":1,"a":"ü"}', '{\n  "b": 1,\n  "a": "ü"\n}'),
        (figures.pretty_json, "not json", "not json"),
        (figures.unlocalized, 12.5, "12.5"),
    ],
)
def test_numbers_are_short_and_fixed(write: Any, value: Any, written: str) -> None:
    assert write(value) == written


def test_time_left_is_told_once_there_is_a_pace() -> None:
    facts = {"done": 0, "total": 10, "seconds": 5.0}
    assert figures.time_left(facts) is None
    assert figures.time_left({**facts, "done": 2}) == 20


def test_only_states_of_an_open_run_are_offered_while_it_is_open() -> None:
    facts = {"ended": {"completed": 3, "cancelled": 0}, "open": False}
    assert figures.end_reasons(facts) == ["completed"]
    assert figures.end_reasons({**facts, "open": True}) == ["completed", "running", "waiting"]


def test_a_number_in_an_address_is_a_whole_one() -> None:
    assert whole_number("12", place="after") == 12
