"""A sample rehearsed without a model: what the first requests would be, and who refuses them.

The solver is played as it is, with a stand-in that answers every call, until the evaluated model
has been asked once. What comes later grows out of replies that nobody knows yet.
"""

from collections.abc import Mapping
from typing import Any, Final

from apps.dialogue.completeness import CompleteReply
from apps.dialogue.errors import LimitReached
from apps.dialogue.message import text_message
from apps.dialogue.pairing import Problem
from apps.dialogue.preflight import preflight
from apps.dialogue.solver.engine import play
from apps.dialogue.solver.language_model import ModelRequest
from apps.dialogue.solver.spec import MultiTurnSolver
from apps.dialogue.trace import Transcript

MOST_CALLS: Final = 20
"""Calls of other models, before the evaluated one's first, that are answered by the stand-in."""

STAND_IN: Final = "…"


async def rehearse(
    solver: MultiTurnSolver, sample: Mapping[str, Any], targets: Mapping[str | None, str]
) -> list[Problem]:
    """Return what keeps the first requests of a sample from being sent, or is refused of them.

    ``targets`` are the APIs (see ``preflight``) by model key, None for the evaluated model. An
    error means that the sample cannot be played to the evaluated model's first reply: a request
    that its format cannot carry, or a template that does not render. Places are those of the
    request's messages, or of the builder. Never raises for what the sample brings.
    """
    model = _StandIn(targets)
    ending = await play(solver, sample, model, Transcript())
    if ending.reason == "template_error" and not model.has_spoken:
        # After the stand-in has spoken, it may be its reply that a template could not read.
        return [*model.problems, Problem(ending.path, ending.message, "error")]
    return model.problems


class _StandIn:
    """Implements ``LanguageModel``: looks at every request and says next to nothing."""

    def __init__(self, targets: Mapping[str | None, str]) -> None:
        self.problems: list[Problem] = []
        self.has_spoken = False
        self._targets = targets

    async def reply(self, request: ModelRequest) -> CompleteReply:
        found = preflight(request.messages, self._targets[request.model_key])
        self.problems += [each for each in found if each not in self.problems]
        if request.model_key is None or request.ordinal >= MOST_CALLS or _is_refused(found):
            raise LimitReached("the rehearsal ends here")
        self.has_spoken = True
        return CompleteReply(text_message("assistant", STAND_IN), None, "stop")


def _is_refused(problems: list[Problem]) -> bool:
    return any(each.severity == "error" for each in problems)
