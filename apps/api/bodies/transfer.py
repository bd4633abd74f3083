"""Imports and exports."""

from pydantic import Field

from apps.api.bodies.tasks import StatusName
from apps.api.parsing import Query


class ExportQuery(Query):
    split: str | None = Field(None, max_length=64, description="Left out: all splits")
    status: StatusName | None = Field(None, description="Left out: all but the archived")
