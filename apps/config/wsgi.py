"""The WSGI application that granian serves."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "apps.config.settings")
application = get_wsgi_application()
# Addresses and views are loaded before the first request rather than by it: a worker that is not
# ready yet takes no request.
get_resolver().url_patterns  # noqa: B018
