from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from apps.dialogue.solver.builders.base import Builder, check_all, play_all
from apps.dialogue.solver.conversation import Conversation
from apps.dialogue.solver.ending import Ended
from apps.dialogue.solver.termination import Stop
from apps.dialogue.specification import WholeNumber, refusal

if TYPE_CHECKING:
    from apps.dialogue.solver.builders import LoopBuilder


class Loop(Builder):
    """Repeats its builders until one of their conditions is met, at most ``max_iterations`` times.

    A condition inside a nested loop ends that loop, never this one (rule 2).
    """

    REFUSED_KEYS: ClassVar[dict[str, str]] = {
        "terminate_if": "a loop has no terminate_if: put it on one of its message builders"
    }

    type: Literal["loop"]
    # The list of builders knows this class, so it completes the model (see the package).
    message_builders: "tuple[LoopBuilder, ...]" = Field(min_length=1)
    max_iterations: WholeNumber = Field(10, ge=0)
    on_max_iterations: Literal["error", "continue"] = "error"

    @model_validator(mode="before")
    @classmethod
    def _refuse_load_trace(cls, value: Any) -> Any:
        builders = value.get("message_builders") if isinstance(value, dict) else None
        for index, builder in enumerate(builders if isinstance(builders, list | tuple) else ()):
            if isinstance(builder, dict) and builder.get("type") == "load_trace":
                fault = "load_trace stands at the top level only, not in a loop"
                raise refusal(fault, f".message_builders[{index}]")
        return value

    @property
    def can_stop(self) -> bool:
        """Whether a condition can end this very loop (rule 5)."""
        return any(builder.condition is not None for builder in self.message_builders)

    async def play(self, conversation: Conversation, path: str) -> Stop | None:
        for index in range(self.max_iterations):
            mark = conversation.transcript.mark()
            with conversation.iteration(index):
                stop = await play_all(
                    self.message_builders, conversation, f"{path}.message_builders"
                )
            if stop is not None:
                conversation.settle(stop, mark)
                return None
        if self.can_stop and self.max_iterations:
            self._at_cap(conversation, path)
        return None

    def _at_cap(self, conversation: Conversation, path: str) -> None:
        if self.on_max_iterations == "error":
            fault = f"the loop ran {self.max_iterations} times and no condition was met"
            raise Ended("max_iterations", path, fault)
        conversation.reach_cap(path, self.max_iterations)

    def check(self, sample: Mapping[str, Any], path: str, later: Sequence[str]) -> None:
        if self.max_iterations:
            names = (*later, "loop_index")
            check_all(self.message_builders, sample, f"{path}.message_builders", names)

    def model_keys(self) -> Iterator[str]:
        for builder in self.message_builders:
            yield from builder.model_keys()
