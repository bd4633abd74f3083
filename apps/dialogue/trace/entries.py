"""The entries of a trace: everything that happened to a conversation, in order, nothing removed.

``kind`` is one of LatticeFlow's event words; the bodies are ours (and become LatticeFlow's on
export):

=================  =============================================================================
message_event      ``message`` (canonical wire), ``model_call`` (position of the call that made
                   it, or null), ``loops`` (the index of each loop around it, outermost first)
model_call_event   ``model_key`` (null: the evaluated model), ``purpose``, ``ordinal``, ``loops``,
                   ``include_conversation``, ``extra_messages`` (wire), ``finish``, ``usage``,
                   ``error`` (null, or ``reason`` and ``message``), and where they are needed
                   ``reply`` (the whole reply, if less than it became the message) and
                   ``response`` (as received, if it did not become a turn)
error              ``reason``, ``message``, ``model_key``: why the conversation failed
custom             ``name`` and ``data``: ``stop`` (``includes``, ``keep_iteration``, ``discarded``:
                   the first and last position it dropped, or null), ``max_iterations``
=================  =============================================================================

What a call sent is not repeated in its entry: it is the messages kept at that point (if
``include_conversation``) and then the extra messages. A trace grows with the text, not its square.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

EntryKind = Literal[
    "message_event",
    "function_call_event",
    "model_call_event",
    "span_begin",
    "span_end",
    "compaction",
    "error",
    "custom",
]

ENTRY_KINDS: Final[tuple[str, ...]] = get_args(EntryKind)


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """One entry. ``position`` counts from 0; ``path`` is the builder's place in the solver."""

    position: int
    kind: EntryKind
    path: str
    body: dict[str, Any]
    discarded: bool = False
