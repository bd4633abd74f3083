from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from apps.dialogue.scoring.metrics.base import Metric
from apps.dialogue.scoring.metrics.estimates import Estimate, aggregate


class Mean(Metric):
    """The mean of one field (true counts 1, false 0) over the tasks, of each the mean over
    its scored trials.

    LatticeFlow's ``mean``: ``field`` and ``name``, which is ``{field}_mean`` if none is given.
    """

    type: Literal["mean"]
    field: str = Field(min_length=1)

    @classmethod
    def default_name(cls, given: dict[str, Any]) -> str:
        return f"{given.get('field')}_mean"

    @property
    def fields(self) -> tuple[str, ...]:
        return (self.field,)

    def estimate(
        self, tasks: Sequence[Sequence[float | None]], total: int, *, trials: int = 1
    ) -> Estimate:
        return aggregate(tasks, total, trials=trials)
