"""What message builders share. A builder is its settings and its behaviour in one object."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import AfterValidator

from apps.dialogue.errors import TemplateError
from apps.dialogue.solver.conversation import Conversation
from apps.dialogue.solver.termination import Stop, TerminationCondition
from apps.dialogue.specification import SpecModel, refusal
from apps.dialogue.templating import Template, compile_template

SCORER_NAMES: Final = ("trace", "model_outputs")


class Builder(SpecModel):
    """One step of a solver."""

    type: str

    @property
    def condition(self) -> TerminationCondition | None:
        """The condition under which it ends the loop around it, or the conversation."""
        return None

    async def play(self, conversation: Conversation, path: str) -> Stop | None:
        """Do the step; returns a stop if its condition was met.

        Raises ``Ended`` when the conversation cannot go on. Calling a model is the only side
        effect and the only thing waited for.
        """
        raise NotImplementedError

    def check(self, sample: Mapping[str, Any], path: str, later: Sequence[str]) -> None:
        """Refuse a sample that lacks what this step reads, before any model is called.

        ``later`` are the template names that playing brings. Raises ``TemplateError`` placed at
        the builder.
        """
        for template in self.templates():
            try:
                template.check({"sample": sample}, later=later)
            except TemplateError as error:
                raise TemplateError(error.message, place=path) from None

    def templates(self) -> Iterator[Template]:
        """The templates it renders itself."""
        return iter(())

    def model_keys(self) -> Iterator[str]:
        """The keys of the models it calls besides the evaluated one."""
        return iter(())


def _builder_template(source: str) -> str:
    """Compile a template to see that it can be; a name that only scorers have is refused."""
    try:
        template = compile_template(source)
    except TemplateError as error:
        raise refusal(f"the template is wrong: {error.message}") from None
    for name in SCORER_NAMES:
        if name in template.names:
            fault = f"the template reads {name!r}, which exists in scorers only; use 'messages'"
            raise refusal(fault)
    return source


BuilderTemplate = Annotated[str, AfterValidator(_builder_template)]
"""The text of a template that sees ``sample``, ``messages`` and, in a loop, ``loop_index``."""


async def play_all(
    builders: Sequence[Builder], conversation: Conversation, path: str
) -> Stop | None:
    """Play builders in order up to the first stop. ``path`` is the place of their list."""
    for index, builder in enumerate(builders):
        stop = await builder.play(conversation, f"{path}[{index}]")
        if stop is not None:
            return stop
    return None


def check_all(
    builders: Sequence[Builder], sample: Mapping[str, Any], path: str, later: Sequence[str]
) -> None:
    """Check builders in order; raises ``TemplateError`` for the first that lacks something."""
    for index, builder in enumerate(builders):
        builder.check(sample, f"{path}[{index}]", later)
