"""What every block of a message shares: it checks itself, and writes itself as the wire has it.

The wire shape is OpenReward's (``openreward`` 0.1.167, ``environments/types.py``): the keys, their
order and the nulls that its server sends.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainValidator,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from apps.dialogue.blocks.json_values import NotJson, json_copy, json_object, kind_of, text_fault

Role = Literal["system", "user", "assistant"]


def _storable(text: str) -> str:
    if fault := text_fault(text):
        raise PydanticCustomError("unstorable", "{fault}", {"fault": fault})
    return text


def _identifier(text: str) -> str:
    if not text:
        raise PydanticCustomError("unstorable", "{fault}", {"fault": "must not be empty"})
    return _storable(text)


def _object(value: object) -> dict[str, Any]:
    try:
        return json_object(value)
    except NotJson as error:
        context = {"fault": error.message, "path": error.path}
        raise PydanticCustomError("unstorable", "{fault}", context) from None


def _object_or_null(value: object) -> dict[str, Any] | None:
    return None if value is None else _object(value)


def _listed(value: object) -> tuple[object, ...]:
    if not isinstance(value, list | tuple):
        fault = f"must be a list of blocks, not {kind_of(value)}"
        raise PydanticCustomError("unstorable", "{fault}", {"fault": fault})
    return tuple(value)


Text = Annotated[str, AfterValidator(_storable)]
Identifier = Annotated[str, AfterValidator(_identifier)]
"""A text that must not be empty: an id or the name of a tool."""

Input = Annotated[
    dict[str, Any], PlainValidator(_object), WithJsonSchema({"type": "object"}, mode="validation")
]
Detail = Annotated[
    dict[str, Any] | None,
    PlainValidator(_object_or_null),
    WithJsonSchema({"anyOf": [{"type": "object"}, {"type": "null"}]}, mode="validation"),
]
"""Any JSON object a person or a program attaches; it never reaches a model."""


BlockList = BeforeValidator(_listed)
"""Marks a tuple of blocks: the wire has a list there and nothing else (rule P1)."""


class BlockBase(BaseModel):
    """A block: frozen, exactly its own keys, nothing coerced.

    ``ROLES`` are the roles whose messages may hold it (rule P2).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    ROLES: ClassVar[frozenset[Role]]

    detail: Detail = None

    def to_wire(self) -> dict[str, Any]:
        """Return the block as the reference server sends it; the dict is the caller's own."""
        raise NotImplementedError

    def detail_to_wire(self) -> dict[str, Any] | None:
        return None if self.detail is None else json_copy(self.detail)
