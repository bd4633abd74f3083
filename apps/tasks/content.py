"""A task's content: what people edit, how it is kept, and the bodies that are served from it.

Content is kept as canonical JSON text, compact UTF-8 with its key order. ``messages_body`` and
``prompt_body`` are byte for byte what the reference server (``openreward`` 0.1.167) answers at
``/messages`` and ``/prompt``.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final

from pydantic_core import to_json

from apps.dialogue.blocks import ImageBlock, ReasoningBlock, TextBlock, ToolCallBlock
from apps.dialogue.blocks.json_values import NotJson, checked_attributes, json_copy, kind_of
from apps.dialogue.candidates import Candidate, parse_candidates
from apps.dialogue.errors import InvalidAttributes
from apps.dialogue.flattening import flatten
from apps.dialogue.message import Message, conversation_to_wire, parse_conversation
from apps.dialogue.pairing import Problem, pairing_problems

PARTS: Final = ("messages", "attributes", "tools", "tags", "notes", "candidates")
TAKEN_ATTRIBUTES: Final = ("id", "conversation")
"""Keys of the task spec that are not attributes: ``{"id", "conversation", **attributes}``."""

_PAIRED: Final = frozenset({"tool_call", "tool_result"})

SUMMARY_LENGTH = 200
LONGEST_TAG = 64
MOST_TAGS = 50


@dataclass(frozen=True, slots=True)
class TaskContent:
    """What a revision is a snapshot of.

    ``attributes`` are the columns that templates see as ``sample``. ``tools`` overrides the tools
    that the environment offers (None: it does not). ``candidates`` are answers beside each other;
    they are never served. A content that came without a word about them does not
    ``mention_candidates``: saved over another one it keeps those that are there.
    """

    messages: tuple[Message, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)
    tools: list[Any] | None = None
    tags: tuple[str, ...] = ()
    notes: str = ""
    candidates: tuple[Candidate, ...] = ()
    mentions_candidates: bool = field(default=True, compare=False)

    def to_wire(self) -> dict[str, Any]:
        """The content as a fresh JSON object; `parse_content` reads it back.

        The key ``candidates`` is there only if there are some.
        """
        wire = {
            "messages": conversation_to_wire(self.messages),
            "attributes": json_copy(self.attributes),
            "tools": json_copy(self.tools),
            "tags": list(self.tags),
            "notes": self.notes,
        }
        if self.candidates:
            wire["candidates"] = [each.to_wire() for each in self.candidates]
        return wire


@dataclass(frozen=True, slots=True)
class StoredContent:
    """Everything the rows of a revision and its task derive from a content."""

    content: str
    content_hash: str
    messages_body: str
    prompt_body: str
    spec_body: str
    summary: str
    turns: int
    search_text: str


def parse_content(value: TaskContent | Mapping[str, Any]) -> TaskContent:
    """Read content from a JSON object with any of the keys of `PARTS`.

    Raises `InvalidMessage` or `InvalidAttributes`, each naming the place.
    """
    messages: tuple[Message, ...] | None = None
    mentions_candidates = True
    if isinstance(value, TaskContent):
        messages = value.messages  # a message was checked when it was made
        mentions_candidates = value.mentions_candidates
        value = {part: getattr(value, part) for part in PARTS}
    if not isinstance(value, Mapping):
        raise InvalidAttributes(f"must be an object, not {kind_of(value)}", place="content")
    for key in value:
        if key not in PARTS:
            raise InvalidAttributes(f"is not one of {', '.join(PARTS)}", place=str(key))
    return TaskContent(
        messages=parse_conversation(value.get("messages", ())) if messages is None else messages,
        attributes=_attributes(value.get("attributes", {})),
        tools=_tools(value.get("tools")),
        tags=_tags(value.get("tags", ())),
        notes=_notes(value.get("notes", "")),
        candidates=parse_candidates(value.get("candidates", ())),
        mentions_candidates=mentions_candidates and "candidates" in value,
    )


def load_content(text: str) -> TaskContent:
    """Read back what `store` wrote; it was checked then, and is parsed as strictly again."""
    return replace(parse_content(json.loads(text)), mentions_candidates=True)


def canonical_json(value: object) -> str:
    """Compact UTF-8 JSON text, key order kept, as the reference server writes its answers."""
    return to_json(value).decode()


def store(content: TaskContent, *, key: str, hidden: Sequence[str] = ()) -> StoredContent:
    """Everything that is kept of ``content`` for the task ``key``.

    ``hidden`` are JSON texts that belong to the snapshot, and so to its hash, but not to what is
    served; empty ones at the end change nothing.
    """
    messages, prompt = _plain_bodies(content.messages) or (
        canonical_json(conversation_to_wire(content.messages)),
        canonical_json(flatten(content.messages)),
    )
    attributes = canonical_json(content.attributes)
    other = {"tools": content.tools, "tags": content.tags, "notes": content.notes}
    if content.candidates:
        other["candidates"] = [each.to_wire() for each in content.candidates]
    rest = canonical_json(other)
    text = f'{{"messages":{messages},"attributes":{attributes},{rest[1:]}'
    hashed = "\x00".join((text, *hidden)).rstrip("\x00")
    spec = f'{{"id":{canonical_json(key)},"conversation":{messages}'
    return StoredContent(
        content=text,
        content_hash=hashlib.sha256(hashed.encode()).hexdigest(),
        messages_body=messages,
        prompt_body=prompt,
        spec_body=f"{spec}}}" if attributes == "{}" else f"{spec},{attributes[1:]}",
        summary=summary_of(content.messages),
        turns=len(content.messages),
        search_text=_search_text(key, content),
    )


def _plain_bodies(messages: Sequence[Message]) -> tuple[str, str] | None:
    """The bodies of ``/messages`` and ``/prompt`` where all is plain text; else None.

    They are what the general way writes, at half its price: most conversations that are imported
    are plain, and their texts stand in both.
    """
    whole, flat = [], []
    for message in messages:
        blocks = []
        for block in message.blocks:
            if block.type != "text" or block.detail is not None:
                return None
            blocks.append(f'{{"text":{canonical_json(block.text)},"detail":null,"type":"text"}}')
        if message.detail is not None:
            return None
        role, held = message.role, ",".join(blocks)
        whole.append(f'{{"role":"{role}","blocks":[{held}],"detail":null}}')
        flat.append(f'{{"text":"[{role}]","detail":{{"role":"{role}"}},"type":"text"}}')
        flat += blocks
    if len(messages) == 1 and messages[0].role == "user":
        del flat[0]
    return f"[{','.join(whole)}]", f"[{','.join(flat)}]"


def ready_problems(content: TaskContent) -> list[Problem]:
    """What keeps ``content`` from being served; places are like ``messages[2].blocks[0]``."""
    if not content.messages:
        return [Problem("messages", "the conversation has no message yet", "error")]
    problems = [
        Problem(f"messages[{index}].blocks", "the message has no block yet", "error")
        for index, message in enumerate(content.messages)
        if not message.blocks
    ]
    if any(block.type in _PAIRED for message in content.messages for block in message.blocks):
        pairing = pairing_problems(content.messages)
        problems += [each for each in pairing if each.severity == "error"]
    return problems


def summary_of(messages: Sequence[Message]) -> str:
    """The first words a person says (or anybody, if no user speaks), on one line."""
    texts = chain((m.text for m in messages if m.role == "user"), (m.text for m in messages))
    words = next((" ".join(text.split()) for text in texts if text.strip()), "")
    return words if len(words) <= SUMMARY_LENGTH else f"{words[: SUMMARY_LENGTH - 1]}…"


def fold(text: str) -> str:
    """How text is compared in a search: without regard to case and runs of space."""
    return " ".join(text.casefold().split())


def _search_text(key: str, content: TaskContent) -> str:
    return fold("\n".join((key, *_said(content.messages), *_texts(content.attributes))))


def _said(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        for block in message.blocks:
            match block:
                case TextBlock() | ReasoningBlock():
                    yield block.text
                case ToolCallBlock():
                    yield block.name
                    yield from _texts(block.input)
                case ImageBlock():
                    pass
                case _:
                    yield from (inner.text for inner in block.blocks if inner.type == "text")


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for each in value.values():
                yield from _texts(each)
        case list():
            for each in value:
                yield from _texts(each)
        case _:
            pass  # numbers, true, false and null are not searched for


def _attributes(value: object) -> dict[str, Any]:
    attributes = checked_attributes(value)
    for key in TAKEN_ATTRIBUTES:
        if key in attributes:
            raise InvalidAttributes(
                "is the task's own: an attribute needs another name", place=f"attributes.{key}"
            )
    return attributes


def _tools(value: object) -> list[Any] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise InvalidAttributes(f"must be a list or null, not {kind_of(value)}", place="tools")
    try:
        return [json_copy(each) for each in value]
    except NotJson as error:
        raise InvalidAttributes(error.message, place=f"tools{error.path}") from None


def _tags(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise InvalidAttributes(f"must be a list of texts, not {kind_of(value)}", place="tags")
    for index, tag in enumerate(value):
        place = f"tags[{index}]"
        if not isinstance(tag, str):
            raise InvalidAttributes(f"must be a text, not {kind_of(tag)}", place=place)
        if not tag.strip() or not tag.isprintable() or len(tag) > LONGEST_TAG:
            raise InvalidAttributes(
                f"must be 1 to {LONGEST_TAG} visible characters, not {tag[:60]!a}",
                place=place,
            )
    if len(value) > MOST_TAGS:
        raise InvalidAttributes(f"holds {len(value)} tags; {MOST_TAGS} at most", place="tags")
    return tuple(dict.fromkeys(tag.strip() for tag in value))


def _notes(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidAttributes(f"must be a text, not {kind_of(value)}", place="notes")
    try:
        return str(json_copy(value))
    except NotJson as error:
        raise InvalidAttributes(error.message, place="notes") from None
