"""Removing what imports and exports have left behind and nobody came back for."""

from datetime import datetime, timedelta
from typing import Final

from django.db.models import Q
from django.utils import timezone

from apps.tasks.models import Export, Import, ImportState
from apps.tasks.transfer_files import (
    forget_export,
    forget_import,
    forget_proposal,
    remove_orphans,
)

KEPT: Final = timedelta(days=1)
"""How long a proposal waits to be accepted, and the file of an export to be fetched."""


def tidy() -> None:
    """Forget old proposals with their rows, and the files of old exports; safe to run at once."""
    old = timezone.now() - KEPT
    _forget_proposals(old)
    for exported in Export.objects.filter(has_file=True, finished_at__lt=old):
        if Export.objects.filter(pk=exported.pk, has_file=True).update(has_file=False):
            forget_export(exported.pk)
    remove_orphans("imports", "import-", Import)
    remove_orphans("exports", "export-", Export)


def _forget_proposals(old: datetime) -> None:
    waiting = Q(state=ImportState.PROPOSED) | Q(state=ImportState.FAILED)
    rows = Import.objects.filter(waiting, finished_at__lt=old)
    nothing_written = Q(state=ImportState.PROPOSED) | Q(created=0, updated=0)
    for imported in rows.filter(nothing_written):
        gone, _ = rows.filter(nothing_written, pk=imported.pk).delete()
        if gone:
            forget_import(imported.pk)
    for imported in rows.filter(has_file=True):
        if rows.filter(pk=imported.pk).update(has_file=False):
            forget_proposal(imported)
