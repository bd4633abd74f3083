"""Imports in steps and exports as work in the background."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from apps.api.bodies.base import NEXT, Answer
from apps.api.bodies.tasks import StatusName, StoredContent
from apps.api.bodies.transfer import HowToRead, LedgerLine
from apps.api.parsing import Body, Query

ImportStateName = Literal["reading", "proposed", "writing", "done", "failed", "undoing", "undone"]
Outcome = Literal["created", "updated", "unchanged", "refused"]
NoteKind = Literal["kept", "converted", "invented", "dropped", "refused"]


class NewImportQuery(HowToRead):
    """The body is the file."""


class ImportChange(Body):
    """How to read the held file instead; only what is given changes."""

    split: str | None = Field(None, max_length=64, description="A new name is made when accepted")
    format: str | None = Field(None, max_length=64)
    mapping: dict[str, Any] | None = Field(None, description="A column mapping; null: none")
    roles: dict[str, Any] | None = Field(
        None,
        description='Corrections: {"speakers": {"Priya": "assistant"}, "turns": {"3:0": "user"}}',
    )
    update: bool | None = None


class Import(Answer):
    """A file on its way to become tasks. While it is proposed, the counters tell what would be."""

    number: int
    state: ImportStateName
    split: str
    file_name: str
    format: str
    mapping: dict[str, Any] | None
    roles: dict[str, Any]
    update: bool
    author: str
    error: str = Field(description="Why it failed")
    progress: float = Field(description="Of the present step, from 0 to 1")
    bytes_total: int
    bytes_read: int
    rows_read: int
    created: int
    updated: int
    unchanged: int
    refused: int
    drafts: int = Field(description="Of those written: not complete enough to be served")
    kinds: dict[str, int] = Field(description="Rows by the kind of a note")
    codes: Annotated[dict[str, int], BeforeValidator(dict)] = Field(
        description="Rows by the code of a note"
    )
    removed: int = Field(description="Tasks that an undo removed")
    archived: int = Field(description="Tasks that an undo archived: something points at them")
    restored: int = Field(description="Tasks that an undo gave back what they held before")
    left: int = Field(description="Tasks that an undo left: changed since")
    can_be_undone: bool
    created_at: datetime
    finished_at: datetime | None


class ImportPage(Answer):
    items: list[Import]
    next: int | None = NEXT


class NumberedPageQuery(Query):
    limit: int = Field(50, ge=1, le=200)
    after: int | None = Field(None, ge=0, lt=2**63, description="``next`` of the page before")


class LedgerQuery(Query):
    limit: int = Field(100, ge=1, le=500)
    after: int = Field(0, ge=0, lt=2**31, description="The row to begin at")
    outcome: Outcome | None = None
    kind: NoteKind | None = Field(None, description="Rows with a note of this kind")
    code: str = Field("", max_length=64, description="Rows with a note of this code")


class Row(LedgerLine):
    row: int = Field(description="From 0, through everything that was read")
    roles: str = Field(description="A letter for each turn")
    turns: int
    summary: str


class RowPage(Answer):
    items: list[Row]
    next: int | None = NEXT


class RowDetail(Row):
    content: StoredContent | None = Field(description="As it would be written; null: refused")


class NewExport(Body):
    format: str = Field("openreward", max_length=64)
    split: str | None = Field(None, max_length=64, description="Left out: all splits")
    status: StatusName | None = Field(None, description="Left out: all but the archived")
    on_loss: Literal["refuse", "leave_out"] = Field(
        "refuse",
        description="What becomes of a task that the format cannot carry whole: it is not written, "
        "or what cannot be carried is left out",
    )


class Export(Answer):
    """Tasks on their way into a file."""

    number: int
    state: Literal["writing", "done", "failed"]
    format: str
    split: str
    status: str
    on_loss: str
    author: str
    error: str
    progress: float
    file_name: str
    has_file: bool = Field(description="It can be fetched; files are kept for a day")
    bytes_total: int
    tasks: int
    rows: int
    refused: int = Field(description="Tasks of which nothing was written")
    lossy: int = Field(description="Tasks that the format could not carry whole")
    created_at: datetime
    finished_at: datetime | None


class ExportPage(Answer):
    items: list[Export]
    next: int | None = NEXT


class KeptLoss(Answer):
    """What of a task the format could not carry."""

    key: str
    place: str = Field(description="Like messages[2].blocks[0]; empty: the whole task")
    message: str


class LossPage(Answer):
    items: list[KeptLoss]
    next: int | None = NEXT
