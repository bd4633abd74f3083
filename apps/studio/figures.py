"""How the studio writes numbers and times: short, in fixed forms, with their doubt beside them."""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from apps.runs.actions import RETRIED

MINUTE, HOUR, DAY, WEEK = 60, 3600, 86_400, 7 * 86_400


def ago(moment: datetime | None) -> str:
    """``now``, ``5 min``, ``3 h``, ``2 d`` ago, then the date; an empty text for no moment."""
    if moment is None:
        return ""
    now = timezone.now()
    seconds = (now - moment) / timedelta(seconds=1)
    if seconds < MINUTE:
        return "just now"
    if seconds < HOUR:
        return f"{int(seconds // MINUTE)} min ago"
    if seconds < DAY:
        return f"{int(seconds // HOUR)} h ago"
    if seconds < WEEK:
        return f"{int(seconds // DAY)} d ago"
    same_year = moment.year == now.year
    return f"{moment.day} {moment:%b}" if same_year else f"{moment.day} {moment:%b %Y}"


def duration(seconds: float | None) -> str:
    """``0.8 s``, ``42 s``, ``3 min 05 s``, ``2 h 10 min``."""
    if seconds is None:
        return ""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE:02d} s"
    return f"{whole // HOUR} h {whole % HOUR // MINUTE:02d} min"


def milliseconds(value: float | None) -> str:
    """``85 ms``, ``1.24 s``, ``42 s``."""
    if value is None:
        return ""
    if value < 1000:
        return f"{value:.0f} ms"
    return f"{value / 1000:.2f} s" if value < 10_000 else duration(value / 1000)


def count(number: int | None) -> str:
    """A whole number with thin groups: ``12,400``."""
    return "" if number is None else f"{number:,}"


def tokens(number: int | None) -> str:
    """``980``, ``12.4k``, ``3.1M``."""
    if number is None:
        return ""
    if number < 10_000:
        return f"{number:,}"
    return f"{number / 1000:.1f}k" if number < 1_000_000 else f"{number / 1e6:.1f}M"


def money(amount: Decimal | None) -> str:
    """Two digits from one unit up, more below: a call may cost a thousandth of a cent."""
    if amount is None:
        return ""
    if amount == 0:
        return "0.00"
    if amount >= 1:
        return f"{amount:,.2f}"
    return f"{amount:.4f}" if amount >= Decimal("0.0001") else f"{amount:.6f}"


def percent(share: float | None) -> str:
    """``83.3%``; without a digit at the ends of the scale."""
    if share is None:
        return ""
    hundredths = share * 100
    return f"{hundredths:.0f}%" if hundredths in {0.0, 100.0} else f"{hundredths:.1f}%"


def estimate(value: float | None) -> str:
    """A metric's value: three digits after the point."""
    return "" if value is None else f"{value:.3f}"


def task_count(environment: Any) -> int:
    return sum(split.task_count for split in environment.splits.all())


def ready_count(environment: Any) -> int:
    return sum(split.ready_count for split in environment.splits.all())


def time_left(facts: dict[str, Any]) -> float | None:
    """Seconds that the rest of a run takes at the pace so far; None without a pace."""
    if not facts["done"] or facts["seconds"] is None:
        return None
    rest: float = facts["seconds"] * (facts["total"] - facts["done"]) / facts["done"]
    return rest


def has_failures(facts: dict[str, Any]) -> bool:
    """Whether samples ended in a way that another attempt may mend."""
    return any(facts["ended"].get(reason) for reason in RETRIED)


def end_reasons(facts: dict[str, Any]) -> list[str]:
    """What the samples of a run can be filtered by: how they ended, and if open, their state."""
    found = [reason for reason, number in facts["ended"].items() if number]
    return [*found, "running", "waiting"] if facts["open"] else found


def words(name: Any) -> str:
    """A word of ours as a person reads it: ``max_iterations`` is ``max iterations``."""
    return str(name).replace("_", " ")


def verdict(value: Any) -> str:
    """What a score's value is: ``yes``, ``no``, ``number`` or ``text``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "number" if isinstance(value, int | float) else "text"


def expected(score: Any) -> str | None:
    """What the scorer held the answer against; None if it does not say."""
    truth = score.metadata.get("answer_gt")
    return None if truth is None else str(truth)


def missed(scores: Iterable[Any]) -> str | None:
    """What was expected by the first scorer that found the answer wrong; None if none did."""
    wrong = (score for score in scores if any(value is False for value in score.values.values()))
    return next((text for score in wrong if (text := expected(score)) is not None), None)


def unlocalized(number: float) -> str:
    """A number as SVG takes it, whatever the language of the page."""
    return f"{number:g}"


def pretty_json(text: str) -> str:
    """JSON text with line breaks; anything else as it is."""
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text
