"""Who speaks in a turn of a file, whatever the file calls them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import Note

Speaker = Literal["system", "user", "assistant", "tool", "call"]
"""``tool`` answers a call; ``call`` is a turn of the assistant whose text is the call."""

_USUAL: Final[dict[str, Speaker]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
_USUAL_FROM: Final[dict[str, Speaker]] = {
    "human": "user",
    "gpt": "assistant",
    "system": "system",
    "function_call": "call",
    "observation": "tool",
    "tool": "tool",
}
_SYNONYMS: Final[dict[str, Speaker]] = {
    **_USUAL,
    **_USUAL_FROM,
    "sys": "system",
    "system_prompt": "system",
    "prompter": "user",
    "ai": "assistant",
    "bard": "assistant",
    "bing": "assistant",
    "bot": "assistant",
    "chatbot": "assistant",
    "chatgpt": "assistant",
    "claude": "assistant",
    "gemini": "assistant",
    "llm": "assistant",
    "model": "assistant",
    "tool_call": "call",
    "function_response": "tool",
    "function_result": "tool",
    "ipython": "tool",
    "tool_response": "tool",
    "tool_result": "tool",
}
_LETTERS: Final[dict[Speaker | None, str]] = {
    "system": "s", "user": "u", "assistant": "a", "call": "a", "tool": "t", None: "?"
}  # fmt: skip

ROLE_KEYS: Final = ("role", "from")


@dataclass(frozen=True, slots=True)
class Speakers:
    """The speakers of a list of turns, and a letter for each: s u a t."""

    of: tuple[Speaker, ...]
    letters: str


def speakers_of(wires: Sequence[dict[str, Any]], notes: list[Note], place: str) -> Speakers:
    """Tell who speaks in each turn, from ``role`` or ``from``; notes what was unusual.

    Raises ``ImportRefused`` with the code ``unknown_role`` and the letters of all the turns.
    """
    found = [speaker_of(wire) for wire in wires]
    letters = "".join([_LETTERS[each] for each in found])
    known: list[Speaker] = []
    for index, (wire, speaker) in enumerate(zip(wires, found, strict=True)):
        key = role_key(wire)
        if speaker is None:
            raise ImportRefused(
                _unknown(wire, key), place=f"{place}[{index}]", roles=letters, code="unknown_role"
            )
        known.append(speaker)
        name = wire[key]
        if name not in _USUAL or key != "role" or name == "developer":
            _note_role(name, speaker, notes, f"{place}[{index}].{key}")
    if len({role_key(wire) for wire in wires}) > 1:
        fault = "some turns have role and content, others from and value; both were read"
        notes.append(Note("converted", place, fault, "mixed_role_styles"))
    return Speakers(tuple(known), letters)


def role_key(wire: dict[str, Any]) -> str:
    """Return the key that says who speaks: role, or from where there is no role."""
    return "from" if wire.get("role") is None and wire.get("from") is not None else "role"


def speaker_of(wire: dict[str, Any]) -> Speaker | None:
    """Return who speaks in a turn, None where that is missing or not known."""
    role = wire.get("role")
    if role is None:
        role = wire.get("from")
    if not isinstance(role, str):
        return None
    return _USUAL.get(role) or _SYNONYMS.get(role.strip().lower().replace("-", "_"))


def _note_role(name: str, speaker: Speaker, notes: list[Note], place: str) -> None:
    became = {"call": "a call of the assistant", "tool": "a tool's result"}.get(speaker, speaker)
    if name.strip().lower() == "developer":
        reason = "developer became system; the role is kept in detail"
        notes.append(Note("converted", place, reason, "developer_role"))
    elif not (place.endswith(".from") and name in _USUAL_FROM):
        shown = name if len(name) <= 40 else f"{name[:37]}..."
        notes.append(Note("converted", place, f"{shown!r} became {became}", "unusual_role"))


def _unknown(wire: dict[str, Any], key: str) -> str:
    if wire.get(key) is None:
        return "the turn does not say who speaks: there is no role"
    shown = repr(wire[key])
    return f"the role {shown if len(shown) <= 60 else shown[:57] + '...'} is unknown"
