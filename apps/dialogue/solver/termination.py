"""Stop conditions: ``terminate_if`` (rules 1 to 4, 8 and 9 of the solver's semantics)."""

from dataclasses import dataclass

from pydantic import Field

from apps.dialogue.specification import SpecModel


class TerminationCondition(SpecModel):
    """Ends the innermost loop around it, or the conversation where there is none.

    ``includes`` is searched, case-sensitively, in the visible text of the message just produced
    and in nothing else. ``keep_iteration`` says whether what the current iteration produced stays;
    outside a loop, whether that message stays.
    """

    includes: str = Field(min_length=1)
    keep_iteration: bool = True

    def met_by(self, text: str) -> bool:
        return self.includes in text


@dataclass(frozen=True, slots=True)
class Stop:
    """A condition that was met, on its way to the loop that it ends."""

    condition: TerminationCondition
    path: str


def stop_if(condition: TerminationCondition | None, text: str, path: str) -> Stop | None:
    """Return a stop if there is a condition and the text meets it."""
    return Stop(condition, path) if condition is not None and condition.met_by(text) else None
