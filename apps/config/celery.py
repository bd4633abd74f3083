"""The Celery application. The broker is only a doorbell: the database says what there is to do."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
app = Celery("turnwright")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["apps.runs", "apps.tasks"], related_name="jobs")
