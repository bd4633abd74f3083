"""Files that wait between a preview and its acceptance, each for the person who brought it.

They lie in a folder of the installation's state, for a day at most.
"""

import secrets
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from apps.accounts.errors import Gone

KEPT_SECONDS = 24 * 3600
_TOKEN_BYTES = 24


def _folder() -> Path:
    folder = Path(settings.VAR) / "imports"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _path(person: int, token: str) -> Path:
    if not token.replace("-", "").replace("_", "").isalnum() or not token.isascii():
        raise _gone()
    return _folder() / f"{person}-{token}"


def _gone() -> Gone:
    return Gone(
        "The previewed file is no longer here: it was imported already, or has waited for more "
        "than a day. Choose it again."
    )


def hold(person: int, pieces: Iterable[bytes]) -> str:
    """Keep ``pieces`` for the person with that id; the answer is what `open_held` asks for."""
    _sweep()
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    with _path(person, token).open("wb") as file:
        for piece in pieces:
            file.write(piece)
    return token


def open_held(person: int, token: str) -> BinaryIO:
    """The held bytes; raises `Gone` for a token that is not this person's, used or too old."""
    try:
        return _path(person, token).open("rb")
    except FileNotFoundError:
        raise _gone() from None


def discard(person: int, token: str) -> None:
    _path(person, token).unlink(missing_ok=True)


def _sweep() -> None:
    """Remove what nobody has claimed for a day; another process may be sweeping too."""
    oldest = time.time() - KEPT_SECONDS
    for path in _folder().iterdir():
        with suppress(FileNotFoundError):
            if path.stat().st_mtime < oldest:
                path.unlink()
