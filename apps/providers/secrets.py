"""Secrets of model endpoints at rest: Fernet tokens under a rotating list of keys."""

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from apps.accounts.errors import Refusal


class SecretUnreadable(Refusal):
    """A stored secret was encrypted with a key that this installation no longer has."""

    status = 409


def _keys() -> MultiFernet:
    return MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])


def encrypt(secret: str) -> str:
    """A token that only holders of the encryption keys can read; an empty secret stays empty."""
    return _keys().encrypt(secret.encode()).decode("ascii") if secret else ""


def decrypt(token: str) -> str:
    """The secret in ``token``; raises `SecretUnreadable` if no key of ours opens it."""
    if not token:
        return ""
    try:
        return _keys().decrypt(token.encode("ascii")).decode()
    except InvalidToken:
        raise SecretUnreadable(
            "The stored secret cannot be decrypted: none of ENCRYPTION_KEYS opens it. "
            "Add the key it was encrypted with, or enter the secret again.",
            place="secret",
        ) from None


def rotate(token: str) -> str:
    """The same secret, encrypted with the newest key."""
    if not token:
        return ""
    try:
        return _keys().rotate(token.encode("ascii")).decode("ascii")
    except InvalidToken:
        raise SecretUnreadable(
            "The stored secret cannot be decrypted: none of ENCRYPTION_KEYS opens it.",
            place="secret",
        ) from None
