"""A trace as ``latticeflow.core.dtypes.Trace`` reads it: items, events, metadata.

What that type has no place for is left out by name, in ``metadata.extra.left_out``: reasoning.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from apps.dialogue.message import Message
from apps.dialogue.trace.entries import TraceEntry
from apps.dialogue.trace.events import EventWriter, message_of
from apps.dialogue.trace.items import Item, message_to_items

METADATA_FIELDS: Final = frozenset(
    """
    trace_id source_type source_uri agent model tags created_at total_time total_tokens
    message_count error extra
    """.split()  # noqa: SIM905 - a dozen quoted names on a dozen lines read worse
)
"""What LatticeFlow's metadata has a field for; everything else goes into ``extra``."""


def to_open_responses(
    source: Sequence[TraceEntry] | Sequence[Message],
    metadata: Mapping[str, Any] | None = None,
    *,
    keep_reasoning: bool = False,
) -> dict[str, Any]:
    """Return a trace as a dict of JSON values.

    From entries it has ``items`` (the kept conversation) and ``events``; from messages it has the
    items alone, and ``events`` is None. ``keep_reasoning`` keeps reasoning as items: a superset
    that LatticeFlow does not parse. ``metadata`` may say which ``model`` was evaluated.
    """
    known = dict(metadata or {})
    entries = [each for each in source if isinstance(each, TraceEntry)]
    kept = [each for each in source if isinstance(each, Message)]
    events: list[Item] | None = None
    if entries:
        kept = [
            message_of(each)
            for each in entries
            if each.kind == "message_event" and not each.discarded
        ]
        evaluated = str(known.get("model") or "evaluated")
        writer = EventWriter(entries, evaluated_model=evaluated, keep_reasoning=keep_reasoning)
        events = writer.write()
    items, left_out = _items(kept, keep_reasoning=keep_reasoning)
    known = {"source_type": "turnwright", "message_count": len(kept), **known}
    return {"items": items, "metadata": _metadata(known, left_out), "events": events}


def _items(
    messages: Sequence[Message], *, keep_reasoning: bool
) -> tuple[list[Item], list[dict[str, Any]]]:
    items: list[Item] = []
    left_out: list[dict[str, Any]] = []
    for index, message in enumerate(messages):
        for item in message_to_items(message):
            if item["type"] == "reasoning" and not keep_reasoning:
                left_out.append({"type": "reasoning", "message": index})
            else:
                items.append(item)
    return items, left_out


def _metadata(known: Mapping[str, Any], left_out: list[dict[str, Any]]) -> dict[str, Any]:
    written = {key: value for key, value in known.items() if key in METADATA_FIELDS}
    others = {key: value for key, value in known.items() if key not in METADATA_FIELDS}
    extra = {**(written.pop("extra", None) or {}), **others}
    if left_out:
        extra["left_out"] = left_out
    return {**written, "extra": extra} if extra else written
