"""Lists of turns with role and content, as files have them: more lenient than a provider."""

import json
from collections.abc import Sequence
from typing import Any, Final, Literal

from apps.dialogue.blocks import Block, TextBlock
from apps.dialogue.blocks.json_values import kind_of, text_fault
from apps.dialogue.errors import ImportRefused
from apps.dialogue.file_containers import Note
from apps.dialogue.file_formats.turns.call_ids import CallIds
from apps.dialogue.file_formats.turns.turn_calls import CallReader
from apps.dialogue.file_formats.turns.turn_parts import Said, read_said
from apps.dialogue.file_formats.turns.turn_roles import Speaker, role_key, speakers_of
from apps.dialogue.message import Message, make_message, parse_block
from apps.dialogue.provider_formats.base import leftovers

_PLAIN: Final[dict[str, Literal["system", "user", "assistant"]]] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
}
_CONTENT_KEYS: Final = ("content", "value", "text")
_REASONING: Final = ("reasoning_content", "reasoning", "thinking")
_ARROW_KEYS: Final = frozenset({"name", "tool_calls", "tool_call_id", "function_call", "refusal"})


def read_turns(turns: object, notes: list[Note], *, place: str = "messages") -> tuple[Message, ...]:
    """Read a list of turns like those of Chat Completions; notes what was made of them.

    A turn has ``role`` and ``content``, or ``from`` and ``value``. Consecutive results of tools
    become one user message. Keys that are not known stay in ``detail``, and parts that have no
    block in ``detail.unread_parts``: such a message may be left without blocks. Ids that are
    missing are invented. Raises ``ImportRefused`` or ``InvalidMessage`` naming the place inside
    ``place``.
    """
    plain = _plain(turns)
    if plain is not None:
        return plain
    wires = _wires(turns, notes, place)
    speakers = speakers_of(wires, notes, place)
    reader = _Reader(wires, notes)
    for index, (wire, speaker) in enumerate(zip(wires, speakers.of, strict=True)):
        try:
            reader.read(wire, speaker, f"{place}[{index}]")
        except ImportRefused as error:
            raise ImportRefused(
                error.message, place=error.place, roles=speakers.letters, code=error.code
            ) from None
    return reader.finish()


def _plain(turns: object) -> tuple[Message, ...] | None:
    """Read turns of a role and a text and nothing else, None where there is anything else.

    Most rows are such; this is what makes a file of a hundred thousand quick to read.
    """
    if not isinstance(turns, list) or not turns:
        return None
    read: list[Message] = []
    for wire in turns:
        if type(wire) is not dict or len(wire) != 2:
            return None
        role, text = wire.get("role"), wire.get("content")
        known = _PLAIN.get(role) if type(role) is str else None
        if type(text) is not str or known is None or text_fault(text):
            return None
        read.append(Message(role=known, blocks=(TextBlock(text=text),)))
    return tuple(read)


def _wires(turns: object, notes: list[Note], place: str) -> list[dict[str, Any]]:
    if isinstance(turns, str) and turns.lstrip().startswith("["):
        try:
            turns = json.loads(turns)
        except (ValueError, RecursionError) as error:
            fault = f"is a text, but not the JSON of a list: {error}"
            raise ImportRefused(fault, place=place, code="bad_json") from None
        notes.append(Note("converted", place, "JSON text became a list", "stringified_json"))
    if isinstance(turns, dict):
        turns = _transposed(turns, notes, place)
    if turns is None or turns == [] or turns == ():
        raise ImportRefused("the conversation is empty", place=place, code="empty_conversation")
    if not isinstance(turns, list | tuple):
        fault = f"must be a list of turns, not {kind_of(turns)}"
        raise ImportRefused(fault, place=place, code="bad_row")
    for index, each in enumerate(turns):
        if not isinstance(each, dict):
            fault = f"a turn must be an object, not {kind_of(each)}"
            raise ImportRefused(fault, place=f"{place}[{index}]", code="bad_turn")
    return list(turns)


def _transposed(turns: dict[str, Any], notes: list[Note], place: str) -> object:
    """Return turns that are written column by column, as Arrow does with lists of objects."""
    columns = list(turns.values())
    if not columns or not all(isinstance(column, list) for column in columns):
        return turns
    if len({len(column) for column in columns}) > 1 or not {"role", "from"} & set(turns):
        return turns
    notes.append(Note("converted", place, "columns of turns became turns", "columnar"))
    return [dict(zip(turns, values, strict=True)) for values in zip(*columns, strict=True)]


class _Reader:
    def __init__(self, wires: Sequence[dict[str, Any]], notes: list[Note]) -> None:
        self._notes = notes
        self._ids = CallIds(wires)
        self._calls = CallReader(self._ids, notes, null_filled=_null_filled(wires))
        self._messages: list[Message] = []
        self._results: list[Block] = []
        self._results_at = ""

    def read(self, wire: dict[str, Any], speaker: Speaker, place: str) -> None:
        if speaker == "tool":
            self._results_at = self._results_at or place
            self._results.append(self._result(wire, place))
            return
        self._flush()
        if speaker != "user":
            self._ids.begin_turn()
        if speaker in ("assistant", "call"):
            self._messages.append(self._assistant(wire, speaker, place))
        else:
            self._messages.append(self._spoken(wire, speaker, place))

    def finish(self) -> tuple[Message, ...]:
        self._flush()
        return tuple(self._messages)

    def _flush(self) -> None:
        if self._results:
            self._messages.append(make_message("user", self._results, place=self._results_at))
        self._results, self._results_at = [], ""

    def _spoken(self, wire: dict[str, Any], speaker: Speaker, place: str) -> Message:
        role: Literal["system", "user"] = "system" if speaker == "system" else "user"
        key = content_key(wire)
        said = read_said(wire.get(key), self._notes, f"{place}.{key}")
        known = {role_key(wire), key, "refusal", "cache_control"}
        self._extras(wire, said, place)
        return self._message(role, wire, said, known, place)

    def _assistant(self, wire: dict[str, Any], speaker: Speaker, place: str) -> Message:
        key = content_key(wire)
        known = {
            role_key(wire), key, "refusal", "tool_calls", "function_call", "cache_control"
        }  # fmt: skip
        thought = self._reasoning(wire, known, place)
        calls = self._calls.read(wire, place)
        if speaker == "call" and (made := self._calls.from_text(wire.get(key), f"{place}.{key}")):
            said = Said(made)
        else:
            content = wire.get(key)
            # Beside reasoning or calls an empty text says nothing (rule I1).
            content = None if content == "" and (thought or calls.blocks) else content
            said = read_said(
                content,
                self._notes,
                f"{place}.{key}",
                reasons=True,
                read_call=self._calls.from_part,
            )
        said.blocks[:0] = thought
        self._extras(wire, said, place)
        said.blocks += calls.blocks
        said.unread += calls.unread
        return self._message("assistant", wire, said, known, place)

    def _reasoning(self, wire: dict[str, Any], known: set[str], place: str) -> list[Block]:
        texts: list[str] = []
        for key in _REASONING:
            if isinstance(wire.get(key), str):
                known.add(key)
                if wire[key] not in texts:
                    texts.append(wire[key])
        return [parse_block({"type": "reasoning", "text": each}, place) for each in texts]

    def _extras(self, wire: dict[str, Any], said: Said, place: str) -> None:
        refusal = wire.get("refusal")
        if isinstance(refusal, str):
            block = {"type": "text", "text": refusal, "detail": {"refusal": True}}
            said.blocks.append(parse_block(block, f"{place}.refusal"))
        elif refusal is not None:
            self._keep({"type": "refusal", "refusal": refusal}, said, f"{place}.refusal")
        if wire.get("audio") is not None:
            self._keep({"type": "audio", "audio": wire["audio"]}, said, f"{place}.audio")

    def _keep(self, part: dict[str, Any], said: Said, place: str) -> None:
        reason = f"{part['type']} has no block; it is kept in detail.unread_parts"
        self._notes.append(Note("kept", place, reason, "unsupported_block"))
        said.unread.append(part)

    def _message(
        self,
        role: Literal["system", "user", "assistant"],
        wire: dict[str, Any],
        said: Said,
        known: set[str],
        place: str,
    ) -> Message:
        detail = leftovers(wire, known | {"audio"})
        if str(wire.get(role_key(wire))).strip().lower() == "developer":
            detail["role"] = "developer"
        self._note_kept([key for key in detail if key != "role"], place)
        return make_message(role, said.blocks, said.detail(detail), place=place)

    def _note_kept(self, keys: Sequence[str], place: str) -> None:
        if keys:
            names = ", ".join(key if key.isprintable() else ascii(key) for key in keys)
            self._notes.append(Note("kept", f"{place}.detail", f"{names} kept in detail"))

    def _result(self, wire: dict[str, Any], place: str) -> Block:
        key = content_key(wire)
        said = read_said(wire.get(key), self._notes, f"{place}.{key}")
        for index, block in enumerate(said.blocks):
            if block.type == "image":
                reason = "an image in a tool's result, which Chat Completions cannot carry"
                where = f"{place}.{key}[{index}]"
                self._notes.append(Note("kept", where, reason, "image_in_tool_result"))
        known = {role_key(wire), key, "tool_call_id", "cache_control"}
        if wire.get("role") == "function":
            known.add("name")
        failed = wire.get("is_error") is True
        if isinstance(wire.get("is_error"), bool):
            known.add("is_error")
        detail = leftovers(wire, known)
        self._note_kept(list(detail), place)
        made = {
            "type": "tool_result",
            "tool_call_id": self._answered(wire, place),
            "blocks": [each.to_wire() for each in said.blocks],
            "is_error": failed,
            "detail": said.detail(detail) or None,
        }
        return parse_block(made, place)

    def _answered(self, wire: dict[str, Any], place: str) -> str:
        found = self._ids.answer(wire.get("tool_call_id"), wire.get("name"))
        if found.invented and not found.tied:
            reason = "the result has no id and answers no call before it; an id was made"
            self._notes.append(Note("invented", place, reason, "ids_invented"))
        elif found.invented and wire.get("role") != "function":
            reason = "the result had no id: it got that of the first call that waits for one"
            self._notes.append(Note("invented", place, reason, "ids_invented"))
        return found.value


def content_key(wire: dict[str, Any]) -> str:
    """Return the key of what a turn says: content, or value or text where that is missing."""
    return next((key for key in _CONTENT_KEYS if wire.get(key) is not None), "content")


def _null_filled(wires: Sequence[dict[str, Any]]) -> bool:
    """Whether the keys a turn does not use are there as null, as Arrow writes rows."""
    return any(key in _ARROW_KEYS and wire[key] is None for wire in wires for key in wire)
