"""A column mapping turns any table or odd JSON into tasks: Jinja expressions over the row.

    key: ticket
    conversation:
      - role: system
        content: "You answer customers of {{ shop }}."
      - role: user
        content: question
      - each: replies
        role: "'assistant' if turn.from == 'agent' else 'user'"
        content: turn.text
    attributes: rest

``parse_mapping(data)`` reads one (plain data, of YAML or JSON), ``apply(mapping, row, notes)``
makes the parts of a task, ``suggest(rows)`` proposes a mapping for a person to correct.
"""

from apps.dialogue.column_mapping.applying import MappedRow, apply, columns_read
from apps.dialogue.column_mapping.spec import ColumnMapping, TurnSpec, parse_mapping
from apps.dialogue.column_mapping.suggesting import suggest

__all__ = [
    "ColumnMapping",
    "MappedRow",
    "TurnSpec",
    "apply",
    "columns_read",
    "parse_mapping",
    "suggest",
]
