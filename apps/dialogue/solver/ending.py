"""How a conversation ends."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

EndReason = Literal[
    "completed",
    "stopped",
    "max_iterations",
    "incomplete_reply",
    "context_window",
    "template_error",
    "provider_error",
    "limit",
    "cancelled",
]

END_REASONS: Final[tuple[str, ...]] = get_args(EndReason)
SUCCESSES: Final = ("completed", "stopped")


@dataclass(frozen=True, slots=True)
class Ending:
    """Why and where a conversation ended, and the answer there is to score.

    ``path`` is the builder's place in the solver, "" for the end of the whole; ``model_key`` is the
    model involved, None where there was none or it was the evaluated one (then ``path`` leads to a
    ``generate``). ``answer`` is the text of the last kept reply of the evaluated model.
    ``capped_loops`` are the paths of loops that reached ``max_iterations`` though a condition could
    have ended them, and went on.
    """

    reason: EndReason
    path: str
    model_key: str | None
    message: str
    answer: str | None
    answer_position: int | None
    capped_loops: tuple[str, ...] = ()

    @property
    def succeeded(self) -> bool:
        """Whether the conversation came to its end; only then is its answer scored."""
        return self.reason in SUCCESSES


class Ended(Exception):
    """Leaves the builders when a conversation cannot go on."""

    def __init__(
        self, reason: EndReason, path: str, message: str, *, model_key: str | None = None
    ) -> None:
        super().__init__(message)
        self.reason: EndReason = reason
        self.path = path
        self.message = message
        self.model_key = model_key
