"""DeepSeek's template: special tokens for User, Assistant, end of sentence, and calls of tools.

The bars of the tokens are wide and their spaces low blocks; plain ones are read as well.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from apps.dialogue.file_formats.templated_text.said import Said
from apps.dialogue.file_formats.turns import calls_of_tools, decoded

_BAR, _GAP = "[\uff5c|]", "[\u2581_ ]"
_NAMES: Final = (
    "begin of sentence", "end of sentence", "User", "Assistant",
    "tool calls begin", "tool calls end", "tool call begin", "tool call end", "tool sep",
    "tool outputs begin", "tool outputs end", "tool output begin", "tool output end",
)  # fmt: skip
_TOKEN: Final = re.compile(
    rf"<{_BAR}({'|'.join(name.replace(' ', _GAP) for name in _NAMES)}){_BAR}>"
)
_FENCED: Final = re.compile(
    r"\s*(?P<name>[^\s`{]+)\s*```(?:json)?\s*(?P<arguments>.*?)\s*```\s*\Z", re.DOTALL
)
_GOES_ON: Final = "assistant, after results"
_NO_THOUGHT: Final = "</think>"
"""What an answer without reasoning begins with."""

MARKER: Final = re.compile(rf"<{_BAR}User{_BAR}>")


def split(text: str, stray: list[str]) -> Iterator[Said]:
    """Split a text; what stands before the first turn is the system text."""
    lead, *rest = _TOKEN.split(text)
    passage = _Passage(stray, lead)
    for token, following in zip(rest[::2], rest[1::2], strict=True):
        yield from passage.take(re.sub(_GAP, " ", token), following)
    yield from passage.end(ended=False)


class _Passage:
    """The turn that is being said, up to the token that ends it."""

    def __init__(self, stray: list[str], lead: str) -> None:
        self._stray = stray
        self._role = "system"
        self._text = lead
        self._calls: list[dict[str, Any]] = []
        self._name = ""

    def take(self, token: str, following: str) -> Iterator[Said]:
        match token:
            case "begin of sentence":
                self._text += following
            case "User" | "Assistant":
                yield from self.end()
                self._role, self._text = token.lower(), following
            case "end of sentence":
                yield from self.end()
                self._stray.append(following)
            case "tool output begin":
                yield from self.end()
                yield Said("tool", following)
            case "tool output end" | "tool outputs end":  # the assistant goes on
                self._role = _GOES_ON
                self._text += following
            case "tool call begin":
                self._name = following
            case "tool sep":
                self._call(following)
            case _:
                self._stray.append(following)

    def end(self, *, ended: bool = True) -> Iterator[Said]:
        """Give what was said so far, if anything was."""
        role, text, calls = self._role, self._text, self._calls
        self._role, self._text, self._calls = "", "", []
        if role in ("assistant", _GOES_ON):
            text = text.removeprefix(_NO_THOUGHT)
        if not role or (role in ("system", _GOES_ON) and not text.strip() and not calls):
            self._stray.append(text)
            return
        wire = {"tool_calls": calls_of_tools(calls)} if calls else {}
        said = text.strip() if role == "system" or calls else text
        yield Said("assistant" if role == _GOES_ON else role, said, ended, wire)

    def _call(self, following: str) -> None:
        """Take a call: ``name`` and its JSON, or ``function`` and the name with fenced JSON."""
        found = _FENCED.match(following)
        name = found["name"] if found else self._name.strip()
        arguments = decoded(found["arguments"] if found else following.strip())
        if name and isinstance(arguments, dict):
            self._calls.append({"name": name, "arguments": arguments})
        else:
            self._text += f"{self._name}{following}"
