"""Gates: conditions on the metrics of a run that decide whether it passes."""

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from apps.accounts.errors import Invalid

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
_GATE = re.compile(r"\s*([^<>=\s]+)\s*(>=|<=|==|>|<)\s*(\S+)\s*")


@dataclass(frozen=True, slots=True)
class Gate:
    """``metric`` ``operator`` ``bound``, like ``accuracy>=0.9``."""

    text: str
    metric: str
    operator: str
    bound: float

    def failure(self, metrics: Iterable[Mapping[str, Any]]) -> str | None:
        """Why the gate is closed; None if it is open. A metric without a value is no pass."""
        value = next((each["value"] for each in metrics if each["key"] == self.metric), None)
        if value is None:
            return f"{self.text}: {self.metric} has no value, nothing was scored"
        if _OPERATORS[self.operator](value, self.bound):
            return None
        return f"{self.text}: {self.metric} is {value:.4f}"


def parse_gate(text: str, known: Sequence[str]) -> Gate:
    """Read a gate; raises `Invalid` if it is not one or names no metric of ``known``."""
    match = _GATE.fullmatch(text)
    bound = _number(match[3]) if match else None
    if match is None or bound is None:
        raise Invalid(f"{text!r} is not a gate like accuracy>=0.9.", place="gate")
    if match[1] not in known:
        listed = ", ".join(known) or "none"
        raise Invalid(
            f"{text!r}: there is no metric {match[1]!r}; the solver has {listed}.", place="gate"
        )
    return Gate(text.strip(), match[1], match[2], bound)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None
