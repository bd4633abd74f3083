"""One turn of a conversation: OpenReward's wire shape, checked once (rules P1 to P6).

The wire shape is ``{"role", "blocks", "detail"}`` with roles system, user and assistant. What is
wrong is said in one short sentence with its place, like ``messages[2].blocks[0].text``.
"""

from collections.abc import Iterable, Sequence, Set
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from apps.dialogue.blocks import BLOCK_MODELS, BLOCK_TYPES, Block, Role, TextBlock
from apps.dialogue.blocks.base import BlockList, Detail
from apps.dialogue.blocks.json_values import json_copy, kind_of, text_fault
from apps.dialogue.errors import InvalidMessage

ROLES: tuple[str, ...] = get_args(Role)

PLACEMENT: dict[str, frozenset[str]] = {
    role: frozenset(name for name, model in BLOCK_MODELS.items() if role in model.ROLES)
    for role in ROLES
}
"""The block types that a message of each role may hold (rule P2)."""

_MOST_PROBLEMS = 4


class Message(BaseModel):
    """A turn: frozen, exactly role, blocks and detail; an empty ``blocks`` is a draft."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    role: Role
    blocks: Annotated[tuple[Block, ...], BlockList]
    detail: Detail = None

    @model_validator(mode="after")
    def _check_placement(self) -> "Message":
        allowed = PLACEMENT[self.role]
        for index, block in enumerate(self.blocks):
            if block.type not in allowed:
                fault = (
                    f"a {block.type} block cannot stand in a {self.role} message, "
                    f"which holds {_alternatives(allowed)}"
                )
                context = {"fault": fault, "path": f".blocks[{index}]"}
                raise PydanticCustomError("unstorable", "{fault}", context)
        return self

    @property
    def text(self) -> str:
        """The visible text: the text blocks joined by a line feed."""
        return "\n".join(block.text for block in self.blocks if block.type == "text")

    def to_wire(self) -> dict[str, Any]:
        """Return the message as the reference server sends it (nulls included), a fresh dict."""
        return {
            "role": self.role,
            "blocks": [block.to_wire() for block in self.blocks],
            "detail": None if self.detail is None else json_copy(self.detail),
        }


_CONVERSATION: TypeAdapter[tuple[Message, ...]] = TypeAdapter(tuple[Message, ...])
_BLOCK: TypeAdapter[Block] = TypeAdapter(Block)


def parse_message(wire: object, place: str = "") -> Message:
    """Read one message; raises ``InvalidMessage`` naming the place inside ``place``."""
    if isinstance(wire, Message):
        return wire
    try:
        return Message.model_validate(wire)
    except ValidationError as error:
        raise _invalid(error, place) from None


def parse_conversation(wire: object, place: str = "messages") -> tuple[Message, ...]:
    """Read a list of messages; raises ``InvalidMessage`` with a place like ``messages[3].role``."""
    if not isinstance(wire, list | tuple):
        raise InvalidMessage(f"must be a list of messages, not {kind_of(wire)}", place=place)
    try:
        return _CONVERSATION.validate_python(wire)
    except ValidationError as error:
        raise _invalid(error, place) from None


def parse_block(wire: object, place: str = "") -> Block:
    """Read one block; raises ``InvalidMessage`` naming the place inside ``place``."""
    try:
        return _BLOCK.validate_python(wire)
    except ValidationError as error:
        raise _invalid(error, place) from None


def make_message(
    role: Role, blocks: Sequence[Block], detail: dict[str, Any] | None = None, *, place: str = ""
) -> Message:
    """Make a message of blocks; raises ``InvalidMessage`` for a block that cannot stand there."""
    return parse_message({"role": role, "blocks": blocks, "detail": detail or None}, place)


def conversation_to_wire(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Return messages as the reference server sends them."""
    return [message.to_wire() for message in messages]


def text_message(role: Role, text: str) -> Message:
    """Make a message of one text block; raises ``InvalidMessage`` for a text that breaks P5."""
    if fault := text_fault(text):
        raise InvalidMessage(fault, place="blocks[0].text")
    return Message(role=role, blocks=(TextBlock(text=text),))


def _invalid(error: ValidationError, place: str) -> InvalidMessage:
    """Turn pydantic's list into one short sentence: the first place, then what else is wrong."""
    problems = [
        (_place(problem, place), _fault(problem))
        for problem in error.errors(include_url=False, include_input=True)
    ]
    first_place, first_fault = problems[0]
    others = [f"{where}: {fault}" for where, fault in problems[1:_MOST_PROBLEMS]]
    if len(problems) > _MOST_PROBLEMS:
        others.append(f"and {len(problems) - _MOST_PROBLEMS} more")
    return InvalidMessage("; ".join([first_fault, *others]), place=first_place)


def _place(problem: ErrorDetails, place: str) -> str:
    written = place
    steps: Sequence[int | str] = problem["loc"]
    for index, step in enumerate(steps):
        if isinstance(step, int):
            written += f"[{step}]"
        elif step not in BLOCK_TYPES or (index and not isinstance(steps[index - 1], int)):
            # A block type at the start or after a position is the union's tag, not a wire's key.
            written += f".{step}" if written else step
    context = problem.get("ctx", {})
    if problem["type"].startswith("union_tag"):
        return written + ".type"
    return str(written + context.get("path", "")).removeprefix(".")


_EXPECTED = {
    "string_type": "a text",
    "bool_type": "true or false",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dict_type": "an object",
}


def _fault(problem: ErrorDetails) -> str:
    context = problem.get("ctx", {})
    kind, given = problem["type"], problem["input"]
    if kind in _EXPECTED:
        return f"must be {_EXPECTED[kind]}, not {kind_of(given)}"
    match kind:
        case "unstorable":
            return str(context["fault"])
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not a key of this shape"
        case "literal_error":
            return f"{_shown(given)} is not one of {', '.join(ROLES)}"
        case "union_tag_invalid":
            holder = "a tool_result holds" if "tool_result" in problem["loc"] else "a block is"
            return f"{holder} {_tags(context)}, not {_shown(context['tag'])}"
        case "union_tag_not_found":
            return f"is missing; a block has one of the types {', '.join(BLOCK_TYPES)}"
        case _:
            return problem["msg"]


def _shown(value: object) -> str:
    written = ascii(value)
    return written if len(written) <= 60 else f"{written[:57]}..."


def _tags(context: dict[str, Any]) -> str:
    return _alternatives({tag.strip("'") for tag in context["expected_tags"].split(", ")})


def _alternatives(names: Set[str]) -> str:
    ordered = [name for name in BLOCK_TYPES if name in names]
    return f"{', '.join(ordered[:-1])} or {ordered[-1]}"
