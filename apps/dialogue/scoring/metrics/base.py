import re
from collections.abc import Sequence
from typing import Any

from pydantic import Field, model_validator

from apps.dialogue.scoring.metrics.estimates import Estimate
from apps.dialogue.specification import SpecModel


class Metric(SpecModel):
    """A number over the scores of a run.

    ``key`` names it in results and gates, ``name`` is what people read. Without a key one is made
    of the name ("Pass rate" becomes ``pass_rate``), so that a gate can say ``pass_rate>=0.9``.
    """

    type: str
    key: str = Field(pattern=r"^[a-zA-Z0-9_\-^@]{1,250}$")
    name: str

    @model_validator(mode="before")
    @classmethod
    def _name_itself(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        given = {k: v for k, v in value.items() if v is not None or k not in ("key", "name")}
        name = given.get("name") or cls.default_name(given)
        return {"key": key_from(str(name)), **given, "name": name}

    @classmethod
    def default_name(cls, given: dict[str, Any]) -> str:
        """The name of a metric that was given none."""
        raise NotImplementedError

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of a score that it needs."""
        raise NotImplementedError

    def estimate(
        self, tasks: Sequence[Sequence[float | None]], total: int, *, trials: int = 1
    ) -> Estimate:
        """Compute it: for each task the values of its trials, None for an unscored one.

        ``total`` tasks were asked for, ``trials`` of each.
        """
        raise NotImplementedError


def key_from(name: str) -> str:
    """Make a key of a name: lower case, what is not a letter or digit becomes an underscore."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "metric"
