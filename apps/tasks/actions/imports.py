"""An import in steps: a file is held and read into a proposal, which is accepted or discarded.

Small files are worked through at once, larger ones by a worker.
"""

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from django.db import DatabaseError, transaction

from apps.accounts.actions import record
from apps.accounts.errors import Conflict, Invalid, NotFound
from apps.accounts.permissions import Actor, Right, require
from apps.dialogue.blocks.json_values import NotJson, json_object
from apps.dialogue.file_formats import AUTO, read_tasks
from apps.tasks import doorbell, leases
from apps.tasks.actions.import_work import work_on
from apps.tasks.actions.importing import shown_name
from apps.tasks.actions.proposing import mapping_text, read_options
from apps.tasks.ledgers import Tally
from apps.tasks.models import Environment, Import, ImportState
from apps.tasks.names import check_split_name
from apps.tasks.transfer_files import forget_import, held_file, hold

AT_ONCE_BYTES = 1_000_000
AT_ONCE_TASKS = 5_000
AT_ONCE_SECONDS = 3.0
"""What is larger or takes longer is left to a worker, if there is one."""


class Kept:
    """Stands for what a change of an import leaves as it is; None means something here."""


KEEP: Final = Kept()


def propose_import(
    *,
    actor: Actor,
    environment: Environment,
    pieces: Iterable[bytes],
    file_name: str,
    split: str,
    format: str = AUTO,  # noqa: A002 - the word of the command line
    mapping: Mapping[str, Any] | None = None,
    roles: Mapping[str, Any] | None = None,
    update: bool = False,
) -> Import:
    """Hold a file and tell what would become of its rows; no task is written.

    ``split`` may be a name that is not there yet: it is made when the import is accepted.
    ``mapping`` is the JSON object of a column mapping, ``roles`` corrections as
    `apps.dialogue.file_formats.read_tasks` takes them. The import comes back in the state proposed,
    or in the state reading while a worker is at it. Raises `Invalid` or a `DialogueError` for a
    file that cannot be read at all, and then nothing is kept.
    """
    require(actor, environment.project, Right.AUTHOR)
    _check(split, format, mapping, roles)
    imported = Import.objects.create(
        environment=environment,
        split=split,
        author=str(actor)[:200],
        file_name=shown_name(file_name),
        format=format,
        mapping_text=mapping_text(mapping),
        roles=roles or {},
        update=update,
        state=ImportState.READING,
        lease_expires_at=leases.until(leases.STREAMED),
        **leases.as_asked_by(actor),
    )
    try:
        size = hold(held_file(imported), pieces)
        leases.keep(imported, give_up=True, has_file=True, bytes_total=size)
        imported = _begin(imported, at_once=size < AT_ONCE_BYTES)
        _check_rows(imported)
    except BaseException:
        _forget(imported)
        raise
    return imported


def change_import(
    *,
    actor: Actor,
    imported: Import,
    split: str | None = None,
    format: str | None = None,  # noqa: A002 - the word of the command line
    mapping: Mapping[str, Any] | Kept | None = KEEP,
    roles: Mapping[str, Any] | Kept | None = KEEP,
    update: bool | None = None,
) -> Import:
    """Propose the held file again, read otherwise; what is not given stays as it is.

    Raises `Conflict` if it has been accepted meanwhile, and what `propose_import` raises. If the
    file cannot be read in the new way, the import is in the state failed and may be changed again.
    """
    require(actor, imported.environment.project, Right.AUTHOR)
    with transaction.atomic():
        row = _locked(imported)
        if not row.has_file or not row.can_be_discarded:
            raise Conflict(f"This import is {row.get_state_display().lower()} already.")
        row.split = row.split if split is None else split
        row.format = row.format if format is None else format
        read_by = row.mapping if isinstance(mapping, Kept) else mapping
        row.roles = row.roles if isinstance(roles, Kept) else (roles or {})
        row.update = row.update if update is None else update
        _check(row.split, row.format, read_by, row.roles)
        row.mapping_text = mapping_text(read_by)
        _open(row, actor, ImportState.READING, bytes_read=0, rows_read=0, **Tally().columns())
    return _begin(row, at_once=row.bytes_total < AT_ONCE_BYTES)


def accept_import(*, actor: Actor, imported: Import) -> Import:
    """Write what was proposed; accepting twice changes nothing.

    The import comes back in the state done, or writing while a worker is at it. Raises `Conflict`
    if there is no proposal to accept.
    """
    require(actor, imported.environment.project, Right.AUTHOR)
    with transaction.atomic():
        row = _locked(imported)
        if row.state in (ImportState.WRITING, ImportState.DONE):
            return row
        if row.state != ImportState.PROPOSED:
            raise Conflict(f"This import is {row.get_state_display().lower()}.")
        _open(row, actor, ImportState.WRITING, **Tally().columns())
    small = row.bytes_total < AT_ONCE_BYTES and row.rows_read <= AT_ONCE_TASKS
    return _begin(row, at_once=small)


def discard_import(*, actor: Actor, imported: Import) -> None:
    """Remove an import that has written nothing, with its file; else `Conflict`."""
    require(actor, imported.environment.project, Right.AUTHOR)
    with transaction.atomic():
        row = _locked(imported)
        if not row.can_be_discarded:
            raise Conflict("What an import has written is taken back by undoing it.")
        record(
            actor=actor,
            project=row.environment.project,
            action="task.discard_import",
            subject=f"{row.environment.slug}/{row.split}",
            imported=row.pk,
        )
        Import.objects.filter(pk=row.pk).delete()
    forget_import(imported.pk)


def undo_import(*, actor: Actor, imported: Import) -> Import:
    """Take back everything that an import wrote and nobody has built upon.

    A task that it made is removed, or archived if something points at it (a session, a run, a later
    revision). A task that it changed gets its former content and status back in a new revision,
    unless somebody has changed it since. The import counts them: removed, archived, restored, left.
    Undoing twice changes nothing. An import that still streams in ends with it, or has ended with
    whoever read the stream. Raises `Conflict` if nothing was written, or a worker still writes.
    """
    require(actor, imported.environment.project, Right.AUTHOR)
    with transaction.atomic():
        row = _locked(imported)
        if row.state in (ImportState.UNDOING, ImportState.UNDONE):
            return row
        if not row.can_be_undone:
            raise Conflict(_why_not_undone(row))
        _open(row, actor, ImportState.UNDOING)
    return _begin(row, at_once=row.wrote <= AT_ONCE_TASKS)


def _why_not_undone(row: Import) -> str:
    if row.wrote:
        return "This import is still being written: it can be undone as soon as that is done."
    return "There is nothing to undo: this import has changed no task."


def _check(
    split: str, format_: str, mapping: Mapping[str, Any] | None, roles: Mapping[str, Any] | None
) -> None:
    try:
        check_split_name(split)
    except Invalid as error:
        raise Invalid(error.message, place="split") from None
    for name, value in (("mapping", mapping), ("roles", roles)):
        try:
            json_object({} if value is None else value)
        except NotJson as error:
            raise Invalid(f"{name}{error.path}: {error.message}", place=name) from None
    read_tasks((), format=format_, **read_options(mapping, roles))


def _check_rows(imported: Import) -> None:
    """A file that cannot be read at all, or holds nothing, is not worth a proposal."""
    if imported.state == ImportState.FAILED:
        raise Invalid(imported.error, place="file")
    nothing = imported.rows_read == 0 or imported.codes == [["empty_file", imported.rows_read]]
    if imported.state == ImportState.PROPOSED and nothing:
        raise Invalid(f"There are no rows in {imported.file_name or 'the file'}.", place="file")


def _locked(imported: Import) -> Import:
    """The row as it is now, held until the transaction ends; `NotFound` if it was discarded."""
    row = Import.objects.select_for_update().filter(pk=imported.pk).first()
    if row is None:
        raise NotFound(f"There is no import {imported.pk}.", place="import")
    row.environment = imported.environment
    return row


def _open(row: Import, actor: Actor, state: str, **columns: Any) -> None:
    """Let the next step begin, on behalf of ``actor``."""
    changed = {
        "state": state, "attempts": 0, "lease_expires_at": None, "finished_at": None, "error": "",
        "claim": row.claim + 1, **leases.as_asked_by(actor), **columns,
    }  # fmt: skip
    for name, value in changed.items():
        setattr(row, name, value)
    row.save()


def _begin(imported: Import, *, at_once: bool) -> Import:
    """Do the open step here if it is small or there are no workers; else call one."""
    workers = doorbell.there_are_workers()
    goes_on = True
    if at_once or not workers:
        deadline = time.monotonic() + AT_ONCE_SECONDS
        goes_on = work_on(imported.pk, lambda: workers and time.monotonic() > deadline)
    if goes_on and workers:
        transaction.on_commit(partial(doorbell.ring, doorbell.WORK_ON_IMPORT, imported.pk))
    fresh = Import.objects.filter(pk=imported.pk).first()
    if fresh is None:
        raise NotFound(f"There is no import {imported.pk}.", place="import")
    fresh.environment = imported.environment
    return fresh


def _forget(imported: Import) -> None:
    forget_import(imported.pk)  # first: the database may need the room
    with suppress(DatabaseError):  # what is being raised says more
        Import.objects.filter(pk=imported.pk).delete()
