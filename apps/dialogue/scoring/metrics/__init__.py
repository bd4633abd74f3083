"""Metrics: one module each, one entry in ``METRICS``. Names and formulas are LatticeFlow's."""

from typing import Final

from apps.dialogue.scoring.metrics.base import Metric
from apps.dialogue.scoring.metrics.estimates import Estimate, aggregate
from apps.dialogue.scoring.metrics.mean import Mean

# With a second metric this becomes Annotated[Mean | Second, Field(discriminator="type")].
AnyMetric = Mean

METRICS: Final[dict[str, type[Metric]]] = {"mean": Mean}

__all__ = ["METRICS", "AnyMetric", "Estimate", "Mean", "Metric", "aggregate"]
