"""Celery entry points. A message is a doorbell: the database says what there is to do."""

import multiprocessing
from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down

from apps.tasks import doorbell, leases
from apps.tasks.actions import exports, import_work, tidying
from apps.tasks.models import Export, Import

# Made before the worker forks its children, so that they see what happens in their parent.
_shutting_down = multiprocessing.Event()


@worker_shutting_down.connect
def _note_shutdown(**kwargs: Any) -> None:
    _shutting_down.set()


@shared_task(name=doorbell.WORK_ON_IMPORT)
def work_on_import(import_id: int) -> None:
    """Do the open step of an import, if nobody else does."""
    if import_work.work_on(import_id, _shutting_down.is_set):
        doorbell.ring(doorbell.WORK_ON_IMPORT, import_id)


@shared_task(name=doorbell.WORK_ON_EXPORT)
def work_on_export(export_id: int) -> None:
    """Write the file of an export, if nobody else does."""
    if exports.work_on(export_id, _shutting_down.is_set):
        doorbell.ring(doorbell.WORK_ON_EXPORT, export_id)


@shared_task
def sweep_transfers() -> None:
    """Ring again for what nobody works on: the message was lost, or the worker died."""
    for pk in leases.waiting(Import):
        doorbell.ring(doorbell.WORK_ON_IMPORT, pk)
    for pk in leases.waiting(Export):
        doorbell.ring(doorbell.WORK_ON_EXPORT, pk)


@shared_task
def tidy_transfers() -> None:
    """Remove what nobody came back for."""
    tidying.tidy()
