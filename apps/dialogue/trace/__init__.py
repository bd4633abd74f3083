"""Traces: what happened to a conversation, kept whole, and LatticeFlow's shape of it."""

from apps.dialogue.trace.entries import ENTRY_KINDS, EntryKind, TraceEntry
from apps.dialogue.trace.export import to_open_responses
from apps.dialogue.trace.items import messages_to_items
from apps.dialogue.trace.reading import trace_items_to_messages
from apps.dialogue.trace.transcript import Mark, Transcript

__all__ = [
    "ENTRY_KINDS",
    "EntryKind",
    "Mark",
    "TraceEntry",
    "Transcript",
    "messages_to_items",
    "to_open_responses",
    "trace_items_to_messages",
]
