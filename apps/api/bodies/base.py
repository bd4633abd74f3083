"""The bases of answers; those of requests are in `apps.api.parsing`."""

from pydantic import BaseModel, ConfigDict, Field

NEXT = Field(description="Pass it as ?after= for the next page; null on the last")


class Answer(BaseModel):
    """An answer, read from the row or dataclass that a query or action returned."""

    model_config = ConfigDict(from_attributes=True, frozen=True)
