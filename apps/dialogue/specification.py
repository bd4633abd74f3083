"""Reading specifications: solvers, scorers, tasks. Every refusal names its place.

Specifications are pydantic models of ``SpecModel``; ``read`` turns what pydantic finds into one
``SpecError`` with all the problems, in short sentences, each at a place like
``message_builders[2].terminate_if.includes``.
"""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Final, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from apps.dialogue.blocks.json_values import kind_of
from apps.dialogue.errors import SpecError

Spec = TypeVar("Spec")
Problem = tuple[str, str]
"""A place and what is wrong there."""


class SpecModel(BaseModel):
    """A part of a specification: frozen, and an unknown key is refused by name.

    ``REFUSED_KEYS`` explains keys that people try here and that belong elsewhere.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    REFUSED_KEYS: ClassVar[dict[str, str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, value: Any) -> Any:
        if isinstance(value, dict):
            unknown = [key for key in value if key not in cls.model_fields]
            if unknown:
                raise refusal(" ".join(cls._explain(key) for key in unknown), _step(unknown[0]))
        return value

    @classmethod
    def _explain(cls, key: object) -> str:
        if explained := cls.REFUSED_KEYS.get(str(key)):
            return f"{explained}."
        close = get_close_matches(str(key), cls.model_fields, n=1)
        hint = f": did you mean {close[0]!r}?" if close else "."
        return f"{key!r} is not a key here{hint} The keys are {', '.join(cls.model_fields)}."


def _not_bool(value: Any) -> Any:
    if isinstance(value, bool):
        raise refusal(f"must be a whole number, not {value!r}")
    return value


WholeNumber = Annotated[int, BeforeValidator(_not_bool)]
"""A whole number; pydantic alone would take true for 1."""


def refusal(fault: str, path: str = "") -> PydanticCustomError:
    """Make the error that a validator raises; ``path`` goes on from its place (``.keys[0]``)."""
    return PydanticCustomError("refused", "{fault}", {"fault": fault, "path": path})


def read(shape: TypeAdapter[Spec], raw: object, place: str = "") -> Spec:
    """Validate ``raw``; raises ``SpecError`` with every problem, the first one in front."""
    try:
        return shape.validate_python(raw)
    except ValidationError as error:
        raise spec_error(problems_of(error, raw, place)) from None


def spec_error(problems: Sequence[Problem]) -> SpecError:
    """Make one error of several problems."""
    place, message = problems[0]
    if others := len(problems) - 1:
        message = f"{message} (and {others} more)"
    return SpecError(message, place=place, problems=problems)


def problems_of(error: ValidationError, raw: object, place: str = "") -> list[Problem]:
    """Say what pydantic found, in the order of the specification."""
    return [
        (_place(problem, raw, place), _fault(problem))
        for problem in error.errors(include_url=False)
        if not _is_echo(problem)
    ]


def _is_echo(problem: ErrorDetails) -> bool:
    """Tell a list that is called too short only because its items are wrong."""
    given = problem["input"]
    return (
        problem["type"] == "too_short"
        and isinstance(given, list | tuple)
        and len(given) >= problem["ctx"]["min_length"]
    )


def _place(problem: ErrorDetails, raw: object, place: str) -> str:
    written = place
    for step in _steps(problem["loc"], raw):
        written += f"[{step}]" if isinstance(step, int) else _step(step)
    written += problem.get("ctx", {}).get("path", "")
    if problem["type"].startswith("union_tag"):
        written += ".type"
    return str(written).removeprefix(".")


def _step(key: object) -> str:
    return f".{key}"


def _steps(location: Sequence[int | str], raw: object) -> Iterator[int | str]:
    """Leave out of a location what names a member of a union and not a key of ``raw``."""
    here: Any = raw
    for step in location:
        if isinstance(here, dict) and step not in here and here.get("type") == step:
            continue
        yield step
        try:
            here = here[step]
        except (TypeError, KeyError, IndexError):
            here = None


_EXPECTED: Final = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "an object",
    "float_parsing": "a number",
    "float_type": "a number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_attributes_type": "an object",
    "model_type": "an object",
    "string_type": "a text",
    "tuple_type": "a list",
}


def _fault(problem: ErrorDetails) -> str:
    kind, given, context = problem["type"], problem["input"], problem.get("ctx", {})
    if kind in _EXPECTED:
        return f"must be {_EXPECTED[kind]}, not {shown(given)}"
    match kind:
        case "refused":
            return str(context["fault"])
        case "missing":
            return "is missing"
        case "literal_error" | "enum":
            return f"{shown(given)} is not one of {context['expected']}"
        case "union_tag_invalid":
            return f"{shown(context['tag'])} is not one of {context['expected_tags']}"
        case "union_tag_not_found" if isinstance(given, dict):
            return "is missing"
        case "union_tag_not_found":
            return f"must be an object, not {kind_of(given)}"
        case "too_short" | "string_too_short":
            return "must not be empty"
        case "greater_than_equal":
            return f"must be at least {context['ge']}, not {shown(given)}"
        case _:
            message = problem["msg"]
            return f"{message[:1].lower()}{message[1:]}, not {shown(given)}"


def shown(value: object) -> str:
    """Show a value in an error message: short ones as they are, others by their kind."""
    if isinstance(value, str | int | float) and len(repr(value)) <= 60:
        return repr(value)
    return kind_of(value)
