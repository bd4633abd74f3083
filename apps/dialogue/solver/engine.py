"""Playing one sample: a deterministic interpreter whose only side effect is calling models.

A conversation that cannot go on does not raise: it returns an ``Ending`` that says why, and the
transcript keeps what came before. Playing the same solver with the same sample and the same
replies writes the same transcript again, which is how a run is resumed.
"""

from collections.abc import Mapping
from typing import Any

from apps.dialogue.errors import TemplateError
from apps.dialogue.solver.builders.base import check_all
from apps.dialogue.solver.conversation import Conversation
from apps.dialogue.solver.ending import Ended, Ending, EndReason
from apps.dialogue.solver.language_model import LanguageModel
from apps.dialogue.solver.spec import MultiTurnSolver
from apps.dialogue.templating import plain_data
from apps.dialogue.trace import Transcript

BUILDERS_PATH = "message_builders"


async def play(
    solver: MultiTurnSolver,
    sample: Mapping[str, Any],
    model: LanguageModel,
    transcript: Transcript,
) -> Ending:
    """Grow a conversation in an empty ``transcript``; ``sample`` are the columns (JSON values).

    Never raises for what the sample, the templates or the models bring; cancelling it cancels it.
    """
    conversation = Conversation({}, model, transcript)
    try:
        conversation.sample = _plain(sample)
        conversation.lacking = _lacking(solver, conversation.sample)
        return await _play(solver, conversation)
    except Ended as end:
        failure = {"reason": end.reason, "message": end.message, "model_key": end.model_key}
        transcript.write("error", end.path, failure)
        return _ending(conversation, end.reason, end.path, end.message, end.model_key)


async def _play(solver: MultiTurnSolver, conversation: Conversation) -> Ending:
    for index, builder in enumerate(solver.message_builders):
        mark = conversation.transcript.mark()
        stop = await builder.play(conversation, f"{BUILDERS_PATH}[{index}]")
        if stop is not None:
            # Outside a loop a condition ends the conversation (rule 1); "the iteration" is the
            # message that met it.
            conversation.settle(stop, mark)
            message = f"the text includes {stop.condition.includes!r}"
            model_key = next(builder.model_keys(), None)
            return _ending(conversation, "stopped", stop.path, message, model_key)
    return _ending(conversation, "completed", "", "every builder was played")


def _plain(sample: Mapping[str, Any]) -> dict[str, Any]:
    try:
        return plain_data(dict(sample), "sample")
    except TemplateError as error:
        raise Ended("template_error", "", str(error)) from None


def _lacking(solver: MultiTurnSolver, sample: Mapping[str, Any]) -> Ended | None:
    """Find what the sample lacks and some later builder surely reads (rule 13)."""
    try:
        check_all(solver.message_builders, sample, BUILDERS_PATH, ("messages",))
    except TemplateError as error:
        return Ended("template_error", error.place, error.message)
    return None


def _ending(
    conversation: Conversation,
    reason: EndReason,
    path: str,
    message: str,
    model_key: str | None = None,
) -> Ending:
    transcript = conversation.transcript
    return Ending(
        reason=reason,
        path=path,
        model_key=model_key,
        message=message,
        answer=transcript.answer,
        answer_position=transcript.answer_position,
        capped_loops=tuple(conversation.capped_loops),
    )
