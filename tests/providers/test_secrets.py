import pytest
from cryptography.fernet import Fernet
from pytest_django.fixtures import Settings

from apps.providers.secrets import SecretUnreadable, decrypt, encrypt, rotate


def test_a_secret_is_stored_unreadable_and_comes_back() -> None:
    token = encrypt("sk-very-secret")
    assert "sk-very-secret" not in token
    assert decrypt(token) == "sk-very-secret"


def test_the_same_secret_never_looks_the_same_twice() -> None:
    assert encrypt("sk-1") != encrypt("sk-1")


def test_no_secret_stays_no_secret() -> None:
    assert encrypt("") == ""
    assert decrypt("") == ""
    assert rotate("") == ""


def test_a_new_key_in_front_still_opens_what_the_old_one_closed(settings: Settings) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.ENCRYPTION_KEYS = [old]
    token = encrypt("sk-1")
    settings.ENCRYPTION_KEYS = [new, old]
    assert decrypt(token) == "sk-1"


def test_after_rotation_the_old_key_can_be_thrown_away(settings: Settings) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.ENCRYPTION_KEYS = [old]
    token = encrypt("sk-1")
    settings.ENCRYPTION_KEYS = [new, old]
    rotated = rotate(token)
    settings.ENCRYPTION_KEYS = [new]
    assert decrypt(rotated) == "sk-1"


def test_a_secret_of_a_lost_key_is_refused_with_the_way_out(settings: Settings) -> None:
    token = encrypt("sk-1")
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    with pytest.raises(SecretUnreadable, match="enter the secret again"):
        decrypt(token)
    with pytest.raises(SecretUnreadable):
        rotate(token)
