"""The product's settings, as the tests want them: state in a folder of its own, cheap passwords.

What the developer's shell says about an installation must not reach the tests; only `DATABASE_URL`
is kept, so that the whole suite can be pointed at PostgreSQL. `tests/conftest.py` names the real
settings to child processes.
"""

import atexit
import os
import shutil
import tempfile

# fmt: off
_OF_AN_INSTALLATION = [
    "DEBUG", "SECRET_KEY", "ENCRYPTION_KEYS", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "HOST",
    "PORT", "PUBLIC_URL", "HTTPS", "CELERY_BROKER_URL", "CACHE_URL", "ALLOW_PRIVATE_ENDPOINTS",
    "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "WEB_WORKERS", "WEB_THREADS",
    "LOG_LEVEL",
]
# fmt: on
for _name in _OF_AN_INSTALLATION:
    os.environ.pop(_name, None)

_var = tempfile.mkdtemp(prefix="turnwright-tests-")
atexit.register(shutil.rmtree, _var, ignore_errors=True)
os.environ["TURNWRIGHT_VAR"] = _var

from apps.config.settings import *  # noqa: E402, F403 -- the environment comes first

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # noqa: F405
    # A file, as in the product: threads of one test share it, which memory does not stand.
    DATABASES["default"]["TEST"] = {"NAME": f"{_var}/tests.sqlite3"}  # noqa: F405
