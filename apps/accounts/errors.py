"""How a room says no.

    Refusal
    ├── NotFound        there is no such thing, or it is not yours to see
    ├── Forbidden       you may see it, but not do this to it
    ├── Invalid         what you sent breaks a rule; ``place`` says where
    ├── Conflict        somebody else was faster; ``current`` holds what is there now
    └── Gone            it existed and has ended

Each surface turns these into its own answers in one file of its own; `dialogue.errors` are the
other tree a surface knows.
"""

from typing import Any, ClassVar


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
