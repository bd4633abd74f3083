"""The events of a trace in LatticeFlow's shapes, one ``EventWriter`` a trace."""

from collections.abc import Sequence
from typing import Any

from apps.dialogue.message import Message, parse_message
from apps.dialogue.trace.entries import TraceEntry
from apps.dialogue.trace.items import Item, message_to_items, messages_to_items, results_of


class EventWriter:
    """Writes events in the order of the entries.

    Entries that a stop dropped stand inside a span called "discarded", so that whoever derives the
    conversation from the events gets the kept one.
    """

    def __init__(
        self, entries: Sequence[TraceEntry], *, evaluated_model: str, keep_reasoning: bool
    ) -> None:
        self._entries = entries
        self._evaluated_model = evaluated_model
        self._keep_reasoning = keep_reasoning
        self._messages = {each.position: message_of(each) for each in entries if _is_message(each)}
        self._results = {
            result.tool_call_id: result
            for message in self._messages.values()
            for result in results_of(message)
        }
        self._made_by = {
            each.body["model_call"]: each.position
            for each in entries
            if _is_message(each) and each.body.get("model_call") is not None
        }
        self._kept: list[int] = []

    def write(self) -> list[Item]:
        """Return all events."""
        events: list[Item] = []
        span: str | None = None
        for entry in self._entries:
            if span is not None and not entry.discarded:
                events.append(_span_end(span))
                span = None
            if span is None and entry.discarded:
                span = f"discarded-{entry.position}"
                events.append(_span_begin(span))
            events += [{**event, "span_id": span} for event in self._of_entry(entry)]
            self._follow(entry)
        if span is not None:
            events.append(_span_end(span))
        return events

    def _follow(self, entry: TraceEntry) -> None:
        """Keep up with which messages the next call would be sent."""
        if _is_message(entry):
            self._kept.append(entry.position)
        elif entry.kind == "custom" and (dropped := entry.body["data"].get("discarded")):
            first, last = dropped
            self._kept = [at for at in self._kept if not first <= at <= last]

    def _of_entry(self, entry: TraceEntry) -> list[Item]:
        note = {"path": entry.path, "discarded": entry.discarded}
        match entry.kind:
            case "message_event":
                return self._message_events(entry, note)
            case "model_call_event":
                return [self._call_event(entry, note)]
            case "error":
                message = str(entry.body.get("message", ""))
                return [_event(entry, message=message, metadata={**note, **entry.body})]
            case "custom":
                name, data = entry.body["name"], entry.body["data"]
                return [_event(entry, name=name, data=data, metadata=note)]
            case "compaction" | "span_begin" | "span_end" | "function_call_event":
                return [_event(entry, **entry.body)]

    def _message_events(self, entry: TraceEntry, note: dict[str, Any]) -> list[Item]:
        call = entry.body.get("model_call")
        common = {
            "model_call_id": None if call is None else f"entry-{call}",
            "metadata": {**note, "loops": entry.body.get("loops", [])},
        }
        events: list[Item] = []
        for number, item in enumerate(message_to_items(self._messages[entry.position])):
            name = {"id": f"entry-{entry.position}-{number}", **common}
            if item["type"] == "message" or (item["type"] == "reasoning" and self._keep_reasoning):
                events.append({"type": "message_event", "item": item, **name})
            elif item["type"] == "function_call":
                events.append({**self._function_call(item), **name})
            # A result stands in the event of its call; reasoning is noted in the metadata.
        return events

    def _function_call(self, call: Item) -> Item:
        result = self._results.get(call["call_id"])
        event = {
            "type": "function_call_event",
            "call_id": call["call_id"],
            "function": call["name"],
            "arguments": call["arguments"],
        }
        if result is None:
            return {**event, "result": "", "status": "incomplete"}
        output = messages_to_items([Message(role="user", blocks=(result,))])[0]["output"]
        failed = {"error": str(output)} if result.is_error else {}
        return {**event, "result": output, "status": "completed", **failed}

    def _call_event(self, entry: TraceEntry, note: dict[str, Any]) -> Item:
        body = entry.body
        history = self._kept if body["include_conversation"] else []
        sent = [self._messages[position] for position in history]
        sent += [parse_message(wire) for wire in body["extra_messages"]]
        made = self._made_by.get(entry.position)
        usage, error = body["usage"], body["error"]
        known = ("purpose", "ordinal", "loops", "finish")
        return _event(
            entry,
            model=body["model_key"] or self._evaluated_model,
            input_context=self._items(sent),
            output_items=[] if made is None else self._items([self._messages[made]]),
            usage=usage
            and {
                "num_prompt_tokens": usage["input_tokens"],
                "num_completion_tokens": usage["output_tokens"],
            },
            error=error and f"{error['reason']}: {error['message']}",
            metadata={**note, **{key: body[key] for key in known}},
        )

    def _items(self, messages: Sequence[Message]) -> list[Item]:
        items = messages_to_items(messages)
        return [item for item in items if self._keep_reasoning or item["type"] != "reasoning"]


def message_of(entry: TraceEntry) -> Message:
    """Return the message of a ``message_event``."""
    return parse_message(entry.body["message"], f"entries[{entry.position}].message")


def _is_message(entry: TraceEntry) -> bool:
    return entry.kind == "message_event"


def _event(entry: TraceEntry, **fields: Any) -> Item:
    return {"type": entry.kind, "id": f"entry-{entry.position}", **fields}


def _span_begin(span: str) -> Item:
    return {"type": "span_begin", "id": span, "span_id": span, "name": "discarded"}


def _span_end(span: str) -> Item:
    return {"type": "span_end", "id": f"{span}-end", "span_id": span}
