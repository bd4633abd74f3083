"""The wiring: settings, addresses, processes."""

from apps.config.celery import app as celery_app

__all__ = ["celery_app"]
