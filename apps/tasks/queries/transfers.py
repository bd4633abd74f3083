"""Reading imports and exports: how far they are, what came of every row, what was lost."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO, TypeVar

from django.db.models import QuerySet

from apps.accounts.errors import Gone, Invalid, NotFound
from apps.accounts.permissions import Actor, Right, require
from apps.dialogue.file_containers import file_rows
from apps.tasks.content import TaskContent, load_content
from apps.tasks.ledgers import KINDS, OUTCOMES, Ledger, LedgerLine, LedgerPage
from apps.tasks.models import Environment, Export, Import, ImportState
from apps.tasks.transfer_files import export_file, held_file, ledger_of, losses_file, proposal_of

LARGEST_PAGE = 500
MOST_LOOKED_AT = 200
"""Rows of a file among which the first values are looked for."""

Row = TypeVar("Row", Import, Export)


@dataclass(frozen=True, slots=True)
class ExportLoss:
    """What of a task a format could not carry, and where: ``messages[2].blocks[0]``."""

    key: str
    place: str
    message: str


@dataclass(frozen=True, slots=True)
class LossPage:
    """Some losses of an export, and where the next page begins."""

    lines: list[ExportLoss]
    next: int | None


def get_import(actor: Actor, environment: Environment, pk: int) -> Import:
    """The import of that number; else `NotFound`. What it holds is for those who may write."""
    require(actor, environment.project, Right.AUTHOR)
    return _one(Import.objects.filter(environment=environment), environment, pk, "import")


def imports(
    actor: Actor, environment: Environment, *, before: int | None = None, limit: int = 50
) -> list[Import]:
    """The imports of an environment, the newest first, from below the number ``before``."""
    require(actor, environment.project, Right.AUTHOR)
    return _list(Import.objects.filter(environment=environment), environment, before, limit)


def get_export(actor: Actor, environment: Environment, pk: int) -> Export:
    require(actor, environment.project, Right.VIEW)
    return _one(Export.objects.filter(environment=environment), environment, pk, "export")


def exports(
    actor: Actor, environment: Environment, *, before: int | None = None, limit: int = 50
) -> list[Export]:
    """The exports of an environment, the newest first, from below the number ``before``."""
    require(actor, environment.project, Right.VIEW)
    return _list(Export.objects.filter(environment=environment), environment, before, limit)


def _one(rows: QuerySet[Row], environment: Environment, pk: int, what: str) -> Row:
    row = rows.filter(pk=pk).first()
    if row is None:
        raise NotFound(f"There is no {what} {pk} in {environment.slug!r}.", place=what)
    row.environment = environment
    return row


def _list(
    rows: QuerySet[Row], environment: Environment, before: int | None, limit: int
) -> list[Row]:
    if before is not None:
        rows = rows.filter(pk__lt=before)
    found = list(rows.order_by("-pk")[: max(1, min(limit, LARGEST_PAGE))])
    for row in found:
        row.environment = environment
    return found


def ledger_page(
    actor: Actor,
    imported: Import,
    *,
    after: int = 0,
    limit: int = 100,
    outcome: str = "",
    kind: str = "",
    code: str = "",
) -> LedgerPage:
    """Lines of an import's ledger from row ``after`` on: of its proposal until it is written.

    ``outcome``, ``kind`` and ``code`` (of a note) leave out the rows that do not have them. While
    the file is being read there are none.
    """
    require(actor, imported.environment.project, Right.AUTHOR)
    for name, value, known in (("outcome", outcome, OUTCOMES), ("kind", kind, KINDS)):
        if value and value not in known:
            raise Invalid(f"{value[:60]!a} is not one of {', '.join(known)}.", place=name)
    ledger, rows = _ledger(imported)
    return ledger.page(
        after=max(0, after),
        limit=max(1, min(limit, LARGEST_PAGE)),
        rows=rows,
        outcome=outcome,
        kind=kind,
        code=code,
        codes=[each for each, _ in imported.codes],
    )


def ledger_line(actor: Actor, imported: Import, row: int) -> LedgerLine:
    """What became of one row, or would; `NotFound` if there is none of that number."""
    page = ledger_page(actor, imported, after=row, limit=1)
    if not page.lines or page.lines[0].row != row:
        raise NotFound(f"There is no row {row} in import {imported.pk}.", place="row")
    return page.lines[0]


def proposed_content(actor: Actor, imported: Import, row: int) -> TaskContent | None:
    """The content of a row as it would be written; None if it cannot become a task.

    Raises `Gone` once the import is written or discarded: the task itself is to be read then.
    """
    line = ledger_line(actor, imported, row)
    if imported.state not in (ImportState.PROPOSED, ImportState.WRITING):
        raise Gone("What was proposed is no longer kept: it has been written.")
    text = proposal_of(imported).content_at(line.row)
    return load_content(text) if text else None


def first_values(actor: Actor, imported: Import, limit: int = 5) -> list[dict[str, Any]]:
    """The first rows of the held file as they are, before any format: for a mapping of columns.

    Rows that are no object are passed over. Raises `Gone` when the file is no longer held.
    """
    require(actor, imported.environment.project, Right.AUTHOR)
    try:
        stream = held_file(imported).open("rb")
    except FileNotFoundError:
        raise Gone("The file of this import is no longer kept.") from None
    with stream:
        rows = islice(file_rows(stream, imported.file_name), MOST_LOOKED_AT)
        objects = (row.value for row in rows if not row.fault and isinstance(row.value, dict))
        return list(islice(objects, limit))


def _ledger(imported: Import) -> tuple[Ledger, int]:
    """The ledger to be shown, and how many of its rows count."""
    match imported.state:
        case ImportState.READING:
            return proposal_of(imported), 0
        case ImportState.PROPOSED | ImportState.WRITING if imported.has_file:
            return proposal_of(imported), imported.rows_read
        case _:
            return ledger_of(imported), imported.decided


def open_export(actor: Actor, exported: Export) -> BinaryIO:
    """The bytes of a finished export; raises `Gone` when they are no longer kept."""
    require(actor, exported.environment.project, Right.VIEW)
    if exported.is_open:
        raise NotFound("This export is still being written.", place="export")
    try:
        return export_file(exported).open("rb")
    except FileNotFoundError:
        raise Gone("The file of this export is no longer kept; export again.") from None


def losses_page(actor: Actor, exported: Export, *, after: int = 0, limit: int = 100) -> LossPage:
    """Losses of a finished export by task; ``after`` is the ``next`` of the page before."""
    require(actor, exported.environment.project, Right.VIEW)
    path = losses_file(exported)
    if not path.exists():
        return LossPage([], None)
    lines: list[ExportLoss] = []
    with path.open("rb") as file:
        file.seek(min(after, path.stat().st_size))
        for line in iter(file.readline, b""):
            if len(lines) == limit:
                return LossPage(lines, file.tell() - len(line))
            lines.append(_loss(json.loads(line)))
    return LossPage(lines, None)


def _loss(values: Sequence[str]) -> ExportLoss:
    key, place, message = values
    return ExportLoss(key, place, message)
