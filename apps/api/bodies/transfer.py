"""Imports."""

from typing import Literal

from pydantic import Field

from apps.api.bodies.base import Answer
from apps.api.bodies.tasks import StatusName
from apps.api.parsing import Query


class HowToRead(Query):
    """Where rows go, and how a file is read."""

    split: str = Field(max_length=64, description="Where new tasks go")
    format: str = Field(
        "auto",
        max_length=64,
        description="auto, openreward, openai_chat, sharegpt, ...; an unknown one is refused with "
        "the list of those there are",
    )
    file_name: str = Field("", max_length=255, description="Its ending tells a table from a text")
    mapping: str = Field(
        "",
        max_length=20_000,
        description="A column mapping as a JSON object: every row goes through it",
    )
    update: bool = Field(
        False, description="Save rows with a known key and other content as new revisions"
    )


class ImportQuery(HowToRead):
    dry_run: bool = Field(False, description="Tell what would come of it, and keep nothing")
    ledger: Literal["json", "jsonl"] = Field(
        "json", description="jsonl: every line of the ledger, then the summary"
    )


class LedgerNote(Answer):
    """One thing that happened to a row on its way in."""

    kind: Literal["kept", "converted", "invented", "dropped", "refused"]
    place: str = Field(description="Empty: the whole row")
    message: str
    code: str


class LedgerLine(Answer):
    line: int = Field(description="From 1, in the file or the member of an archive")
    file: str = Field(description="The member of an archive; mostly empty")
    format: str | None = Field(description="What the row was recognised as")
    key: str | None
    outcome: Literal["created", "updated", "unchanged", "refused"]
    status: StatusName | None
    notes: list[LedgerNote]


class LedgerSummary(Answer):
    read: int = Field(description="All rows")
    created: int
    updated: int
    unchanged: int
    refused: int
    drafts: int = Field(description="Of those written: not complete enough to be served")


class Ledger(LedgerSummary):
    number: int | None = Field(description="Of the import, to undo it; null: nothing was written")
    lines: list[LedgerLine] = Field(description="The first 2000 refused and the first 2000 others")
    lines_left_out: int
