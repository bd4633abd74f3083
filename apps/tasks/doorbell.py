"""Calling a worker to an import or an export. The database says what there is to do."""

import logging

from celery import current_app
from django.conf import settings
from kombu.exceptions import KombuError, OperationalError

log = logging.getLogger(__name__)

WORK_ON_IMPORT = "apps.tasks.jobs.work_on_import"
WORK_ON_EXPORT = "apps.tasks.jobs.work_on_export"


def there_are_workers() -> bool:
    """False in an installation without a broker: whoever asks for work has to do it."""
    return bool(settings.CELERY_BROKER_URL)


def ring(job: str, pk: int) -> None:
    """Call a worker; if the broker cannot be reached, the next sweep does."""
    try:
        current_app.send_task(job, (pk,), retry=False)
    except (OperationalError, KombuError, OSError) as error:
        log.warning("No worker could be called (%s %s): %s", job, pk, error)
