"""How a room says no.

    Refusal
    ├── NotFound        there is no such thing, or it is not yours to see
    ├── Forbidden       you may see it, but not do this to it
    ├── Invalid         what you sent breaks a rule; ``place`` says where
    ├── Conflict        somebody else was faster; ``current`` holds what is there now
    ├── Gone            it existed and has ended
    └── DiskFull        there is no room to do it

Each surface turns these into its own answers in one file of its own; `dialogue.errors` are the
other tree a surface knows.
"""

import errno
import sqlite3
from typing import Any, ClassVar, Final

from django.db import OperationalError

DISK_FULL: Final = "The disk of this installation is full. Make room on it, then try again."

_DISK_FULL_IN_POSTGRESQL: Final = "53100"


class Refusal(Exception):
    """A request that was understood and refused; nothing was changed."""

    status: ClassVar[int] = 400

    def __init__(self, message: str, *, place: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.place = place


class NotFound(Refusal):
    status = 404


class Forbidden(Refusal):
    status = 403


class Invalid(Refusal):
    status = 422


class Conflict(Refusal):
    """Somebody else changed the thing first; ``current`` is what it is now."""

    status = 409

    def __init__(self, message: str, *, place: str = "", current: Any = None) -> None:
        super().__init__(message, place=place)
        self.current = current


class Gone(Refusal):
    status = 410


class DiskFull(Refusal):
    """No byte more can be written; what was written of it so far is gone again."""

    status = 507

    def __init__(self, message: str = DISK_FULL, *, place: str = "") -> None:
        super().__init__(message, place=place)


def is_disk_full(error: BaseException | None) -> bool:
    """Whether an error comes of a full disk: ours, or that of the database."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, DiskFull) or _says_disk_full(error):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _says_disk_full(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    if getattr(error, "sqlstate", None) == _DISK_FULL_IN_POSTGRESQL:
        return True
    is_of_sqlite = isinstance(error, sqlite3.OperationalError | OperationalError)
    return is_of_sqlite and "disk is full" in str(error)
