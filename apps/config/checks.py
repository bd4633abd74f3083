"""Misconfiguration explains itself before the first request."""

from typing import Any

from cryptography.fernet import Fernet
from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.exceptions import ImproperlyConfigured


def _secret_key() -> str:
    """Django itself refuses to hand out an empty key; here that is a finding, not a crash."""
    try:
        return str(settings.SECRET_KEY)
    except ImproperlyConfigured:
        return ""


def secrets_are_set(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Production (``DEBUG=0``) must be given its secrets; they are never made up for it."""
    found: list[CheckMessage] = []
    if not _secret_key():
        found.append(
            Error(
                "SECRET_KEY is not set, and DEBUG=0 says this is production.",
                hint="Set SECRET_KEY to at least 50 random characters, the same for every process.",
                id="turnwright.E001",
            )
        )
    if not settings.ENCRYPTION_KEYS:
        found.append(
            Error(
                "ENCRYPTION_KEYS is not set, and DEBUG=0 says this is production.",
                hint=(
                    "Set ENCRYPTION_KEYS to one or more Fernet keys, newest first, comma "
                    "separated; secrets of model endpoints are encrypted with the first."
                ),
                id="turnwright.E002",
            )
        )
    for number, key in enumerate(settings.ENCRYPTION_KEYS, 1):
        try:
            Fernet(key)
        except ValueError:
            found.append(
                Error(
                    f"ENCRYPTION_KEYS: key {number} is not a Fernet key.",
                    hint="A Fernet key is 32 random bytes in URL-safe base64: 44 characters.",
                    id="turnwright.E003",
                )
            )
    return found
