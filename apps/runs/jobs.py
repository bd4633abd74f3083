"""Celery entry points. A message is a doorbell: the database says what there is to do."""

import logging
import multiprocessing
from typing import Any

from celery import shared_task
from celery.signals import worker_shutting_down
from django.conf import settings
from kombu.exceptions import KombuError, OperationalError

from apps.runs import leases, playing

log = logging.getLogger(__name__)

# Made before the worker forks its children, so that they see what happens in their parent.
_shutting_down = multiprocessing.Event()


@worker_shutting_down.connect
def _note_shutdown(**kwargs: Any) -> None:
    _shutting_down.set()


@shared_task
def play_run(run_id: int) -> None:
    """Play every sample that can be claimed, those of ``run_id`` among them."""
    playing.play(should_stop=_shutting_down.is_set)


@shared_task
def sweep() -> None:
    """Ring again for runs that nobody plays: their message was lost, or their player died."""
    leases.clear_cancelled()
    for run_id in leases.runs_without_player():
        ring(run_id)


def ring(run_id: int) -> bool:
    """Call a worker to a run; False if the broker cannot be reached (the sweep rings later)."""
    if not settings.CELERY_BROKER_URL:
        return False
    try:
        play_run.apply_async((run_id,), retry=False)
    except (OperationalError, KombuError, OSError) as error:
        log.warning("No worker could be called to run %s: %s", run_id, error)
        return False
    return True
