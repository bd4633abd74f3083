"""A turn as a template has it."""

from dataclasses import dataclass, field
from typing import Any, Final

TOOLS: Final = "available tools"
"""The role of a passage that is no turn but the tools, as JSON."""


@dataclass(frozen=True, slots=True)
class Said:
    """A turn of a text; ``ended`` where the template's end of a turn follows.

    ``wire`` is what a template says of it in tokens of its own, as in Chat Completions: the calls,
    or the id of the call that is answered.
    """

    role: str
    text: str
    ended: bool = True
    wire: dict[str, Any] = field(default_factory=dict)
