"""Warnings about solvers that are valid and probably not meant so.

Each comes from a rule of the solver's semantics or from a trap that people reported; none keeps a
solver from being played.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from apps.dialogue.errors import SpecError
from apps.dialogue.solver.builders import (
    Builder,
    ChatMessage,
    Generate,
    GenerateMessage,
    LoadTrace,
    Loop,
)
from apps.dialogue.solver.spec import MultiTurnSolver, TaskSpec, resolve, specimens


@dataclass(frozen=True, slots=True)
class Lint:
    """A warning: where, in words, and as a ``code`` that does not change."""

    place: str
    message: str
    code: str


@dataclass(frozen=True, slots=True)
class _Spot:
    """A builder and what stands around it.

    ``before`` and ``after`` are its neighbours in the same list, ``loop`` the innermost loop around
    it, ``earlier`` all that may have run before it, ``beyond`` what runs once that loop ends.
    """

    builder: Builder
    path: str
    before: Sequence[Builder]
    after: Sequence[Builder]
    loop: Loop | None
    earlier: Sequence[Builder]
    beyond: Sequence[Builder]


def lint(solver: MultiTurnSolver) -> list[Lint]:
    """Return the warnings, those about the whole solver first, then in the order of builders."""
    lints = list(_of_solver(solver))
    for spot in _spots(solver.message_builders, "message_builders", None, (), ()):
        for rule in _RULES:
            lints += rule(spot)
    return lints


def lint_spec(spec: TaskSpec) -> list[Lint]:
    """Return the warnings about the solver of a whole specification, placed in that.

    Parameters without a default get stand-ins; where those do not fit there is nothing to say
    before the launch brings the values.
    """
    try:
        solver = resolve(spec, specimens(spec)).solver
    except SpecError:
        return []
    return [replace(found, place=f"definition.solver.{found.place}") for found in lint(solver)]


def _of_solver(solver: MultiTurnSolver) -> Iterator[Lint]:
    if solver.message_format == "latticeflow":
        message = "the format 'latticeflow' is deprecated; new specifications use 'open_responses'"
        yield Lint("message_format", message, "deprecated-format")
    if not _holds(solver.message_builders, Generate):
        message = "no builder calls the evaluated model, so there will be no answer to score"
        yield Lint("message_builders", message, "no-answer")


def _spots(
    builders: Sequence[Builder],
    path: str,
    loop: Loop | None,
    earlier: Sequence[Builder],
    beyond: Sequence[Builder],
) -> Iterator[_Spot]:
    for index, builder in enumerate(builders):
        before, after = builders[:index], builders[index + 1 :]
        so_far = (*earlier, *before)
        place = f"{path}[{index}]"
        yield _Spot(builder, place, before, after, loop, so_far, beyond)
        if isinstance(builder, Loop):
            # A loop inside a loop is followed by its neighbours, and by the next outer iteration.
            rest = (*after, *beyond) if loop is None else (*after, *builders, *beyond)
            inner = f"{place}.message_builders"
            yield from _spots(builder.message_builders, inner, builder, so_far, rest)


def _holds(builders: Sequence[Builder], kind: type[Builder]) -> bool:
    return any(
        isinstance(each, kind) or (isinstance(each, Loop) and _holds(each.message_builders, kind))
        for each in builders
    )


def _nested_loop(spot: _Spot) -> Iterator[Lint]:
    if isinstance(spot.builder, Loop) and spot.loop is not None:
        message = "LatticeFlow's SDK takes a loop inside a loop, its server does not"
        yield Lint(spot.path, message, "nested-loop")


def _answer_thrown_away(spot: _Spot) -> Iterator[Lint]:
    condition = spot.builder.condition
    if condition is None or condition.keep_iteration:
        return
    dropped = (*spot.before, spot.builder) if spot.loop else (spot.builder,)
    if _holds(dropped, Generate):
        what = "of the same iteration" if spot.loop else "itself"
        message = f"when this condition is met, the answer {what} is dropped and cannot be scored"
        yield Lint(f"{spot.path}.terminate_if", message, "answer-dropped")


def _stop_text_kept(spot: _Spot) -> Iterator[Lint]:
    condition = spot.builder.condition
    if condition is None or not condition.keep_iteration:
        return
    place = f"{spot.path}.terminate_if"
    if _holds(spot.after, Generate):
        scope = "loop" if spot.loop else "conversation"
        message = f"when this condition is met, the {scope} ends before the generate that follows"
        yield Lint(place, message, "stop-before-answer")
    if spot.loop and _holds(spot.beyond, Generate):
        message = (
            f"the text with {condition.includes!r} stays, and the generate after the loop "
            "reads it; keep_iteration: false drops it"
        )
        yield Lint(place, message, "stop-text-kept")


def _loop_limits(spot: _Spot) -> Iterator[Lint]:
    loop = spot.builder
    if not isinstance(loop, Loop):
        return
    if loop.max_iterations == 0:
        message = "with 0 iterations the builders of this loop are never played"
        yield Lint(f"{spot.path}.max_iterations", message, "never-played")
        return
    place = f"{spot.path}.on_max_iterations"
    written = "on_max_iterations" in loop.model_fields_set
    if loop.can_stop and not written:
        message = (
            "reaching max_iterations ends the conversation with an error unless you write this"
        )
        yield Lint(place, message, "cap-is-error")
    if not loop.can_stop and written and loop.on_max_iterations == "error":
        message = "no condition can end this loop, so 'error' is read as 'continue'"
        yield Lint(place, message, "cap-ignored")


def _other_model(spot: _Spot) -> Iterator[Lint]:
    builder = spot.builder
    if not isinstance(builder, GenerateMessage):
        return
    if builder.output_role is None:
        message = "without output_role the reply is appended as the assistant's"
        yield Lint(f"{spot.path}.output_role", message, "no-output-role")
    if builder.include_conversation and any(map(_brings_system_text, spot.earlier)):
        message = "this model is sent the evaluated model's system text with the conversation"
        yield Lint(f"{spot.path}.include_conversation", message, "system-text-shared")
    if spot.loop is None and not spot.after and builder.condition is None:
        message = "nothing reads the reply of this last call"
        yield Lint(spot.path, message, "unread-reply")


def _brings_system_text(builder: Builder) -> bool:
    match builder:
        case ChatMessage(role="system") | LoadTrace():
            return True
        case GenerateMessage(output_role="system"):
            return True
        case Loop():
            return any(map(_brings_system_text, builder.message_builders))
        case _:
            return False


def _unknown_names(spot: _Spot) -> Iterator[Lint]:
    known = {"sample", "messages"} | ({"loop_index"} if spot.loop else set())
    for template in spot.builder.templates():
        for name in sorted(template.names - known):
            message = f"the template reads {name!r}, which is not defined here"
            if name == "loop_index":
                message = "loop_index is defined inside a loop only"
            yield Lint(spot.path, message, "undefined-name")


_RULES: Final[tuple[Callable[[_Spot], Iterator[Lint]], ...]] = (
    _nested_loop,
    _answer_thrown_away,
    _stop_text_kept,
    _loop_limits,
    _other_model,
    _unknown_names,
)
