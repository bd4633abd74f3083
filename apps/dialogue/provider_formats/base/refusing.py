"""Where a writer says what its format cannot carry: raised at once, or gathered.

A conversion stops at the first refusal. A preflight wants all of them: it hands the writer a list
to add to, the writer goes on, and what it wrote is thrown away. So the two never disagree.
"""

from collections.abc import Callable
from typing import Never

from apps.dialogue.errors import DialogueError

Refuse = Callable[[DialogueError], None]
"""Takes a refusal. A writer goes on if it returns."""


def refuse_at_once(error: DialogueError) -> Never:
    """Raise the refusal."""
    raise error
