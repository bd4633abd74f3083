"""Vicuna's template: a system text, ``USER: hi ASSISTANT: ho</s>USER: ...`` on one line."""

import re
from collections.abc import Iterator
from typing import Final

from apps.dialogue.file_formats.templated_text.said import Said

_LEAD: Final = r"\A\s*(?:<s>\s*)?(?:A chat between a[^\n]{0,400}?[.!]\s+)?USER: "
_NO_LINES: Final = r"(?!(?s:.*)\n[ \t]*(?:USER|ASSISTANT):)"
MARKER: Final = re.compile(
    # The answer follows on the line of the question, or turns end with the token for it.
    rf"{_LEAD}(?:{_NO_LINES}[^\n]*? ASSISTANT:|(?>(?s:.*?)\sASSISTANT:)(?s:.*?)</s>)"
)
_TURN: Final = re.compile(r"(?:\A|(?<=\s)|(?<=</s>))(USER|ASSISTANT):(?=\s|\Z)")
_END: Final = "</s>"


def split(text: str, stray: list[str]) -> Iterator[Said]:
    """Split a text; where turns end with a token, words that look like a mark are text."""
    for passage in text.split(_END) if _END in text else [text]:
        begun = list(_TURN.finditer(passage))
        if _END in text:  # one question and its answer: the first mark of each
            first = {found[1]: found for found in reversed(begun)}
            begun = [first[name] for name in ("USER", "ASSISTANT") if name in first]
            begun.sort(key=lambda found: found.start())
        lead = passage[: begun[0].start()] if begun else passage
        lead = lead.strip().removeprefix("<s>").strip()
        if lead.startswith("A chat between"):
            yield Said("system", lead)
        else:
            stray.append(lead)
        limits = [*(each.start() for each in begun), len(passage)][1:]
        for found, limit in zip(begun, limits, strict=True):
            said = passage[found.end() : limit].strip()
            role = "user" if found[1] == "USER" else "assistant"
            yield Said(role, said, ended=bool(said))
