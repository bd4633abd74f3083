"""The whole of a ``task.yaml``, and the solver in it, in LatticeFlow's vocabulary.

``parse_task_spec`` reads the text and checks all that can be checked before the parameters have
values; ``resolve`` puts the values in and gives what can be played. Every mistake is a
``SpecError`` with its place.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from pydantic import Field, TypeAdapter, model_validator

from apps.dialogue.errors import SpecError
from apps.dialogue.scoring import Scorer, parse_scorers
from apps.dialogue.solver.builders import Builder, Loop, MessageBuilder
from apps.dialogue.solver.documents import read_document
from apps.dialogue.solver.parameters import (
    AnyParameter,
    BooleanParameter,
    CategoricalParameter,
    DatasetParameter,
    DictParameter,
    FloatParameter,
    IntParameter,
    ListParameter,
    NotAccepted,
    Parameter,
)
from apps.dialogue.solver.placeholders import fill_in, placeholders, sole_placeholder
from apps.dialogue.specification import Problem, SpecModel, WholeNumber, read, refusal, spec_error

ValueOf = Callable[[str, str], Any]

DEEPEST_LOOP: Final = 8

OTHER_SOLVERS: Final = {
    "single_turn_solver": "write it as a multi_turn_solver: its messages, then generate",
    "grouped_single_turn_solver": "write it as a multi_turn_solver",
    "pass_through_solver": "write it as a multi_turn_solver with load_trace",
    "python": "this server runs no Python of a specification",
}


class MultiTurnSolver(SpecModel):
    """A list of message builders, played in order."""

    type: Literal["multi_turn_solver"]
    message_format: Literal["open_responses", "latticeflow"] | None = "open_responses"
    message_builders: tuple[MessageBuilder, ...] = Field(min_length=1)
    postprocessor: None = None

    @model_validator(mode="before")
    @classmethod
    def _refuse_what_is_not_played(cls, value: Any) -> Any:
        if isinstance(value, dict):
            kind = value.get("type")
            if isinstance(kind, str) and kind in OTHER_SOLVERS:
                fault = f"the solver {kind!r} is not played here: {OTHER_SOLVERS[kind]}"
                raise refusal(fault, ".type")
            if value.get("postprocessor") is not None:
                fault = "Python postprocessors are not run here; remove it"
                raise refusal(fault, ".postprocessor")
        return value

    @model_validator(mode="after")
    def _check_depth(self) -> "MultiTurnSolver":
        if _depth(self.message_builders) > DEEPEST_LOOP:
            raise refusal(f"loops are nested at most {DEEPEST_LOOP} deep", ".message_builders")
        return self

    def model_keys(self) -> tuple[str, ...]:
        """The keys of the models that it calls besides the evaluated one, each once."""
        return tuple(
            dict.fromkeys(key for each in self.message_builders for key in each.model_keys())
        )


def _depth(builders: tuple[Builder, ...]) -> int:
    inner = (_depth(each.message_builders) for each in builders if isinstance(each, Loop))
    return max((1 + depth for depth in inner), default=0)


class Dataset(SpecModel):
    """Where the samples come from: the ``key`` of an environment, or several ``keys``."""

    REFUSED_KEYS: ClassVar[dict[str, str]] = {
        "source": "samples are not taken from a task's result here: import them as tasks"
    }

    key: str | None = Field(None, min_length=1)
    keys: tuple[str, ...] | None = Field(None, min_length=1)

    @model_validator(mode="after")
    def _one_of_them(self) -> "Dataset":
        if (self.key is None) == (self.keys is None):
            raise refusal("give either key or keys")
        return self


class Trials(SpecModel):
    """How often each sample is played; its scores are averaged."""

    REFUSED_KEYS: ClassVar[dict[str, str]] = {
        "score_aggregators": "trials are averaged; other aggregators are not computed here"
    }

    num_trials: WholeNumber = Field(ge=2)


class Definition(SpecModel):
    """The task itself. Its parts are validated once the parameters are in."""

    REFUSED_KEYS: ClassVar[dict[str, str]] = {
        "actions": "actions are not carried out here: leave samples out with a split or a filter"
    }

    type: Literal["benchmark_task"] = "benchmark_task"
    evaluated_entity_type: Literal["model"] | None = None
    dataset: dict[str, Any]
    solver: dict[str, Any]
    scorers: list[Any]
    trials: dict[str, Any] | None = None


class TaskSpec(SpecModel):
    """A ``task.yaml``."""

    key: str = Field(pattern=r"^[a-zA-Z0-9_\-]{1,250}$")
    display_name: str = Field(min_length=1)
    description: str = ""
    long_description: str | None = None
    tasks: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    evaluated_entity_type: Literal["model"] | None = None
    source: Literal["atlas", "custom"] | None = None
    config_spec: tuple[AnyParameter, ...] = ()
    definition: Definition

    @model_validator(mode="after")
    def _check_parameter_keys(self) -> "TaskSpec":
        seen: set[str] = set()
        for index, parameter in enumerate(self.config_spec):
            if parameter.key in seen:
                fault = f"two parameters have the key {parameter.key!r}"
                raise refusal(fault, f".config_spec[{index}].key")
            seen.add(parameter.key)
        return self


@dataclass(frozen=True, slots=True)
class ResolvedTask:
    """A task with its parameters put in; ``config`` holds the values that were used."""

    key: str
    display_name: str
    description: str
    config: Mapping[str, Any]
    dataset: Dataset
    solver: MultiTurnSolver
    scorers: tuple[Scorer, ...]
    trials: Trials | None

    def model_keys(self) -> tuple[str, ...]:
        """The keys of the simulated and judge models, each once."""
        scoring = (key for scorer in self.scorers for key in scorer.model_keys())
        return tuple(dict.fromkeys([*self.solver.model_keys(), *scoring]))


def parse_task_spec(text: str) -> TaskSpec:
    """Read a ``task.yaml`` (or its JSON).

    Raises ``SpecError``, with all problems, for an unknown key, a wrong type, a missing part, a
    placeholder without its parameter. Values that a parameter brings are checked by ``resolve``.
    """
    document = read_document(text)
    spec: TaskSpec = read(_TASK, document)
    raw = specimens(spec)
    stand_ins = {each.key: each.accept(raw[each.key]) for each in spec.config_spec}
    uses = list(placeholders(spec.definition.model_dump(), "definition"))
    unknown = [
        (use.place, _unknown(use.key, stand_ins)) for use in uses if use.key not in stand_ins
    ]
    if unknown:
        raise spec_error(unknown)
    filled = _fill_in_definition(spec, lambda key, _: stand_ins[key])
    brought = tuple(use.place for use in uses)
    problems = [each for each in _problems(filled) if not _is_under(each[0], brought)]
    if problems:
        raise spec_error(problems)
    return spec


def resolve(spec: TaskSpec, values: Mapping[str, Any]) -> ResolvedTask:
    """Put parameters into a task: ``values`` by key, else their ``default_value``.

    Values may be typed or the text of a command line. Raises ``SpecError`` for a value that its
    parameter does not take, a name that is no parameter, and a parameter without a value.
    """
    known = {each.key: each for each in spec.config_spec}
    for key in values:
        if key not in known:
            raise SpecError(_unknown(key, known), place=f"config.{key}")
    config = {key: _value_of(known[key], values) for key in known if _has_value(known[key], values)}

    def value_of(key: str, place: str) -> Any:
        if key not in config:
            missing = "has no value" if key in known else _unknown(key, known)
            raise SpecError(f"config.{key} {missing}", place=place)
        return config[key]

    filled = _fill_in_definition(spec, value_of)
    if problems := _problems(filled):
        raise spec_error(problems)
    trials: Trials | None = read(_TRIALS, filled["trials"], "definition.trials")
    return ResolvedTask(
        key=spec.key,
        display_name=spec.display_name,
        description=spec.description,
        config=config,
        dataset=read(_DATASET, filled["dataset"], "definition.dataset"),
        solver=parse_solver(filled["solver"], "definition.solver"),
        scorers=parse_scorers(filled["scorers"], "definition.scorers"),
        trials=trials,
    )


def dataset_parameter(spec: TaskSpec) -> str | None:
    """The key of the parameter of type ``dataset`` that ``definition.dataset.key`` stands for."""
    key = sole_placeholder(spec.definition.dataset.get("key"))
    is_one = any(
        each.key == key and isinstance(each, DatasetParameter) for each in spec.config_spec
    )
    return key if is_one else None


def parse_solver(raw: object, place: str = "") -> MultiTurnSolver:
    """Read a solver without placeholders; raises ``SpecError``."""
    solver: MultiTurnSolver = read(_SOLVER, raw, place)
    return solver


_TASK: Final[TypeAdapter[TaskSpec]] = TypeAdapter(TaskSpec)
_SOLVER: Final[TypeAdapter[MultiTurnSolver]] = TypeAdapter(MultiTurnSolver)
_DATASET: Final[TypeAdapter[Dataset]] = TypeAdapter(Dataset)
_TRIALS: Final[TypeAdapter[Any]] = TypeAdapter(Trials | None)


def _fill_in_definition(spec: TaskSpec, value_of: ValueOf) -> dict[str, Any]:
    definition = spec.definition
    parts = {name: getattr(definition, name) for name in ("dataset", "solver", "scorers", "trials")}
    filled: dict[str, Any] = fill_in(parts, value_of, "definition")
    return filled


def _problems(filled: Mapping[str, Any]) -> list[Problem]:
    """Check the parts of a definition; everything that is wrong with any of them."""
    problems: list[Problem] = []
    for name, shape in (("dataset", _DATASET), ("solver", _SOLVER), ("trials", _TRIALS)):
        try:
            read(shape, filled[name], f"definition.{name}")
        except SpecError as error:
            problems += error.problems
    try:
        parse_scorers(filled["scorers"], "definition.scorers")
    except SpecError as error:
        problems += error.problems
    return problems


def _is_under(place: str, brought: tuple[str, ...]) -> bool:
    return any(place == each or place.startswith((f"{each}.", f"{each}[")) for each in brought)


def _unknown(key: str, known: Iterable[str]) -> str:
    return f"config_spec has no parameter {key!r} (parameters: {', '.join(known) or 'none'})"


def _has_value(parameter: Parameter, values: Mapping[str, Any]) -> bool:
    given = values.get(parameter.key, parameter.default_value)
    return given is not None or parameter.nullable or parameter.key in values


def _value_of(parameter: Parameter, values: Mapping[str, Any]) -> Any:
    try:
        return parameter.accept(values.get(parameter.key, parameter.default_value))
    except NotAccepted as error:
        raise SpecError(str(error), place=f"config.{parameter.key}") from None


def specimens(spec: TaskSpec) -> dict[str, Any]:
    """Values to ``resolve`` a specification with before any are known: its defaults, and stand-ins
    where there is none."""
    return {each.key: _specimen(each) for each in spec.config_spec}


def _specimen(parameter: Parameter) -> Any:
    if parameter.default_value is not None:
        return parameter.default_value
    match parameter:
        case IntParameter() | FloatParameter():
            return parameter.min or parameter.max or 1
        case BooleanParameter():
            return True
        case CategoricalParameter():
            return parameter.allowed_values[0]
        case ListParameter():
            return []
        case DictParameter():
            return {}
        case _:
            return "value"
