"""The parameters of a task: ``config_spec``, with all eleven types of LatticeFlow.

``accept`` takes a value as it comes from a specification, or as the text that a command line or a
form has, and returns it in the parameter's type.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, model_validator

from apps.dialogue.specification import SpecModel, refusal, shown

Scalar = Literal["string", "integer", "float", "boolean"]
Number = TypeVar("Number", int, float)


class NotAccepted(ValueError):
    """A value that a parameter does not take; the message says what it takes."""


class Parameter(SpecModel):
    """What all parameters have; ``nullable`` ones may be null."""

    type: str
    key: str = Field(pattern=r"^[a-zA-Z0-9_\-]{1,250}$")
    display_name: str = Field(min_length=1)
    description: str | None = None
    nullable: bool = False
    default_value: Any = None

    @model_validator(mode="after")
    def _check_default(self) -> "Parameter":
        if self.default_value is not None:
            try:
                self.accept(self.default_value)
            except NotAccepted as error:
                raise refusal(str(error), ".default_value") from None
        return self

    def accept(self, value: object) -> Any:
        """Return ``value`` in this parameter's type; raises ``NotAccepted``."""
        if value is None:
            if self.nullable:
                return None
            raise NotAccepted("must not be null")
        return self.convert(value)

    def convert(self, value: object) -> Any:
        """Like ``accept``, for a value that is not null."""
        raise NotImplementedError


class FloatParameter(Parameter):
    type: Literal["float"]
    min: float | None = None
    max: float | None = None

    def convert(self, value: object) -> float:
        return _within(_to_float(value), self.min, self.max)


class IntParameter(Parameter):
    type: Literal["int"]
    min: int | None = None
    max: int | None = None

    def convert(self, value: object) -> int:
        return _within(_to_int(value), self.min, self.max)


class BooleanParameter(Parameter):
    type: Literal["boolean"]

    def convert(self, value: object) -> bool:
        return _to_bool(value)


class TextParameter(Parameter):
    """A parameter whose value is a text that names or says something."""

    def convert(self, value: object) -> str:
        return _to_text(value)


class StringExample(SpecModel):
    value: str
    display_name: str = Field(min_length=1)


class StringParameter(TextParameter):
    type: Literal["string"]
    string_kind: Literal["freeform", "python", "jinja"] = "freeform"
    default_file_content: str | None = None
    examples: tuple[StringExample, ...] | None = None


class ModelParameter(TextParameter):
    type: Literal["model"]
    usage: (
        Literal["model_under_test", "productivity_assistant", "judge_model", "synthesizer_model"]
        | None
    ) = None


class DatasetParameter(TextParameter):
    type: Literal["dataset"]


class DatasetColumnParameter(TextParameter):
    type: Literal["dataset_column"]


class TaskResultParameter(TextParameter):
    type: Literal["task_result"]


class CategoricalParameter(Parameter):
    """One of ``allowed_values`` (with ``multiple`` a list of them), perhaps mapped."""

    type: Literal["categorical"]
    allowed_values: tuple[str, ...] = Field(min_length=1)
    multiple: bool = False
    values_mapping: dict[str, bool | int | float | str] | None = None

    def convert(self, value: object) -> Any:
        if self.multiple:
            chosen = _from_json(value) if _looks_like(value, "[") else value
            return [self._mapped(each) for each in _as_list(chosen)]
        return self._mapped(value)

    def _mapped(self, value: object) -> Any:
        if not isinstance(value, str) or value not in self.allowed_values:
            allowed = ", ".join(self.allowed_values)
            raise NotAccepted(f"{shown(value)} is not one of {allowed}")
        return (self.values_mapping or {}).get(value, value)


class ListParameter(Parameter):
    type: Literal["list"]
    dtype: Scalar

    def convert(self, value: object) -> list[Any]:
        items = _from_json(value) if isinstance(value, str) else value
        if not isinstance(items, list | tuple):
            raise NotAccepted(f"must be a list, not {shown(value)}")
        return [_SCALARS[self.dtype](item) for item in items]


class DictParameter(Parameter):
    type: Literal["dict"]
    value_dtype: Scalar

    def convert(self, value: object) -> dict[str, Any]:
        pairs = _from_json(value) if isinstance(value, str) else value
        if not isinstance(pairs, Mapping):
            raise NotAccepted(f"must be an object, not {shown(value)}")
        return {str(key): _SCALARS[self.value_dtype](each) for key, each in pairs.items()}


AnyParameter = Annotated[
    FloatParameter
    | IntParameter
    | BooleanParameter
    | StringParameter
    | ModelParameter
    | DatasetParameter
    | DatasetColumnParameter
    | ListParameter
    | DictParameter
    | CategoricalParameter
    | TaskResultParameter,
    Field(discriminator="type"),
]


def _to_float(value: object) -> float:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            number = float("nan")
        if isfinite(number):
            return number
    raise NotAccepted(f"must be a number, not {shown(value)}")


def _to_int(value: object) -> int:
    match value:
        case bool():
            pass
        case int():
            return value
        case float() if value.is_integer():
            return int(value)
        case str():
            try:
                return int(value)
            except ValueError:
                pass
        case _:
            pass
    raise NotAccepted(f"must be a whole number, not {shown(value)}")


def _to_bool(value: object) -> bool:
    match value:
        case bool():
            return value
        case "true" | "True":
            return True
        case "false" | "False":
            return False
        case _:
            raise NotAccepted(f"must be true or false, not {shown(value)}")


def _to_text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise NotAccepted(f"must be a text, not {shown(value)}")


_SCALARS: dict[Scalar, Callable[[object], Any]] = {
    "string": _to_text,
    "integer": _to_int,
    "float": _to_float,
    "boolean": _to_bool,
}


def _within(number: Number, least: float | None, most: float | None) -> Number:
    if least is not None and number < least:
        raise NotAccepted(f"must be at least {least}, not {number}")
    if most is not None and number > most:
        raise NotAccepted(f"must be at most {most}, not {number}")
    return number


def _from_json(value: object) -> Any:
    try:
        return json.loads(str(value))
    except ValueError:
        raise NotAccepted(f"must be JSON, not {shown(value)}") from None


def _looks_like(value: object, start: str) -> bool:
    return isinstance(value, str) and value.lstrip().startswith(start)


def _as_list(value: object) -> Sequence[object]:
    return value if isinstance(value, list | tuple) else [value]
