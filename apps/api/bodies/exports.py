"""Exports: what may be asked for, and what a format could not carry."""

from typing import Literal

from pydantic import Field

from apps.api.bodies.base import Answer
from apps.api.bodies.tasks import StatusName
from apps.api.parsing import Query


class LossesQuery(Query):
    """Which tasks, in which format."""

    format: str = Field(
        "openreward",
        max_length=64,
        description="openreward, openai_chat, csv, parquet, ...; an unknown one is refused with "
        "the list of those there are",
    )
    split: str | None = Field(None, max_length=64, description="Left out: all splits")
    status: StatusName | None = Field(None, description="Left out: all but the archived")


class ExportQuery(LossesQuery):
    on_loss: Literal["refuse", "leave_out"] = Field(
        "refuse", description="What becomes of a task that the format cannot carry whole"
    )


class LossLine(Answer):
    """What of a task the format cannot carry."""

    key: str
    place: str = Field(description="Like messages[2].blocks[0]; empty: the whole task")
    message: str


class ExportSummary(Answer):
    tasks: int = Field(description="All that were asked for")
    rows: int
    refused: int = Field(description="Tasks of which nothing would be written")
    losses: int
