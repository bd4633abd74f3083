"""Items of the Responses API and of Open Responses traces: rules R1 to R10, O4 and O6.

What only these items know stays in the ``detail`` of the block it came with and is written back:
``encrypted_content`` and ``id`` of reasoning, ``phase`` of an assistant message, ``refusal``, the
role ``developer`` (on the message), ``image_detail``, a ``status`` other than completed.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from apps.dialogue.blocks import Block, ImageBlock, ReasoningBlock, TextBlock, ToolCallBlock
from apps.dialogue.blocks.json_values import json_copy, kind_of
from apps.dialogue.errors import ImportRefused
from apps.dialogue.message import Message, make_message, parse_block
from apps.dialogue.provider_formats.base import (
    ERROR_MARKER,
    OPENAI_LONGEST_ID,
    OPENAI_TOOL_NAME,
    Answer,
    LeadBlock,
    ProviderFormat,
    Refuse,
    Turn,
    check_tool_names,
    image_url,
    lay_out,
    leftovers,
    marked_text,
    read_arguments,
    read_data_url,
    read_list,
    read_object,
    refuse_at_once,
    refuse_redacted,
    shorten_ids,
)

Item = dict[str, Any]

_ROLES: dict[str, Literal["system", "user", "assistant"]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}


# ------------------------------------------------------------------------------------- writing
def write_responses(messages: Sequence[Message], refuse: Refuse = refuse_at_once) -> list[Item]:
    """Return the input items of a Responses request; every item and part carries its ``type``.

    Refuses images outside user messages and results, redacted reasoning and tool names the
    provider does not take.
    """
    turns = lay_out(messages, "responses", refuse)
    check_tool_names(turns, OPENAI_TOOL_NAME)
    shorten_ids(turns, OPENAI_LONGEST_ID)
    items: list[Item] = []
    for turn in turns:
        if turn.role == "assistant":
            items.extend(_assistant_items(turn))
            continue
        for answer in turn.answers:
            call_id = turn.answered_id(answer)
            output = _output(answer)
            items.append({"type": "function_call_output", "call_id": call_id, "output": output})
        if turn.blocks:
            developer = turn.role == "system" and _kept(turn.message, "role") == "developer"
            role = "developer" if developer else turn.role
            parts = [_input_part(turn, block) for block in turn.blocks]
            items.append({"type": "message", "role": role, "content": parts})
    return items


def _assistant_items(turn: Turn) -> Iterator[Item]:
    texts: list[TextBlock] = []
    for block in turn.blocks:
        if texts and not (isinstance(block, TextBlock) and _same_item(texts[-1], block)):
            yield _assistant_message(texts)
            texts = []
        match block:
            case TextBlock():
                texts.append(block)
            case ImageBlock():
                image_url(turn, block)
            case ReasoningBlock():
                refuse_redacted(turn, block)
                yield _reasoning_item(block)
            case ToolCallBlock():
                yield _call_item(turn, block)
            case _:
                raise turn.untaught(block)
    if texts:
        yield _assistant_message(texts)


def _same_item(before: TextBlock, block: TextBlock) -> bool:
    return not _kept(block, "starts_item") and all(
        _kept(before, key) == _kept(block, key) for key in ("phase", "status")
    )


def _assistant_message(texts: Sequence[TextBlock]) -> Item:
    first = texts[0]
    plain = len(texts) == 1 and not (
        first.detail and {"refusal", "annotations"} & set(first.detail)
    )
    # A plain string is valid in every set of types; a list of output_text is not.
    content = first.text if plain else [_output_part(block) for block in texts]
    item: Item = {"type": "message", "role": "assistant", "content": content}
    return _with_kept(item, first, "phase", "status")


def _output_part(block: TextBlock) -> Item:
    if _kept(block, "refusal") is True:
        return {"type": "refusal", "refusal": block.text}
    annotations = _kept(block, "annotations")
    annotations = json_copy(annotations) if isinstance(annotations, list) else []
    return {"type": "output_text", "text": block.text, "annotations": annotations}


def _reasoning_item(block: ReasoningBlock) -> Item:
    item: Item = {"type": "reasoning"}
    if isinstance(_kept(block, "encrypted_content"), str):
        _with_kept(item, block, "id", "encrypted_content")
    summary, content = _texts_kept(block, "summary"), _texts_kept(block, "content")
    if "\n\n".join(content or summary) != block.text:
        # The text was edited, or there was nothing but the text.
        summary, content = [block.text] if block.text else [], []
    item["summary"] = [{"type": "summary_text", "text": text} for text in summary]
    if content:
        item["content"] = [{"type": "reasoning_text", "text": text} for text in content]
    return _with_kept(item, block, "status")


def _call_item(turn: Turn, call: ToolCallBlock) -> Item:
    item = {
        "type": "function_call",
        "call_id": turn.call_id(call),
        "name": call.name,
        "arguments": json.dumps(call.input),
    }
    return _with_kept(item, call, "status")


def _output(answer: Answer) -> str | list[Item]:
    """Return a text for at most one text, else a list of parts (rules R4 and O6)."""
    blocks = answer.result.blocks
    if not blocks:
        return marked_text(answer, "")
    if len(blocks) == 1 and isinstance(blocks[0], TextBlock):
        return marked_text(answer, blocks[0].text)
    marker = [{"type": "input_text", "text": ERROR_MARKER}] if answer.result.is_error else []
    return marker + [
        {"type": "input_text", "text": block.text}
        if isinstance(block, TextBlock)
        else _input_image(block, f"data:{block.mimeType};base64,{block.data}")
        for block in blocks
    ]


def _input_part(turn: Turn, block: LeadBlock) -> Item:
    match block:
        case TextBlock():
            return {"type": "input_text", "text": block.text}
        case ImageBlock():
            return _input_image(block, image_url(turn, block))
        case ReasoningBlock() | ToolCallBlock():
            raise turn.refusal(f"takes no {block.type} block in a {turn.role} message", block)
        case _:
            raise turn.untaught(block)


def _input_image(block: ImageBlock, url: str) -> Item:
    kept = _kept(block, "image_detail")
    detail = kept if isinstance(kept, str) else "auto"
    return {"type": "input_image", "image_url": url, "detail": detail}


def _kept(held: Block | Message, key: str) -> Any:
    return held.detail.get(key) if held.detail else None


def _texts_kept(block: ReasoningBlock, key: str) -> list[str]:
    kept = _kept(block, key)
    return [text for text in kept if isinstance(text, str)] if isinstance(kept, list) else []


def _with_kept(item: Item, block: Block, *keys: str) -> Item:
    for key in keys:
        if isinstance(_kept(block, key), str):
            item[key] = _kept(block, key)
    return item


# ------------------------------------------------------------------------------------- reading
def from_responses(items: object) -> tuple[Message, ...]:
    """Read typed items, the easy form, and the items of traces (rules R5 to R10).

    Neighbouring reasoning, assistant messages and calls are one assistant message, neighbouring
    outputs one user message. Raises ``ImportRefused`` or ``InvalidMessage`` naming ``items[i]``.
    """
    if items is None:
        raise ImportRefused("the list of items is missing", place="items")
    reader = _Reader()
    for index, each in enumerate(read_list(items, "items")):
        place = f"items[{index}]"
        reader.read(read_object(each, place), place)
    return reader.finish()


FORMAT = ProviderFormat("responses", "OpenAI Responses", write_responses, from_responses)


class _Reader:
    """Gathers neighbouring items into messages."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._role: Literal["user", "assistant"] = "user"
        self._blocks: list[Block] = []
        self._place = ""

    def read(self, item: Item, place: str) -> None:
        match _type_of(item, place):
            case "message":
                self._read_message(item, place)
            case "reasoning":
                self._gather("assistant", [_read_reasoning(item, place)], place)
            case "function_call":
                self._gather("assistant", [_read_call(item, place)], place)
            case "function_call_output":
                self._gather("user", [_read_output(item, place)], place)
            case kind:
                raise ImportRefused(f"an item of the type {kind!r} has no block here", place=place)

    def finish(self) -> tuple[Message, ...]:
        self._flush()
        return tuple(self._messages)

    def _gather(self, role: Literal["user", "assistant"], blocks: list[Block], place: str) -> None:
        if self._role != role or not self._blocks:
            self._flush()
            self._role, self._place = role, place
        self._blocks += blocks

    def _flush(self) -> None:
        if self._blocks:
            self._messages.append(make_message(self._role, self._blocks, place=self._place))
        self._blocks = []

    def _read_message(self, item: Item, place: str) -> None:
        role = item.get("role")
        if not isinstance(role, str) or role not in _ROLES:
            raise ImportRefused(f"the role {role!r} is unknown", place=place)
        blocks = _read_parts(item.get("content"), f"{place}.content")
        if not blocks:
            raise ImportRefused(f"the {role} message has no content", place=place)
        detail = leftovers(item, {"type", "id", "status", "role", "content"})
        detail |= _unusual_status(item)
        if role == "assistant":
            last = self._blocks[-1] if self._role == "assistant" and self._blocks else None
            self._gather("assistant", _noted(blocks, detail, last), place)
            return
        self._flush()
        if role == "developer":
            detail["role"] = role
        self._messages.append(make_message(_ROLES[role], blocks, detail, place=place))


def _noted(blocks: list[Block], detail: dict[str, Any], last: Block | None) -> list[Block]:
    """Note on its blocks what an assistant item says, and where it parts from the one before."""
    noted = [_with_detail(block, detail) for block in blocks]
    first = noted[0]
    if isinstance(last, TextBlock) and isinstance(first, TextBlock) and _same_item(last, first):
        noted[0] = _with_detail(first, {"starts_item": True})
    return noted


def _with_detail(block: Block, detail: dict[str, Any]) -> Block:
    if not detail:
        return block
    return parse_block({**block.to_wire(), "detail": {**(block.detail or {}), **detail}})


def _type_of(item: Item, place: str) -> object:
    """Return an item's type, from its fields where the tag was left out (rule R10)."""
    if item.get("type") is not None:
        return item["type"]
    if "role" in item:
        return "message"
    if "output" in item:
        return "function_call_output"
    if "arguments" in item:
        return "function_call"
    if "summary" in item or "encrypted_content" in item:
        return "reasoning"
    raise ImportRefused("an item without a type that its fields do not tell", place=place)


def _unusual_status(item: Item) -> dict[str, Any]:
    status = item.get("status")
    return {} if status in (None, "", "completed") else {"status": status}


def _read_parts(content: object, place: str) -> list[Block]:
    if isinstance(content, str):
        return [parse_block({"type": "text", "text": content}, place)]
    return [
        _read_part(read_object(part, f"{place}[{i}]"), f"{place}[{i}]")
        for i, part in enumerate(read_list(content, place, "a text or a list of parts"))
    ]


def _read_part(part: Item, place: str) -> Block:
    kind = part.get("type")
    if kind is None:
        kind = next((key for key in ("text", "image_url", "refusal") if key in part), None)
    match kind:
        case "text" | "input_text" | "output_text":
            detail = leftovers(part, {"type", "text"})
            wire = {"type": "text", "text": part.get("text")}
        case "image_url" | "input_image":
            if part.get("image_url") is None:
                raise ImportRefused("an image without data cannot be imported", place=place)
            detail = leftovers(part, {"type", "image_url", "detail", "file_id"})
            if part.get("detail") not in (None, "auto"):
                detail["image_detail"] = part["detail"]
            wire = read_data_url(part["image_url"], place)
        case "refusal":
            detail = {"refusal": True}
            wire = {"type": "text", "text": part.get("refusal")}
        case _:
            raise ImportRefused(f"a part of the type {kind!r} has no block here", place=place)
    return parse_block({**wire, "detail": detail or None}, place)


def _read_reasoning(item: Item, place: str) -> Block:
    summary = _read_texts(item.get("summary"), f"{place}.summary")
    content = _read_texts(item.get("content"), f"{place}.content")
    detail = leftovers(item, {"type", "status", "summary", "content"})
    detail |= _unusual_status(item)
    if not detail.get("id"):
        detail.pop("id", None)
    if content or len(summary) > 1:
        # The parts cannot be told from the joined text.
        detail |= {"summary": summary, "content": content}
    text = "\n\n".join(content or summary)
    return parse_block({"type": "reasoning", "text": text, "detail": detail or None}, place)


def _read_texts(parts: object, place: str) -> list[str]:
    texts: list[str] = []
    for index, each in enumerate(read_list(parts, place)):
        text = read_object(each, f"{place}[{index}]").get("text")
        if not isinstance(text, str):
            raise ImportRefused(f"must be a text, not {kind_of(text)}", place=f"{place}[{index}]")
        texts.append(text)
    return texts


def _read_call(item: Item, place: str) -> Block:
    call_id = item.get("call_id")
    detail = leftovers(item, {"type", "id", "call_id", "name", "arguments", "status"})
    wire = {
        "type": "tool_call",
        "id": call_id,
        "name": item.get("name"),
        "input": read_arguments(item.get("arguments"), call_id, place),
        "detail": detail | _unusual_status(item) or None,
    }
    return parse_block(wire, place)


def _read_output(item: Item, place: str) -> Block:
    output = item.get("output")
    if output is None:
        raise ImportRefused("the output is missing", place=f"{place}.output")
    detail = leftovers(item, {"type", "id", "call_id", "output", "status"})
    wire = {
        "type": "tool_result",
        "tool_call_id": item.get("call_id"),
        "blocks": [] if output == "" else _read_parts(output, f"{place}.output"),
        "detail": detail | _unusual_status(item) or None,
    }
    return parse_block(wire, place)
